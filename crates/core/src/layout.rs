//! Logical levels on RocksDB's physical levels: the one place that knows.
//!
//! ```text
//! physical level   0      1        2 .. 17           18 .. 33
//!                  L0   landing   level 1, slot 0-15  level 2, slot 0-15  ...
//! ```
//!
//! physical(level i, slot s) = 2 + (i-1)*S + s. A physical level above 0 holds
//! exactly one run. Within a logical level the newest run has the lowest slot,
//! so RocksDB, which reads from level 0 downwards, meets newer versions first.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One of RocksDB's levels; 0 is L0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PhysicalLevel(pub u16);

/// A group of runs of one capacity class (what the papers call a level),
/// numbered from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LogicalLevel(pub u16);

/// A run's place within its logical level, from 0 (newest possible).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Slot(pub u16);

impl PhysicalLevel {
    /// RocksDB's L0, where flushes arrive.
    pub const L0: PhysicalLevel = PhysicalLevel(0);
    /// Where RocksDB's own compaction of L0 lands when it acts as the
    /// emergency brake. The planner keeps it empty otherwise.
    pub const LANDING: PhysicalLevel = PhysicalLevel(1);
}

impl LogicalLevel {
    /// The level below.
    pub fn next(self) -> LogicalLevel {
        LogicalLevel(self.0 + 1)
    }
}

impl fmt::Display for PhysicalLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "P{}", self.0)
    }
}

impl fmt::Display for LogicalLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "level {}", self.0)
    }
}

/// How logical levels and slots map to physical levels. Fixed when a column
/// family is created or adopted, stored with it, and never derived from tuning
/// parameters, so that those may change on a living tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Layout {
    /// Slots per logical level (S).
    pub slots: u16,
    /// Logical levels.
    pub levels: u16,
}

impl Layout {
    /// Version 1: 12 levels of 16 slots, 194 physical levels. With a size ratio
    /// of 2 and buffers of 2 MB the deepest level begins at 32 GB.
    pub const V1: Layout = Layout {
        slots: 16,
        levels: 12,
    };

    /// Slots that stay free of steady-state runs, so that new runs have a place
    /// while a full level is drained.
    pub const SPARE_SLOTS: u16 = 4;

    /// The highest run limit that this layout can hold.
    pub fn max_run_limit(&self) -> u16 {
        self.slots - Self::SPARE_SLOTS
    }

    /// RocksDB's `num_levels` for this layout.
    pub fn num_levels(&self) -> u16 {
        2 + self.slots * self.levels
    }

    /// The deepest logical level.
    pub fn deepest(&self) -> LogicalLevel {
        LogicalLevel(self.levels)
    }

    /// The physical level of a slot; `None` outside the layout.
    pub fn physical(&self, level: LogicalLevel, slot: Slot) -> Option<PhysicalLevel> {
        let inside = level.0 >= 1 && level.0 <= self.levels && slot.0 < self.slots;
        inside.then(|| PhysicalLevel(2 + (level.0 - 1) * self.slots + slot.0))
    }

    /// The logical level and slot of a physical level; `None` for L0, the
    /// landing level and anything beyond the layout.
    pub fn logical(&self, physical: PhysicalLevel) -> Option<(LogicalLevel, Slot)> {
        let at = physical.0.checked_sub(2)?;
        let level = LogicalLevel(at / self.slots + 1);
        (level.0 <= self.levels).then_some((level, Slot(at % self.slots)))
    }

    /// The first and the last physical level of a logical level.
    ///
    /// `level` must be one of the layout's levels.
    pub fn span(&self, level: LogicalLevel) -> (PhysicalLevel, PhysicalLevel) {
        let first = 2 + (level.0 - 1) * self.slots;
        (PhysicalLevel(first), PhysicalLevel(first + self.slots - 1))
    }

    /// All logical levels, shallowest first.
    pub fn logical_levels(&self) -> impl DoubleEndedIterator<Item = LogicalLevel> + use<> {
        (1..=self.levels).map(LogicalLevel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn physical_and_logical_are_inverse() {
        let layout = Layout::V1;
        for level in layout.logical_levels() {
            for slot in 0..layout.slots {
                let physical = layout.physical(level, Slot(slot)).expect("inside");
                assert_eq!(layout.logical(physical), Some((level, Slot(slot))));
                assert!(physical.0 < layout.num_levels());
            }
        }
        assert_eq!(layout.logical(PhysicalLevel::L0), None);
        assert_eq!(layout.logical(PhysicalLevel::LANDING), None);
        assert_eq!(layout.logical(PhysicalLevel(layout.num_levels())), None);
        assert_eq!(layout.physical(LogicalLevel(0), Slot(0)), None);
    }

    #[test]
    fn deeper_slots_and_levels_are_deeper_in_rocksdb() {
        let layout = Layout::V1;
        let order: Vec<_> = layout
            .logical_levels()
            .flat_map(|level| (0..layout.slots).map(move |slot| (level, Slot(slot))))
            .map(|(level, slot)| layout.physical(level, slot).expect("inside"))
            .collect();
        assert!(order.is_sorted());
    }
}
