//! Limits to go back to when a tuner is asked no more.

use lissom_core::shape::RunLimits;

/// Answers that must have kept limits before they are good: a trial of `learned` ends
/// sooner.
const KEPT: u32 = 12;

/// The last limits that a tuner has kept for long, or else those that it found.
pub(super) struct Good {
    limits: RunLimits,
    /// Those of now, and how many answers have kept them since one chose them.
    now: RunLimits,
    kept: u32,
}

impl Good {
    /// A tuner begins with these.
    pub(super) fn new(found: RunLimits) -> Good {
        Good {
            now: found.clone(),
            limits: found,
            kept: 0,
        }
    }

    /// An answer leaves these limits.
    pub(super) fn see(&mut self, limits: &RunLimits) {
        if !self.now.is_same(limits) {
            self.now.clone_from(limits);
            self.kept = 0;
            return;
        }
        self.kept = self.kept.saturating_add(1);
        if self.kept == KEPT {
            self.limits.clone_from(limits);
        }
    }

    pub(super) fn limits(&self) -> &RunLimits {
        &self.limits
    }
}

#[cfg(test)]
mod tests {
    use lissom_core::{LogicalLevel, RunLimit};

    use super::*;

    fn limits(limit: u16) -> RunLimits {
        RunLimits::uniform(RunLimit::clamped(limit))
    }

    /// The limits to go back to after an answer chose these and so many kept them.
    fn after(good: &mut Good, limit: u16, kept: u32) -> RunLimits {
        (0..=kept).for_each(|_| good.see(&limits(limit)));
        good.limits().clone()
    }

    #[test]
    fn limits_of_a_trial_are_not_gone_back_to() {
        let mut good = Good::new(limits(1));
        assert_eq!(after(&mut good, 4, KEPT), limits(4));
        assert_eq!(after(&mut good, 5, KEPT - 1), limits(4), "a trial");
        assert_eq!(after(&mut good, 4, 0), limits(4), "and the way back");
        assert_eq!(after(&mut good, 6, 0), limits(4));
        assert_eq!(after(&mut good, 7, KEPT), limits(7));
    }

    #[test]
    fn a_tuner_that_never_keeps_any_leaves_those_that_it_found() {
        let mut good = Good::new(limits(3));
        for limit in [1, 2, 3, 4, 5, 6].repeat(20) {
            assert_eq!(after(&mut good, limit, 1), limits(3));
        }
    }

    #[test]
    fn another_spelling_is_no_change() {
        let mut good = Good::new(limits(1));
        let mut spelled = limits(2);
        spelled.set(LogicalLevel(3), RunLimit::clamped(2));
        for _ in 0..=KEPT / 2 {
            good.see(&limits(2));
            good.see(&spelled);
        }
        assert!(good.limits().is_same(&spelled) && spelled.is_same(&limits(2)));
    }
}
