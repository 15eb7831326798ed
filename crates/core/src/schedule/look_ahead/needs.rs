//! What merges have to move at high load.
//!
//! What waits below L0 costs reads next to nothing, and waits first. L0 is merged as it fills, at
//! the rate that this takes: bytes that come in bursts are felt, the same bytes spread over the
//! phase are not.

/// What is too much is spread over so many seconds at the least: at the very end of a phase all of it
/// would be one burst.
const SPREAD: f64 = 10.0;

/// What has to be moved, and what need not be yet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Needs {
    /// Bytes a second that are flushed at high load, by what is written now if that is more than
    /// usual.
    pub flushed: f64,
    /// What is usual of it.
    pub usual: f64,
    /// Bytes that merges of L0 move for each byte of it.
    pub level0_per_byte: f64,
    /// Bytes that merges below L0 move for each byte that comes down from there.
    pub below_per_byte: f64,
    /// Bytes of L0 that wait.
    pub delayed: f64,
    /// Bytes that merges below L0 have to move by now.
    pub below_level0: f64,
    /// A level below L0 holds nearly as much as it ever may.
    pub is_crowded: bool,
    /// The rest of the high phase, and what can be repaid after it; absent where neither can be
    /// foreseen.
    pub phase: Option<Ahead>,
}

/// What lies ahead.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Ahead {
    /// Seconds for which the load stays high.
    pub seconds: f64,
    /// Bytes that the low phase after it can move.
    pub repayable: f64,
}

impl Needs {
    /// Bytes a second, flushes included, that leave no more than can be repaid:
    ///
    /// flushed * (1 + level0_per_byte) + (owed - repayable) / seconds,
    ///
    /// the second part where more is owed, over ten seconds at the least. Where nothing can be
    /// foreseen, and at the least where a level is crowded: what merges take in the long run,
    /// flushed * (1 + level0_per_byte + below_per_byte).
    pub(super) fn rate(&self) -> f64 {
        let in_the_long_run = self.flushed * (1.0 + self.per_byte());
        let Some(ahead) = self.phase else {
            return in_the_long_run;
        };
        let too_much = (self.owed() - ahead.repayable).max(0.0);
        let level0 = self.flushed * (1.0 + self.level0_per_byte);
        let rate = level0 + too_much / ahead.seconds.max(SPREAD);
        match self.is_crowded {
            true => rate.max(in_the_long_run),
            false => rate,
        }
    }

    /// Bytes that all merges move for each byte of L0.
    pub(super) fn per_byte(&self) -> f64 {
        self.level0_per_byte + self.below_per_byte
    }

    /// Bytes a second, flushes included, at which L0 is merged as fast as it usually fills.
    pub(super) fn usual_rate_of_level0(&self) -> f64 {
        self.usual * (1.0 + self.level0_per_byte)
    }

    /// Whether everything below L0 can wait for the low phase.
    pub(super) fn can_wait(&self) -> bool {
        let repayable = self.phase.map_or(0.0, |ahead| ahead.repayable);
        self.phase.is_some() && !self.is_crowded && self.owed() <= repayable
    }

    /// Bytes that merges will have to move once the load falls, if L0 is merged until then as fast
    /// as it fills, and nothing below it.
    pub(super) fn owed(&self) -> f64 {
        let to_come = self.phase.map_or(0.0, |it| it.seconds) * self.usual;
        self.delayed * self.per_byte() + to_come * self.below_per_byte + self.below_level0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten bytes a second for ten seconds, of which each costs four in L0 and three below it.
    const NEEDS: Needs = Needs {
        flushed: 10.0,
        usual: 10.0,
        level0_per_byte: 4.0,
        below_per_byte: 3.0,
        delayed: 0.0,
        below_level0: 0.0,
        is_crowded: false,
        phase: Some(Ahead {
            seconds: 10.0,
            repayable: 300.0,
        }),
    };

    #[test]
    fn what_can_be_repaid_waits_and_l0_does_not() {
        assert_eq!(NEEDS.owed(), 300.0);
        assert!(NEEDS.can_wait());
        assert_eq!(NEEDS.rate(), 50.0);
    }

    #[test]
    fn what_is_too_much_is_spread_over_the_phase() {
        let owed = Needs {
            below_level0: 100.0,
            ..NEEDS
        };
        assert!(!owed.can_wait());
        assert_eq!(owed.rate(), 60.0);
        let delayed = Needs {
            delayed: 10.0,
            ..NEEDS
        };
        assert_eq!((delayed.owed(), delayed.rate()), (370.0, 57.0));
        let at_its_end = Needs {
            phase: Some(Ahead {
                seconds: 0.0,
                repayable: 0.0,
            }),
            ..delayed
        };
        assert_eq!(at_its_end.rate(), 57.0, "as over ten seconds");
    }

    #[test]
    fn where_nothing_is_foreseen_merges_have_what_they_take_in_the_long_run() {
        let blind = Needs {
            phase: None,
            ..NEEDS
        };
        assert_eq!(blind.rate(), 80.0);
        assert!(!blind.can_wait());
    }

    #[test]
    fn a_second_of_more_writes_hurries_l0_and_foretells_nothing() {
        let burst = Needs {
            flushed: 20.0,
            ..NEEDS
        };
        assert_eq!(burst.owed(), NEEDS.owed());
        assert_eq!(burst.usual_rate_of_level0(), NEEDS.usual_rate_of_level0());
        assert_eq!(burst.rate(), 100.0);
    }

    #[test]
    fn a_level_that_holds_nearly_as_much_as_it_may_does_not_wait() {
        let crowded = Needs {
            is_crowded: true,
            ..NEEDS
        };
        assert!(!crowded.can_wait());
        assert_eq!(crowded.rate(), 80.0, "as in the long run");
        let owing = Needs {
            below_level0: 1_000.0,
            ..crowded
        };
        assert_eq!(
            owing.rate(),
            150.0,
            "or what is too much, where that is more"
        );
    }
}
