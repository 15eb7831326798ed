//! What to merge? A pure function from an observation to plans.
//!
//! One call does, in this order: it ends drains whose sources are gone (`end`), begins
//! new ones (`start`, `space`, `leftovers`, `everything`), and proposes work: moves that cost
//! nothing (`seating`), the merge of L0 (`level0`) and of what was set apart from it (`apart`), and
//! pieces of the drains (`piece`), the most urgent first (`urgency`).
//!
//! Two rules keep newer versions above older ones. A compaction takes exactly
//! the files that RocksDB would take, down to its output level, so whatever
//! lies between its inputs goes along. And the physical levels of two drains,
//! or of a drain and a merge of L0, never intersect.

mod apart;
mod end;
mod everything;
mod leftovers;
mod level;
mod level0;
mod limits;
mod pace;
mod piece;
mod room;
mod seating;
mod space;
mod start;
mod urged;
mod urgency;
mod waiting;

#[cfg(test)]
mod properties;

pub use apart::set_apart_files;
pub use level0::is_held_up;
pub use limits::with_limits;
pub use room::room_waits;
pub(crate) use start::{drained, may_give_pieces};
pub use urged::{Urged, urged};
pub(crate) use urgency::SPACE_SHARE;
pub use waiting::{Waiting, waiting_below_level0};

use crate::observation::{InFlight, Observation};
use crate::plan::{Plan, Reason};
use crate::schedule::DeepOrder;
use crate::state::{Drain, TreeState};
use crate::validate;

/// What the planner wants: its memory after the call, and work.
#[derive(Clone, PartialEq, Debug)]
pub struct Planned {
    /// The drains that begin in it must be durable before the first of `plans` starts.
    pub state: TreeState,
    /// Work for free workers, most urgent first; no two conflict with each
    /// other or with what is in flight.
    pub plans: Vec<Plan>,
}

/// Plans the next work. Equal observations give equal results.
pub fn plan(seen: &Observation) -> Planned {
    let mut now = seen.clone();
    now.state = start::drains(seen);
    now.state.set_apart = apart::left(&now);
    let own = now.in_flight.iter().filter(|job| !job.foreign).count();
    let mut work = Work {
        free: now.workers.saturating_sub(own),
        plans: Vec::new(),
    };
    for plan in seating::moves(&now) {
        work.offer(&mut now, plan);
    }
    work.fill(&mut now);
    apart::mark(&mut now, &work.plans);
    Planned {
        state: now.state,
        plans: work.plans,
    }
}

/// Plans that were accepted so far, for as many workers as are free.
struct Work {
    free: usize,
    plans: Vec<Plan>,
}

impl Work {
    /// Hands out the most urgent work as long as a worker is free. Among equals
    /// L0 goes first, since it holds writers back first, then the deepest drain; of what is merged
    /// for the reads' sake the shallowest, which spares a run by the least work.
    fn fill(&mut self, now: &mut Observation) {
        if self.plans.len() >= self.free {
            return;
        }
        let drains = now.state.drains.iter();
        let mut drains: Vec<(f64, Drain)> = drains
            .map(|drain| (urgency::drain(now, drain), drain.clone()))
            .collect();
        drains.sort_by(|(a, above), (b, below)| {
            let (one, other) = (Rank::of(*a, above), Rank::of(*b, below));
            let deepest_first = below.target.cmp(&above.target);
            let among_equals = match one {
                Rank::ForReads => deepest_first.reverse(),
                Rank::Hurry | Rank::InTime => deepest_first,
            };
            one.cmp(&other).then(b.total_cmp(a)).then(among_equals)
        });
        let level0 = urgency::level0(now);
        let mut level0_is_open = true;
        for (urgency, drain) in &drains {
            let urgency = *urgency;
            if level0_is_open && urgency <= level0 {
                self.offer_level0(now);
                level0_is_open = false;
            }
            let most = piece_workers(now, drain, urgency, level0);
            let allowed = allowed(now, drain, urgency);
            self.offer_pieces(now, drain, most.min(allowed));
        }
        if level0_is_open {
            self.offer_level0(now);
        }
    }

