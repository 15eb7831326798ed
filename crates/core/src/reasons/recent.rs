//! What the last missions were, and how long their operations took.

use std::collections::VecDeque;

use crate::cost_model::AccessPattern;
use crate::observation::Mission;

/// Missions before a decision that its outcome is compared with.
const BEFORE: usize = 12;

/// Times of operations over missions.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Took {
    /// How many missions.
    pub missions: usize,
    operations: f64,
    seconds: f64,
}

impl Took {
    /// Those of other missions, too.
    pub fn add(&mut self, other: Took) {
        self.missions += other.missions;
        self.operations += other.operations;
        self.seconds += other.seconds;
    }

    /// Seconds that an operation took on average; none without one.
    pub fn mean(&self) -> Option<f64> {
        (self.operations > 0.0).then(|| self.seconds / self.operations)
    }
}

/// What a mission was, and what its operations took; none where that is not known
/// ([`Mission::waited`]).
pub fn measured(mission: &Mission) -> Option<(AccessPattern, Took)> {
    let workload = AccessPattern::of_mission(&mission.operations)?;
    let took = Took {
        missions: 1,
        operations: mission.operations.total() as f64,
        seconds: mission.waited()?,
    };
    Some((workload, took))
}

/// The last missions.
#[derive(Clone, Debug, Default)]
pub struct Recent {
    /// What the last one with operations was, also where nobody knows what these took.
    workload: Option<AccessPattern>,
    /// Those of which it is known.
    measured: VecDeque<(AccessPattern, Took)>,
}

impl Recent {
    /// A mission has ended.
    pub fn see(&mut self, mission: &Mission) {
        self.workload = AccessPattern::of_mission(&mission.operations).or(self.workload);
        self.measured.extend(measured(mission));
        if self.measured.len() > BEFORE {
            self.measured.pop_front();
        }
    }

    /// What the last one was.
    pub fn workload(&self) -> Option<AccessPattern> {
        self.workload
    }

    /// Seconds that an operation took in those under a workload. What came under another
    /// one tells nothing of a limit.
    pub fn took_under(&self, workload: &AccessPattern) -> Option<f64> {
        let mut all = Took::default();
        for (of, took) in &self.measured {
            if of.is_like(workload) {
                all.add(*took);
            }
        }
        all.mean()
    }
}
