//! What to merge? A pure function from an observation to plans.
//!
//! One call does, in this order: it ends drains whose sources are gone, begins
//! new ones (`start`), and proposes work: moves that cost nothing (`seating`),
//! the merge of L0 (`level0`), and pieces of the drains, the deepest first
//! (`piece`).
//!
//! Two rules keep newer versions above older ones. A compaction takes exactly
//! the files that RocksDB would take, down to its output level, so whatever
//! lies between its inputs goes along. And the physical levels of two drains,
//! or of a drain and a merge of L0, never intersect.

mod level;
mod level0;
mod limits;
mod piece;
mod seating;
mod start;

#[cfg(test)]
mod properties;

pub use limits::with_limits;

use crate::observation::{InFlight, Observation};
use crate::plan::Plan;
use crate::state::TreeState;
use crate::validate;

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
    let mut now = seen.clone();
    now.state = start::drains(seen);
    let mut work = Work {
        free: now.workers.saturating_sub(now.in_flight.len()),
        plans: Vec::new(),
    };
    for plan in seating::moves(&now) {
        work.offer(&mut now, plan);
    }
    let level0 = level0::merge(&now);
    if level0_goes_first(&now) {
        level0
            .into_iter()
            .for_each(|plan| work.offer(&mut now, plan));
        work.offer_pieces(&mut now);
    } else {
        work.offer_pieces(&mut now);
        level0
            .into_iter()
            .for_each(|plan| work.offer(&mut now, plan));
    }
    Planned {
        state: now.state,
        plans: work.plans,
    }
}

/// L0 holds writers back first, so it goes first. A single worker must also get
/// its drains done, or level 1 grows without end.
fn level0_goes_first(seen: &Observation) -> bool {
    let files = seen.tree.level0().len() as u64;
    let urgent = files >= 2 * u64::from(seen.shape.level0_file_num_compaction_trigger);
    let first = level::view(seen, crate::layout::LogicalLevel(1));
    let crowded = first.bytes() > seen.shape.capacity(first.level) / 2 * 3;
    seen.workers > 1 || (urgent && !crowded)
}

/// Plans that were accepted so far, for as many workers as are free.
struct Work {
    free: usize,
    plans: Vec<Plan>,
}

impl Work {
    /// Accepts a plan if a worker is free and nothing stands against it. An
    /// accepted plan counts as in flight for those that follow.
    fn offer(&mut self, now: &mut Observation, plan: Plan) {
        let readable = !plan.files().any(|file| now.unreadable.contains(&file));
        if self.plans.len() < self.free
            && readable
            && validate::validate(&now.tree, &now.in_flight, &plan).is_ok()
        {
            now.in_flight.push(in_flight(&plan));
            self.plans.push(plan);
        }
    }

    /// One worker of several is kept for L0.
    fn offer_pieces(&mut self, now: &mut Observation) {
        let most = now.workers.saturating_sub(1).max(1);
        let mut drains = now.state.drains.clone();
        drains.sort_by_key(|drain| std::cmp::Reverse(drain.target));
        for drain in &drains {
            let running = now
                .in_flight
                .iter()
                .filter(|job| job.drain.is_some())
                .count();
            for plan in piece::pieces(now, drain, most.saturating_sub(running)) {
                self.offer(now, plan);
            }
        }
    }
}

/// What a plan will be once it runs.
pub fn in_flight(plan: &Plan) -> InFlight {
    InFlight {
        files: plan.files().collect(),
        top: plan.top(),
        output: plan.output,
        range: plan.range.clone(),
        drain: plan.drain,
    }
}
