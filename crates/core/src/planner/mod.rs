//! What to merge? A pure function from an observation to plans.
//!
//! One call does, in this order: it ends drains whose sources are gone, begins
//! new ones ([`start`]), and proposes work: moves that keep slots free
//! ([`seating`]), the merge of L0 ([`level0`]), and pieces of the drains, the
//! deepest first ([`piece`]).

mod level;
mod level0;
mod limits;
mod piece;
mod seating;
mod start;

pub use limits::with_limits;

use crate::observation::Observation;
use crate::plan::Plan;
use crate::state::TreeState;

/// What the planner wants: its memory after the call, and work.
#[derive(Clone, PartialEq, Debug)]
pub struct Planned {
    /// Must be durable before the first of `plans` starts.
    pub state: TreeState,
    /// Work for free workers, most urgent first; no two conflict with each
    /// other or with what is in flight.
    pub plans: Vec<Plan>,
}

/// Plans the next work. Equal observations give equal results.
pub fn plan(seen: &Observation) -> Planned {
    Planned {
        state: seen.state.clone(),
        plans: Vec::new(),
    }
}
