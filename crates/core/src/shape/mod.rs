//! Capacities, run limits and the rule by which a run is sealed.

mod fitted;
mod limits;

use serde::{Deserialize, Serialize};

use crate::layout::{Layout, LogicalLevel};
use crate::tree::Tree;

pub use limits::{IllegalLimit, RunLimit, RunLimits};

/// What happens to the runs of a level when its limit changes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transition {
    /// Only the active run's capacity changes; nothing is rewritten (RusKey 4.2).
    #[default]
    Flexible,
    /// The new limit holds from the level's next drain on, and at once in a level
    /// without runs.
    Lazy,
    /// The level is merged down at once; the runs of the deepest become one.
    Greedy,
    /// As flexible, and a level at its capacity gives up pieces, key range by
    /// key range, until it is under its capacity, rather than all of its runs
    /// (RusKey 7).
    FileGranular,
}

/// The dimensions of a tree. Everything that the planner needs to know and that
/// the workload does not change.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Shape {
    /// Where runs lie.
    pub layout: Layout,
    /// Capacity of a level over that of the level above (T), 2 to 100; the most of it
    /// where it follows the data.
    pub size_ratio: u32,
    /// Whether the size ratio follows the data ([`Shape::fitted`]); false in state files
    /// that do not tell it.
    #[serde(default)]
    pub level_compaction_dynamic_level_bytes: bool,
    /// What [`Shape::size_ratio`] may grow to with the data, where it follows them. 0 in state
    /// files and journals that do not tell it, and where it stays as it is.
    #[serde(default)]
    pub largest_size_ratio: u32,
    /// L0 files at which they are merged into level 1.
    pub level0_file_num_compaction_trigger: u32,
    /// L0 files at which RocksDB slows writers down; above the trigger.
    pub level0_slowdown_writes_trigger: u32,
    /// Memtable size, bytes.
    pub write_buffer_size: u64,
    /// Smallest target size of a file in levels 1 and deeper, bytes. The target
    /// grows with the data ([`Shape::target_file_size`]).
    pub target_file_size_base: u64,
    /// Files per column family that the target file size aims to stay under.
    pub max_files: u64,
    /// Bound on bytes in the tree over bytes in its oldest run, an upper bound
    /// of the space amplification.
    pub max_space_amplification: f64,
    /// Share of tombstones in a file from which it is merged down early.
    pub tombstone_share: f64,
    /// What a change of limits does to existing runs.
    pub transition: Transition,
    /// Compression class of each logical level; the last one holds for deeper
    /// levels, none means that all are alike. Files move for free only between
    /// levels of one class.
    pub compression_classes: Vec<u8>,
}

impl Shape {
    /// A compaction piece is at most this many target files, unless keys force
    /// more into it.
    pub const PIECE_FILES: u64 = 25;

    /// Bytes that one merge of L0 brings: the trigger times the buffer.
    pub fn level0_bytes(&self) -> u64 {
        u64::from(self.level0_file_num_compaction_trigger).saturating_mul(self.write_buffer_size)
    }

    /// Capacity of a level, bytes: C_i = C_1 * T^(i-1), C_1 = T * L0 merge
    /// (RusKey 4.1; it leaves C_1 open).
    pub fn capacity(&self, level: LogicalLevel) -> u64 {
        let ratio = u64::from(self.size_ratio);
        self.level0_bytes()
            .saturating_mul(ratio.saturating_pow(u32::from(level.0)))
    }

    /// What a full level above brings, bytes: C_i / T.
    pub fn inflow(&self, level: LogicalLevel) -> u64 {
        self.capacity(level) / u64::from(self.size_ratio)
    }

    /// Bytes from which a level is full. Half an inflow under the capacity,
    /// since the next one would lead further past it than this falls short.
    pub fn full_at(&self, level: LogicalLevel) -> u64 {
        self.capacity(level) - self.inflow(level) / 2
    }

    /// Whether a level of so many bytes is full.
    pub fn is_full(&self, level: LogicalLevel, bytes: u64) -> bool {
        bytes >= self.full_at(level)
    }

    /// Size from which a level's active run is sealed, bytes, when
    /// `sealed_runs` runs of `sealed_bytes` lie below it.
    ///
    /// The run capacity is C_i / K_i (RusKey 4.1). Merges bring whole inflows,
    /// so capacities that are no multiple of one are rounded in turn up and
    /// down: what is left of the level is shared among the runs that are left,
    /// never more than half an inflow over C_i / K_i.
    pub fn sealed_at(
        &self,
        level: LogicalLevel,
        limit: RunLimit,
        sealed_runs: u16,
        sealed_bytes: u64,
    ) -> u64 {
        let half_inflow = self.inflow(level) / 2;
        let even_share = self.capacity(level) / u64::from(limit.get());
        let share = match limit.get().checked_sub(sealed_runs) {
            Some(runs_left) if runs_left > 0 => {
                self.capacity(level).saturating_sub(sealed_bytes) / u64::from(runs_left)
            }
            _ => even_share,
        };
        share
            .min(even_share.saturating_add(half_inflow))
            .saturating_sub(half_inflow)
            .max(1)
    }

