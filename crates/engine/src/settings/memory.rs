//! What a process may come to hold in memory.

use super::{KIB, MIB, Settings};

/// The program, its threads' stacks, and what RocksDB holds once.
const PROGRAM: u64 = 20 * MIB;

/// A table file that is open, its reader above all: what memory grew by for each in a run
/// of 45 minutes (bench/RESULTS.md, a long run of mixed sessions).
const OPEN_FILE: u64 = 24 * KIB;

/// What a merge holds of its output.
const OUTPUT: u64 = MIB;

/// Buffers that RocksDB reads an input of a merge into: one is used, one is read ahead.
const BUFFERS: u64 = 2;

impl Settings {
    /// Bytes that a process with so many open table files comes to hold at most: a tenth
    /// over [`memory_budget_bytes`](Settings::memory_budget_bytes), and what lies beside
    /// it.
    ///
    /// bound = 1.1 · budget + 20 MiB + 24 KiB · files + `workers` · (1 MiB +
    /// 2 · `compaction_readahead_size` · (`level0_stop_writes_trigger` + `size_ratio`))
    ///
    /// The last sum is what merges hold that have all files of L0 and all runs of a level
    /// for inputs; most have few. It supposes an allocator that gives back what is freed:
    /// jemalloc does, and so does glibc's with `MALLOC_ARENA_MAX=1` in the environment. By
    /// default glibc's keeps what each thread has freed, several times as much. What the
    /// application holds itself, iterators and values among it, is not counted.
    pub fn memory_bound_bytes(&self, open_files: u64) -> u64 {
        let budget = self.memory_budget_bytes;
        let inputs = u64::from(self.level0_stop_writes_trigger) + u64::from(self.size_ratio);
        let merge = (BUFFERS * inputs)
            .saturating_mul(self.compaction_readahead_size)
            .saturating_add(OUTPUT);
        let beside = OPEN_FILE
            .saturating_mul(open_files)
            .saturating_add(merge.saturating_mul(self.workers as u64));
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
            size_ratio: 10,
            workers: 2,
            compaction_readahead_size: MIB,
            ..Settings::default()
        };
        // 110 + 20 + 12 + 2 · (1 + 2 · 46)
        assert_eq!(settings.memory_bound_bytes(512), 328 * MIB);
        let absurd = Settings {
            memory_budget_bytes: u64::MAX,
            ..settings
        };
        assert_eq!(absurd.memory_bound_bytes(u64::MAX), u64::MAX);
    }
}
