//! What merging L0 costs.

use serde::{Deserialize, Serialize};

use super::{Load, is_amount};

/// Weight of the merges that were seen before, after an interval in which some ended.
const KEPT: f64 = 0.9;

/// Bytes before anything was merged: each read and written, with as many of the run that it
/// meets.
const BEFORE: f64 = 4.0;

/// Bytes that merges into level 1 move for each byte of L0 that they take, over the last ten
/// merges or so. What they rewrite in level 1 is in it, and what was set apart and merged back;
/// what drains move on from there is not.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Level0Work {
    merged: f64,
    moved: f64,
}

impl Level0Work {
    /// Takes up an interval. One in which no merge ended forgets nothing.
    pub fn learn(&mut self, load: &Load) {
        if load.level1_compacted_bytes > 0 {
            self.merged = self.merged * KEPT + load.level0_merged_bytes as f64;
            self.moved = self.moved * KEPT + load.level1_compacted_bytes as f64;
        }
    }

    /// Bytes moved per byte of L0.
    pub fn per_byte(&self) -> f64 {
        if self.merged > 0.0 && self.moved > 0.0 {
            (self.moved / self.merged).clamp(1.0, 100.0)
        } else {
            BEFORE
        }
    }

    /// Whether both sums can be.
    pub(super) fn is_sound(&self) -> bool {
        [self.merged, self.moved].into_iter().all(is_amount)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(of_level0: u64, moved: u64) -> Load {
        Load {
            level0_merged_bytes: of_level0,
            level1_compacted_bytes: moved,
            // What drains move.
            compacted_bytes: 10 * moved,
            ..Load::default()
        }
    }

    #[test]
    fn it_is_of_the_last_merges_and_not_forgotten_between_them() {
        let mut work = Level0Work::default();
        assert_eq!(work.per_byte(), BEFORE);
        work.learn(&merged(100, 800));
        for _ in 0..10_000 {
            work.learn(&merged(0, 0));
        }
        assert_eq!(work.per_byte(), 8.0);
        for _ in 0..50 {
            work.learn(&merged(100, 300));
        }
        assert!((3.0..3.1).contains(&work.per_byte()), "{work:?}");
        assert!(work.is_sound());
    }

    /// Three merges into runs of their own, and the one that takes these back with it.
    #[test]
    fn what_was_set_apart_costs_what_it_is_merged_back_for() {
        let mut work = Level0Work::default();
        for _ in 0..50 {
            for moved in [200, 200, 200, 2_000] {
                work.learn(&merged(100, moved));
            }
        }
        assert!((6.0..8.0).contains(&work.per_byte()), "{work:?}");
    }
}
