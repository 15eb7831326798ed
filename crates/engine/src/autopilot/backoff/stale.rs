//! Plans that came out stale: made for a tree that had changed when they were to begin.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use lissom_core::{PhysicalLevel, Plan, Tree};

use super::Name;

/// A plan that came out stale so often, and over such a time, while nothing around it
/// changed has failed.
const MOST: u32 = 20;
pub(super) const LONGEST: Duration = Duration::from_secs(10);

/// Plans that are remembered: as many as there may be workers.
pub(super) const KEPT: usize = 64;

/// Plans that came out stale, the last one at the end.
#[derive(Debug, Default)]
pub(super) struct StalePlans(pub(super) VecDeque<Stale>);

/// A plan that came out stale, in a row while its surroundings stayed the same.
#[derive(Debug)]
pub(super) struct Stale {
    plan: Name,
    /// Not known of the first time.
    around: Option<u64>,
    times: u32,
    since: Instant,
}

impl StalePlans {
    pub(super) fn knows(&self, plan: &Name) -> bool {
        self.0.iter().any(|stale| stale.plan == *plan)
    }

    pub(super) fn forget(&mut self, plan: &Name) {
        self.0.retain(|stale| stale.plan != *plan);
    }

    /// Counts one more. True when there were too many.
    pub(super) fn add(&mut self, plan: Name, around: Option<u64>, now: Instant) -> bool {
        let at = self.0.iter().position(|stale| stale.plan == plan);
        let before = at.and_then(|at| self.0.remove(at));
        let mut stale = before
            .filter(|stale| stale.around == around)
            .unwrap_or(Stale {
                plan,
                around,
                times: 0,
                since: now,
            });
        stale.times = stale.times.saturating_add(1);
        let long = now.saturating_duration_since(stale.since) >= LONGEST;
        let too_many = long && stale.times >= MOST;
        self.0.push_back(stale);
        if self.0.len() > KEPT {
            self.0.pop_front();
        }
        too_many
    }
}

/// Tells the levels that a plan reaches over from what they were before: by their files and
/// where these lie. L0 does not count: what is flushed meanwhile is nothing to the plan.
pub(in crate::autopilot) fn surroundings(tree: &Tree, plan: &Plan) -> u64 {
    let mut hasher = DefaultHasher::new();
    let reached = |level: PhysicalLevel| {
        level > PhysicalLevel::L0 && plan.top() <= level && level <= plan.output
    };
    for (level, file) in tree.iter().filter(|(level, _)| reached(*level)) {
        (level, file.number).hash(&mut hasher);
    }
    hasher.finish()
}
