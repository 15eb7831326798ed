//! The same limits for ever.

use super::{NOTHING_EXPECTED, Question, Trial, TrialId, Tuner};
use crate::observation::Mission;
use crate::shape::RunLimits;

/// Keeps the limits that it was given.
#[derive(Clone, Debug)]
pub struct Fixed {
    limits: RunLimits,
    asked: u64,
}

impl Fixed {
    /// A tuner that always answers `limits`.
    pub fn new(limits: RunLimits) -> Fixed {
        Fixed { limits, asked: 0 }
    }
}

impl Tuner for Fixed {
    fn name(&self) -> String {
        format!("fixed-{}", self.limits)
    }

    fn ask(&mut self, seen: &Question<'_>) -> Trial {
        self.asked += 1;
        // Others hold where somebody pins them, or where these wait for their levels.
        let why = format!("the policy {} is set; {NOTHING_EXPECTED}", self.name());
        let changes = seen.changes(&self.limits, |_| why.clone());
        Trial::of_limits(TrialId(self.asked), self.limits.clone(), changes)
    }

    fn tell(&mut self, _trial: TrialId, _outcome: &Mission) {}
}
