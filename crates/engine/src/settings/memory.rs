//! What a process may come to hold in memory.

use lissom_core::Layout;

use super::{KIB, MIB, Settings};

/// The program, its threads' stacks, and what RocksDB holds once.
const PROGRAM: u64 = 20 * MIB;

/// A table file that is open, its reader above all: memory grew by 16 and by 23 KiB for each
/// in runs of an hour and of 45 minutes (bench/RESULTS.md, an hour of mixed sessions).
const OPEN_FILE: u64 = 24 * KIB;

/// What a merge holds of its output beside what it writes at once.
const OUTPUT: u64 = MIB;

/// Buffers that RocksDB reads an input of a merge into: one is used, one is read ahead.
const BUFFERS: u64 = 2;

/// Runs of one merge: a level with all its slots taken, the run below that receives, and what
/// lies on the landing level.
const RUNS: u64 = Layout::V1.slots as u64 + 2;

impl Settings {
    /// Bytes that a process with so many open table files comes to hold at most: a tenth
    /// over [`memory_budget_bytes`](Settings::memory_budget_bytes), and what lies beside
    /// it.
    ///
    /// bound = 1.1 · budget + 20 MiB + 24 KiB · files +
    /// (`workers` · `max_subcompactions` + 1) · (1 MiB + `writable_file_max_buffer_size` +
    /// 2 · `compaction_readahead_size` ·
    /// (`level0_stop_writes_trigger` + `max_write_buffer_number` + 18))
    ///
    /// Most of it is the last product, and few stores ever hold a good part of that: it is
    /// what merges hold if all run at once, RocksDB's own as the emergency brake among them,
    /// and each thread of each has the most inputs that there can be. These are L0 where
    /// writers wait, with the write buffers that are still flushed then, and 18 runs: all 16
    /// slots of a level, the run that receives, and what RocksDB's own merge left.
    ///
    /// It does not hold for everything merged by hand in a tree of so many runs that they are
    /// more than these inputs, for L0 past the trigger, as after files were ingested into it,
    /// nor for subcompactions and background jobs that the application gives RocksDB itself.
    /// It supposes an allocator that gives back what is freed: jemalloc does, and so does
    /// glibc's with `MALLOC_ARENA_MAX=1` in the environment. By default glibc's keeps what each
    /// thread has freed, several times as much. What the application holds itself, iterators
    /// and values among it, is not counted.
    pub fn memory_bound_bytes(&self, open_files: u64) -> u64 {
        let budget = self.memory_budget_bytes;
        let level0 =
            u64::from(self.level0_stop_writes_trigger) + u64::from(self.max_write_buffer_number);
        let merge = (BUFFERS * (level0 + RUNS))
            .saturating_mul(self.compaction_readahead_size)
            .saturating_add(self.writable_file_max_buffer_size)
            .saturating_add(OUTPUT);
        let merges = (self.workers as u64)
            .saturating_mul(u64::from(self.max_subcompactions))
            .saturating_add(1);
        let beside = OPEN_FILE
            .saturating_mul(open_files)
            .saturating_add(merge.saturating_mul(merges));
        (budget / 10)
            .saturating_add(budget)
            .saturating_add(PROGRAM)
            .saturating_add(beside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_by_hand() {
        let settings = Settings {
            memory_budget_bytes: 100 * MIB,
            level0_stop_writes_trigger: 36,
            max_write_buffer_number: 2,
            workers: 2,
            max_subcompactions: 1,
            compaction_readahead_size: MIB,
            writable_file_max_buffer_size: MIB,
            ..Settings::default()
        };
        // 110 + 20 + 12 + (2 · 1 + 1) · (1 + 1 + 2 · 56)
        assert_eq!(settings.memory_bound_bytes(512), 484 * MIB);
        let parallel = Settings {
            max_subcompactions: 4,
            ..settings.clone()
        };
        // 110 + 20 + 12 + (2 · 4 + 1) · (1 + 1 + 2 · 56)
        assert_eq!(parallel.memory_bound_bytes(512), 1_168 * MIB);
        let absurd = Settings {
            memory_budget_bytes: u64::MAX,
            ..settings
        };
        assert_eq!(absurd.memory_bound_bytes(u64::MAX), u64::MAX);
    }
}