    /// The merge of L0; or a piece of the drain that it waits for: the worker that is kept for L0
    /// has nothing else to do.
    fn offer_level0(&mut self, now: &mut Observation) {
        let plan = match level0::waits_for(now) {
            Some(drain) if !end::is_unwanted(now, drain) => piece::pieces(now, drain, 1).pop(),
            _ => level0::merge(now),
        };
        if let Some(plan) = plan {
            self.offer(now, plan);
        }
    }

    /// Pieces of a drain, as long as no more than `most` workers are on drains. Those that L0 waits
    /// for are in its place.
    fn offer_pieces(&mut self, now: &mut Observation, drain: &Drain, most: usize) {
        let for_level0 = level0::waits_for(now).map(|drain| drain.id);
        let jobs = now.in_flight.iter();
        let on_drains = jobs.filter(|job| job.drain.is_some() && job.drain != for_level0);
        for plan in piece::pieces(now, drain, most.saturating_sub(on_drains.count())) {
            self.offer(now, plan);
        }
    }

    /// Accepts a plan if a worker is free and nothing stands against it. An
    /// accepted plan counts as in flight for those that follow.
    fn offer(&mut self, now: &mut Observation, plan: Plan) {
        let readable = can_be_read(now, &plan);
        if self.plans.len() < self.free
            && readable
            && validate::validate(&now.tree, &now.in_flight, &plan).is_ok()
        {
            now.in_flight.push(in_flight(&plan));
            self.plans.push(plan);
        }
    }
}

/// Whether every file of a plan can be read.
fn can_be_read(seen: &Observation, plan: &Plan) -> bool {
    plan.files().all(|file| !seen.unreadable.contains(&file))
}

/// Which drains go first, whatever their urgency within a rank. What reads have paid for ends
/// soon, while what is in no hurry goes on for as long as somebody writes. The bound on space
/// waits for no reader.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Hurry,
    ForReads,
    InTime,
}

impl Rank {
    fn of(urgency: f64, drain: &Drain) -> Rank {
        let hurries =
            urgency >= urgency::HURRY || matches!(drain.reason, Reason::SpaceBound { .. });
        match hurries {
            true => Rank::Hurry,
            false if urgency::is_for_reads(drain) => Rank::ForReads,
            false => Rank::InTime,
        }
    }
}

/// Workers that may be on drains: one of several is kept for L0, unless a drain
/// is in a hurry and L0 is less so. It is one of the database, whichever family drains. A drain
/// that takes a run to its seat never has it, for L0 is merged beside that.
fn piece_workers(now: &Observation, drain: &Drain, urgency: f64, level0: f64) -> usize {
    let in_a_hurry = urgency >= urgency::HURRY && urgency > level0;
    if in_a_hurry && !drain.reason.is_reseat() {
        now.workers
    } else {
        besides_level0(now.workers).saturating_sub(now.drains_elsewhere)
    }
}

/// Workers that are left when one of several is kept for L0.
fn besides_level0(workers: usize) -> usize {
    workers.saturating_sub(1).max(1)
}

/// Compactions of a drain that may run at once: none of one that is to end, else what
/// the schedule lets run below L0. It does not bind what was
/// asked for by hand, nor what the bound on space asks for, nor what these or L0 wait for, nor a
/// level that holds as much as it ever should: the tree must not come to a stop under any order.
fn allowed(now: &Observation, drain: &Drain, urgency: f64) -> usize {
    if end::is_unwanted(now, drain) {
        return 0;
    }
    let asked = matches!(drain.reason, Reason::Manual | Reason::SpaceBound { .. });
    let must = || urgency >= 1.0 || asked || is_waited_for(now, drain);
    match now.deep {
        DeepOrder::AtMost(most) if !must() => most,
        DeepOrder::Paced if !must() && !pace::is_due(now, drain, urgency) => 0,
        _ => usize::MAX,
    }
}

/// Whether L0, the bound on space or the merge of everything waits for a drain to be over.
fn is_waited_for(now: &Observation, drain: &Drain) -> bool {
    now.state.compact_all
        || level0::waits_for(now) == Some(drain)
        || space::is_held_up_by(now, drain)
}

/// What a plan will be once it runs.
pub fn in_flight(plan: &Plan) -> InFlight {
    InFlight {
        files: plan.files().collect(),
        top: plan.top(),
        output: plan.output,
        range: plan.range.clone(),
        drain: plan.drain,
        foreign: false,
    }
}
