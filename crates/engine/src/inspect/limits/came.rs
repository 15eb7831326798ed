//! What has come of a run limit since it was decided.

use lissom_core::Mission;
use lissom_core::cost_model::Workload;

use super::LimitReason;

/// A workload of which each kind of operation has a share that is so near is the same, as
/// for the policy `learned`. What is another workload tells nothing of a limit.
const ALIKE: f64 = 0.1;

pub(super) fn is_same(one: &Workload, other: &Workload) -> bool {
    one.distance_from(other) <= ALIKE
}

/// Times of operations over missions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Took {
    pub missions: usize,
    operations: f64,
    seconds: f64,
}

impl Took {
    pub fn add(&mut self, other: Took) {
        self.missions += other.missions;
        self.operations += other.operations;
        self.seconds += other.seconds;
    }

    /// Of one mission; none without an operation that was timed.
    pub fn of(mission: &Mission) -> Option<Took> {
        let seconds = mission.waited()?;
        Some(Took {
            missions: 1,
            operations: mission.operations.total() as f64,
            seconds,
        })
    }

    pub fn mean(&self) -> Option<f64> {
        (self.operations > 0.0).then(|| self.seconds / self.operations)
    }
}

/// What has come of a decision.
pub(super) struct Decided {
    pub reason: LimitReason,
    /// The workload that it was decided for: that of the mission before, or else of the
    /// first one after.
    pub workload: Option<Workload>,
    pub since: Took,
}

impl Decided {
    pub fn see(&mut self, workload: &Workload, took: Took) {
        if is_same(self.workload.get_or_insert(*workload), workload) {
            self.since.add(took);
        } else {
            self.reason.missions_elsewhere += 1;
        }
    }
}
