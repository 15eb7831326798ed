//! The learner's share of the time.

use crate::observation::Mission;
use crate::tuner::{AHEAD, SHARE};

/// Time that was earned by missions, less what answers took. An answer is not known to be
/// dear before it was given, so the balance may fall under zero; then nothing is learned
/// until missions have earned it back.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Budget {
    seconds: f64,
}

impl Budget {
    /// A mission has passed, in which an answer was given.
    pub fn pass(&mut self, mission: &Mission) {
        let earned = SHARE * mission.duration.as_secs_f64();
        let spent = mission.tuner_time.as_secs_f64();
        self.seconds = (self.seconds + earned - spent).min(AHEAD);
    }

    /// Whether there is time to learn.
    pub fn allows(&self) -> bool {
        self.seconds >= 0.0
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn mission(tuner_micros: u64) -> Mission {
        Mission {
            duration: Duration::from_millis(300),
            tuner_time: Duration::from_micros(tuner_micros),
            ..Mission::default()
        }
    }

    /// Answers of 12 ms when something is learned, of 100 microseconds otherwise.
    #[test]
    fn steps_are_skipped_until_their_share_is_kept() {
        let mut budget = Budget::default();
        let (mut spent, mut learned, mut last) = (0, 0, 0);
        for _ in 0..1_000 {
            budget.pass(&mission(last));
            last = if budget.allows() { 12_000 } else { 100 };
            learned += u64::from(budget.allows());
            spent += last;
        }
        // 300 s; half a percent of them is 1.5 s.
        assert!(spent <= 1_500_000 + 12_000, "{spent}");
        assert!(learned > 100, "{learned}");
    }

    #[test]
    fn what_is_saved_up_is_bounded_and_who_takes_no_time_is_never_stopped() {
        let mut budget = Budget::default();
        for _ in 0..100_000 {
            budget.pass(&mission(0));
            assert!(budget.allows());
        }
        budget.pass(&mission(60_000));
        assert!(!budget.allows());
    }
}
