//! What a flushed byte costs in merges.

use serde::{Deserialize, Serialize};

use super::Load;

/// Weight of what was seen before against an interval.
const FORGETTING: f64 = 0.99;

/// Bytes before anything was merged: each read and written, in two levels.
const BEFORE: f64 = 4.0;

/// Bytes that compactions move for each byte that is flushed, over the last hundred
/// intervals or so. Sums rather than ratios: merges come in lumps.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Work {
    flushed: f64,
    compacted: f64,
}

impl Work {
    /// Takes up an interval.
    pub fn learn(&mut self, load: &Load) {
        self.flushed = self.flushed * FORGETTING + load.flushed_bytes as f64;
        self.compacted = self.compacted * FORGETTING + load.compacted_bytes as f64;
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
        [self.flushed, self.compacted]
            .iter()
            .all(|sum| sum.is_finite() && *sum >= 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_that_come_in_lumps_are_spread_over_what_was_flushed() {
        let mut work = Work::default();
        assert_eq!(work.per_byte(), BEFORE);
        for at in 0..200u64 {
            work.learn(&Load {
                flushed_bytes: 100,
                compacted_bytes: if at % 20 == 0 { 10_000 } else { 0 },
                ..Load::default()
            });
        }
        assert!((4.0..6.0).contains(&work.per_byte()), "{}", work.per_byte());
    }
}
