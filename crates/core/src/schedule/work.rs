//! What a flushed byte costs in merges.

use serde::{Deserialize, Serialize};

use super::{Load, is_amount};

/// Weight of what was seen before after a second.
const FORGETTING: f64 = 0.99;

/// Bytes before anything was merged: each read and written, in two levels.
const BEFORE: f64 = 4.0;

/// Bytes that compactions move for each byte that is flushed, over the last hundred
/// seconds or so, however many intervals they had. Sums rather than ratios: merges come in
/// lumps.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Work {
    flushed: f64,
    compacted: f64,
}

impl Work {
    /// Takes up an interval.
    pub fn learn(&mut self, load: &Load) {
        let kept = FORGETTING.powf(load.interval.as_secs_f64());
        self.flushed = self.flushed * kept + load.flushed_bytes as f64;
        self.compacted = self.compacted * kept + load.compacted_bytes as f64;
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
                flushed_bytes: 100,
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
                    flushed_bytes: 1_000_000 / u64::from(parts),
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
}
