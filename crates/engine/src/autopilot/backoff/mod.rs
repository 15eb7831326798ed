//! When to try again. A look again comes before every retry; waiting keeps it
//! from spinning.

mod row;
mod stale;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use lissom_core::journal::Outcome;
use lissom_core::{PhysicalLevel, Plan};

use row::{Doubling, Row};
use stale::StalePlans;
pub(super) use stale::surroundings;

/// After this many failures of one plan its inputs are left alone; so is a file that
/// could not be read as often.
const MOST_ATTEMPTS: u32 = 5;

/// What was put off waits.
const PUT_OFF: Doubling = Doubling {
    first: Duration::from_millis(5),
    longest: Duration::from_secs(1),
};

/// What failed rests.
const REST: Doubling = Doubling {
    first: Duration::from_millis(500),
    longest: Duration::from_secs(60),
};

/// What has not failed for so long since it could be tried again is forgotten: the inputs of a
/// plan may be gone, and no success of it ever tells. Longer than files are set aside, so that one
/// that fails again is not given all of its attempts anew.
const KEPT: Duration = Duration::from_secs(2 * 3_600);

/// Waiting times of one column family. What succeeds elsewhere says nothing of a plan or a file
/// that failed, and ends no rest of it.
#[derive(Debug, Default)]
pub(super) struct BackOff {
    /// Plans that were put off: half a second of that is no reason to wait a minute for one that
    /// fails.
    put_off: Row,
    /// Plans that failed, of L0 and of what lies deeper: the one does not wait for the other.
    failed: [Row; 2],
    /// Plans that failed since they last succeeded.
    failures: HashMap<Name, Row>,
    /// Files that could not be read, by their numbers.
    refusals: HashMap<u64, Row>,
    stale: StalePlans,
}

/// What makes a plan the same plan.
type Name = (PhysicalLevel, BTreeSet<u64>);

fn name(plan: &Plan) -> Name {
    (plan.output, plan.files().collect())
}

/// Which of the two rows of failures is a plan's: that of L0, or that of deeper ones.
fn kind(plan: &Plan) -> usize {
    usize::from(plan.top() > PhysicalLevel::L0)
}

impl BackOff {
    pub(super) fn succeeded(&mut self, plan: &Plan) {
        let done = name(plan);
        self.failures.remove(&done);
        self.stale.forget(&done);
        self.refusals
            .retain(|file, _| plan.files().all(|input| input != *file));
        self.put_off = Row::default();
        self.failed = Default::default();
    }

    /// The tree had changed, or somebody cancelled: 5 ms, doubled each time, at
    /// most a second.
    pub(super) fn postponed(&mut self, now: Instant) {
        self.put_off.add(&PUT_OFF, now);
    }

    /// It failed: half a second, doubled each time, at most a minute; for this plan, and for
    /// all others of its kind until one of either succeeds. True when this plan has used up its
    /// attempts.
    pub(super) fn failed(&mut self, plan: &Plan, now: Instant) -> bool {
        self.failed[kind(plan)].add(&REST, now);
        self.failures.retain(|_, row| row.waited_within(KEPT, now));
        let row = self.failures.entry(name(plan)).or_default();
        row.add(&REST, now) >= MOST_ATTEMPTS
    }

    /// Until when a plan rests, since it failed, or a file of its could not be read.
    pub(super) fn rests_until(&self, plan: &Plan) -> Option<Instant> {
        let files = plan.files().filter_map(|file| self.refusals.get(&file));
        let failed = files.chain(self.failures.get(&name(plan)));
        failed.filter_map(|row| row.until).max()
    }

    /// Whether a plan rests.
    pub(super) fn rests(&self, plan: &Plan, now: Instant) -> bool {
        self.rests_until(plan).is_some_and(|until| now < until)
    }

    /// Until when a plan waits: it rests, or others of its kind have failed.
    pub(super) fn waits_until(&self, plan: &Plan) -> Option<Instant> {
        self.rests_until(plan).max(self.failed[kind(plan)].until)
    }

    /// Whether a plan waits.
    pub(super) fn waits(&self, plan: &Plan, now: Instant) -> bool {
        self.waits_until(plan).is_some_and(|until| now < until)
    }

    /// Whether this plan came out stale the last time: then its [`surroundings`] tell
    /// something.
    pub(super) fn came_out_stale(&self, plan: &Plan) -> bool {
        self.stale.knows(&name(plan))
    }

    /// What an outcome comes to. A stale plan is made anew from another look; where that
    /// gives the same plan in the same surroundings again and again, it has failed.
    /// `around` is known of a plan that came out stale before.
    pub(super) fn judge(
        &mut self,
        plan: &Plan,
        around: Option<u64>,
        outcome: Outcome,
        now: Instant,
    ) -> Outcome {
        match outcome {
            Outcome::Stale { why } if self.stale.add(name(plan), around, now) => {
                // Others of its kind wait with it: as for any plan that fails for the first time.
                self.failed[kind(plan)].times = 0;
                Outcome::Failed {
                    error: format!(
                        "it could not begin for {} s or more, though nothing around it changed: \
                         {why}",
                        stale::LONGEST.as_secs()
                    ),
                }
            }
            other => other,
        }
    }

    /// A file could not be read, which may pass. True when it has used up its attempts;
    /// they are then counted anew.
    pub(super) fn refused(&mut self, file: u64, now: Instant) -> bool {
        self.refusals.retain(|_, row| row.waited_within(KEPT, now));
        let row = self.refusals.entry(file).or_default();
        let used_up = row.add(&REST, now) >= MOST_ATTEMPTS;
        if used_up {
            self.refusals.remove(&file);
        }
        used_up
    }

    /// How long nothing should be started, of whatever kind; `None` when something may.
    pub(super) fn remaining(&self, now: Instant) -> Option<Duration> {
        self.put_off
            .until
            .map(|until| until.saturating_duration_since(now))
            .filter(|wait| !wait.is_zero())
    }
}