    /// Target size of a file, bytes (F): the base, doubled until `total_bytes`
    /// make no more than half of [`Shape::max_files`] files.
    pub fn target_file_size(&self, total_bytes: u64) -> u64 {
        let mut size = self.target_file_size_base.max(1);
        while total_bytes / size > self.max_files / 2 {
            size = size.saturating_mul(2);
        }
        size
    }

    /// The most input bytes that a compaction piece should have.
    pub fn piece_bytes(&self, total_bytes: u64) -> u64 {
        Self::PIECE_FILES * self.target_file_size(total_bytes)
    }

    /// Size at which outputs into a level are cut, bytes:
    /// min(F, 25F / (K_i * (1 + T / K_{i+1}))), so that one guard interval of a
    /// full level, with what it overlaps below, is one piece.
    pub fn output_file_size(&self, level: LogicalLevel, limits: &RunLimits, total: u64) -> u64 {
        let file = self.target_file_size(total);
        let overlap = 1.0 + f64::from(self.size_ratio) / f64::from(limits.get(level.next()).get());
        let shared =
            self.piece_bytes(total) as f64 / (f64::from(limits.get(level).get()) * overlap);
        file.min(shared as u64).max(1)
    }

    /// Pieces that a level drains in, at the least: one for each three quarters of the
    /// bound on pieces, of what the level and the run below that receives it hold, at their
    /// capacities or, where they are over them, in this tree.
    ///
    /// Where writes come faster than a level is drained, runs heap up in it. They are cut when
    /// they are written, before all of them have come; the last quarter is for those.
    pub fn pieces(&self, level: LogicalLevel, limits: &RunLimits, tree: &Tree) -> u64 {
        let sizes = |level| {
            let runs = tree.runs_of(&self.layout, level).into_iter();
            runs.map(|run| tree.bytes(run))
        };
        let capacity = self.capacity(level);
        let receiver = capacity.saturating_mul(u64::from(self.size_ratio))
            / u64::from(limits.get(level.next()).get());
        let below = if level < self.layout.deepest() {
            sizes(level.next()).max().unwrap_or(0)
        } else {
            0
        };
        let here = capacity.max(sizes(level).sum());
        let bytes = here.saturating_add(receiver.max(below));
        (bytes / 3).div_ceil(self.piece_bytes(tree.total_bytes()) / 4)
    }

    /// The compression class of a physical level. L0 and the landing level
    /// count as level 1.
    pub fn compression_class(&self, level: crate::layout::PhysicalLevel) -> u8 {
        let logical = self.layout.logical(level).map_or(1, |(level, _)| level.0);
        let classes = &self.compression_classes;
        classes
            .get(usize::from(logical) - 1)
            .or(classes.last())
            .copied()
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::small_shape;

    /// Sizes of the runs that whole inflows make of one level, until it is full.
    fn generation(shape: &Shape, limit: u16, merge: u64) -> Vec<u64> {
        let level = LogicalLevel(1);
        let limit = RunLimit::new(limit).expect("a legal limit");
        let mut runs: Vec<u64> = Vec::new();
        while runs.iter().sum::<u64>() < shape.full_at(level) {
            let active = runs.last().copied().unwrap_or(0);
            let sealed = runs.len().saturating_sub(1);
            let sealed_bytes: u64 = runs.iter().take(sealed).sum();
            let seal = shape.sealed_at(level, limit, sealed as u16, sealed_bytes);
            match runs.last_mut() {
                Some(run) if active < seal => *run += merge,
                _ => runs.push(merge),
            }
        }
        runs
    }

    #[test]
    fn every_run_limit_up_to_the_size_ratio_is_a_tree_of_its_own() {
        let shape = small_shape();
        for limit in 1..=10 {
            let runs = generation(&shape, limit, shape.level0_bytes());
            assert_eq!(runs.len(), usize::from(limit), "{limit}: {runs:?}");
        }
    }

    #[test]
    fn merges_that_overwrite_a_little_change_no_run_count() {
        let shape = small_shape();
        for limit in 1..=10 {
            let runs = generation(&shape, limit, shape.level0_bytes() * 97 / 100);
            assert_eq!(runs.len(), usize::from(limit), "{limit}: {runs:?}");
        }
    }

    #[test]
    fn a_lower_limit_can_leave_one_run_more_than_it_allows() {
        let shape = small_shape();
        let unit = shape.level0_bytes();
        let seal = shape.sealed_at(LogicalLevel(1), RunLimit::clamped(3), 2, 3 * unit);
        assert_eq!(seal, shape.capacity(LogicalLevel(1)) / 3);
    }
}
