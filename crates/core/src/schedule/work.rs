//! What a flushed byte costs in merges.

use serde::{Deserialize, Serialize};

use super::{Load, is_amount};

/// Weight of what was seen before after a second.
const FORGETTING: f64 = 0.99;

/// However long nothing left L0, no more seconds than these are forgotten for it.
const LONGEST: f64 = 10.0;

/// Bytes before anything was merged: each read and written, in two levels.
const BEFORE: f64 = 4.0;

/// Bytes that compactions move for each byte that is flushed, over the last hundred
/// seconds or so, however many intervals they had. Sums rather than ratios: merges come in
/// lumps.
///
/// A flushed byte counts when it leaves L0, and what was seen is forgotten only then: while L0
/// waits, its bytes cost nothing yet, and will cost what those before them did.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Work {
    /// Bytes that left L0.
    flushed: f64,
    compacted: f64,
    /// Bytes moved since some left it last, as they are forgotten with time: somebody may have had
    /// an idle tree merged.
    #[serde(skip)]
    since: f64,
    /// Seconds since then.
    #[serde(skip)]
    waited: f64,
}

impl Work {
    /// Takes up an interval.
    pub fn learn(&mut self, load: &Load) {
        let seconds = load.interval.as_secs_f64();
        self.waited += seconds;
        self.since = self.since * FORGETTING.powf(seconds) + load.compacted_bytes as f64;
        if load.level0_merged_bytes > 0 {
            let kept = FORGETTING.powf(self.waited.min(LONGEST));
            self.flushed = self.flushed * kept + load.level0_merged_bytes as f64;
            self.compacted = self.compacted * kept + self.since;
            (self.since, self.waited) = (0.0, 0.0);
        }
    }

    /// Bytes moved per byte flushed.
    pub fn per_byte(&self) -> f64 {
        if self.flushed > 0.0 && self.compacted > 0.0 {
            (self.compacted / self.flushed).clamp(1.0, 100.0)
        } else {
            BEFORE
        }
    }

    /// Whether both sums can be.
    pub(super) fn is_sound(&self) -> bool {
        [self.flushed, self.compacted].into_iter().all(is_amount)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn merges_that_come_in_lumps_are_spread_over_what_was_flushed() {
        let mut work = Work::default();
        assert_eq!(work.per_byte(), BEFORE);
        for at in 0..200u64 {
            work.learn(&Load {
                interval: Duration::from_secs(1),
                level0_merged_bytes: if at % 4 == 0 { 400 } else { 0 },
                compacted_bytes: if at % 20 == 0 { 10_000 } else { 0 },
                ..Load::default()
            });
        }
        assert!((4.0..6.0).contains(&work.per_byte()), "{}", work.per_byte());
    }

    /// Fifty seconds in which a flushed byte cost four, and twenty in which it costs ten; each
    /// of the last seconds comes in so many intervals, and its merges in one of them.
    fn per_byte(intervals: u32) -> f64 {
        let mut work = Work::default();
        let mut learn = |seconds: u32, parts: u32, cost: u64| {
            for at in 0..seconds * parts {
                let lump = at % parts == parts / 2;
                work.learn(&Load {
                    interval: Duration::from_secs(1) / parts,
                    level0_merged_bytes: if lump { 1_000_000 } else { 0 },
                    compacted_bytes: if lump { cost * 1_000_000 } else { 0 },
                    ..Load::default()
                });
            }
        };
        learn(50, 1, 4);
        learn(20, intervals, 10);
        work.per_byte()
    }

    #[test]
    fn a_hundred_intervals_of_10_ms_count_as_one_of_a_second() {
        let (coarse, fine) = (per_byte(1), per_byte(100));
        // 4 and 10, by what is left of either in the sums.
        assert!((6.0..6.4).contains(&coarse), "{coarse}");
        assert!((fine - coarse).abs() < 0.01 * coarse, "{fine} {coarse}");
    }

    /// A hundred seconds at a cost of eight, and then L0 takes in as much and waits.
    #[test]
    fn what_a_byte_costs_is_not_forgotten_while_l0_waits() {
        let mut work = Work::default();
        let second = |merged: u64, compacted: u64| Load {
            interval: Duration::from_secs(1),
            flushed_bytes: 1_000_000,
            level0_merged_bytes: merged,
            compacted_bytes: compacted,
            ..Load::default()
        };
        for _ in 0..100 {
            work.learn(&second(1_000_000, 8_000_000));
        }
        let before = work;
        for moved in [100_000_000, 0] {
            (0..1_000).for_each(|_| work.learn(&second(0, moved)));
        }
        assert_eq!(work.per_byte(), before.per_byte());
        assert!((work.per_byte() - 8.0).abs() < 1e-6, "{work:?}");
        // What was merged of an idle tree long before is no cost of what is flushed now.
        work.learn(&second(1_000_000, 8_000_000));
        assert!((work.per_byte() - 8.0).abs() < 0.1, "{work:?}");
        work.learn(&second(500_000_000, 1_000_000_000));
        assert!(work.per_byte() < 3.0, "what comes then counts");
        assert!(work.is_sound());
    }
}
