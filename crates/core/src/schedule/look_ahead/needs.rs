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
    /// Bytes a second that are flushed.
    pub flushed: f64,
    /// Bytes that merges of L0 move for each byte of it.
    pub level0_per_byte: f64,
    /// The same of all merges that follow from it.
    pub per_byte: f64,
    /// Bytes of L0 that wait.
    pub delayed: f64,
    /// Bytes that begun drains will read.
    pub begun: f64,
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
    /// foreseen: what merges take in the long run, flushed * (1 + per_byte).
    pub(super) fn rate(&self) -> f64 {
        match self.phase {
            None => self.flushed * (1.0 + self.per_byte),
            Some(ahead) => {
                let too_much = (self.owed() - ahead.repayable).max(0.0);
                self.rate_of_level0() + too_much / ahead.seconds.max(SPREAD)
            }
        }
    }

    /// Bytes a second, flushes included, at which L0 is merged as fast as it fills.
    pub(super) fn rate_of_level0(&self) -> f64 {
        self.flushed * (1.0 + self.level0_per_byte)
    }

    /// Whether everything below L0 can wait for the low phase.
    pub(super) fn can_wait(&self) -> bool {
        self.phase
            .is_some_and(|ahead| self.owed() <= ahead.repayable)
    }

    /// Bytes that merges will have to move once the load falls, if L0 is merged until then as fast
    /// as it fills, and nothing below it.
    pub(super) fn owed(&self) -> f64 {
        let to_come = self.phase.map_or(0.0, |it| it.seconds) * self.flushed;
        let below = (self.per_byte - self.level0_per_byte).max(0.0);
        self.delayed * self.per_byte + to_come * below + 2.0 * self.begun
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten bytes a second for ten seconds, of which each costs four in L0 and three below it.
    const NEEDS: Needs = Needs {
        flushed: 10.0,
        level0_per_byte: 4.0,
        per_byte: 7.0,
        delayed: 0.0,
        begun: 0.0,
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
        let begun = Needs {
            begun: 50.0,
            ..NEEDS
        };
        assert!(!begun.can_wait());
        assert_eq!(begun.rate(), 60.0);
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

    /// Merges of L0 may have been all that was seen so far.
    #[test]
    fn merges_of_l0_cost_no_more_than_all_of_them() {
        let only = Needs {
            per_byte: 3.0,
            ..NEEDS
        };
        assert_eq!((only.owed(), only.rate()), (0.0, 50.0));
    }
}
