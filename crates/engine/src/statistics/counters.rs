//! The counters of one column family. All only grow.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use lissom_core::observation::OperationMix;
use lissom_core::{Layout, LogicalLevel, PhysicalLevel};

use super::histogram::Histogram;
use super::nanos;

/// No column family has this number: the manifest holds 32 bits, and RocksDB counts from 0.
const UNKNOWN: u32 = u32::MAX;

/// Threads are spread over this many shards, so that they seldom write the same
/// cache line.
const SHARDS: usize = 16;

/// Counters of one column family, shared by user threads, events and missions.
#[derive(Debug)]
pub(crate) struct Counters {
    shards: [Shard; SHARDS],
    pub(crate) get: Histogram,
    pub(crate) put: Histogram,
    pub(crate) seek: Histogram,
    /// Entries of the scans that `seek` has the times of.
    pub(crate) seek_entries: AtomicU64,
    /// By logical level, level 1 first.
    pub(crate) levels: Box<[LevelCounters]>,
    pub(crate) flushes: AtomicU64,
    pub(crate) flush_write_bytes: AtomicU64,
    pub(crate) compaction_read_bytes: AtomicU64,
    pub(crate) compaction_write_bytes: AtomicU64,
    /// Of L0, by compactions below it.
    pub(crate) level0_merged_bytes: AtomicU64,
    /// Read and written by compactions into level 1, or the landing level.
    pub(crate) level1_compacted_bytes: AtomicU64,
    /// Flushes, compactions and ingestions so far: a tree seen at the same
    /// count is still the tree.
    pub(crate) changes: AtomicU64,
    /// The column family was dropped.
    dropped: AtomicBool,
    /// RocksDB's number of it.
    family: AtomicU32,
    longest_stall: AtomicU64,
    stalled: AtomicU64,
}

/// What was flushed so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Flushed {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

impl Flushed {
    /// What came after `before`.
    pub(crate) fn since(self, before: Flushed) -> Flushed {
        Flushed {
            files: self.files.saturating_sub(before.files),
            bytes: self.bytes.saturating_sub(before.bytes),
        }
    }
}

/// User operations, of the threads of one shard.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Shard {
    pub(crate) gets_found: AtomicU64,
    pub(crate) gets_absent: AtomicU64,
    pub(crate) scans: AtomicU64,
    pub(crate) scan_entries: AtomicU64,
    pub(crate) writes: AtomicU64,
    pub(crate) deletes: AtomicU64,
    pub(crate) user_write_bytes: AtomicU64,
    /// Time of the writes that were not held back.
    pub(crate) write_nanos: AtomicU64,
}

/// What one logical level did. Read counters hold samples only.
#[derive(Debug, Default)]
pub(crate) struct LevelCounters {
    pub(crate) compaction_read_bytes: AtomicU64,
    pub(crate) compaction_write_bytes: AtomicU64,
    /// By merges of the level for the reads' sake, wherever they lead to.
    pub(crate) for_reads_write_bytes: AtomicU64,
    pub(crate) compaction_micros: AtomicU64,
    pub(crate) read_ios: AtomicU64,
    pub(crate) read_bytes: AtomicU64,
    pub(crate) filter_useful: AtomicU64,
    pub(crate) filter_positive: AtomicU64,
    pub(crate) filter_true_positive: AtomicU64,
}

impl Default for Counters {
    fn default() -> Self {
        Counters {
            shards: Default::default(),
            get: Histogram::default(),
            put: Histogram::default(),
            seek: Histogram::default(),
            seek_entries: AtomicU64::new(0),
            levels: (0..Layout::V1.levels)
                .map(|_| LevelCounters::default())
                .collect(),
            flushes: AtomicU64::new(0),
            flush_write_bytes: AtomicU64::new(0),
            compaction_read_bytes: AtomicU64::new(0),
            compaction_write_bytes: AtomicU64::new(0),
            level0_merged_bytes: AtomicU64::new(0),
            level1_compacted_bytes: AtomicU64::new(0),
            changes: AtomicU64::new(0),
            dropped: AtomicBool::new(false),
            family: AtomicU32::new(UNKNOWN),
            longest_stall: AtomicU64::new(0),
            stalled: AtomicU64::new(0),
        }
    }
}

impl Counters {
    /// Whether RocksDB calls the column family by this number.
    pub(crate) fn is_of(&self, family: u32) -> bool {
        self.family.load(Relaxed) == family
    }

    pub(crate) fn belong_to(&self, family: u32) {
        self.family.store(family, Relaxed);
    }

    /// Whether the column family was dropped, or is about to be.
    pub(crate) fn is_dropped(&self) -> bool {
        self.dropped.load(Relaxed)
    }

    /// Nothing is written to it from now on, or again after all.
    pub(crate) fn drop_family(&self, dropped: bool) {
        self.dropped.store(dropped, Relaxed);
    }

    pub(crate) fn count_flush(&self, bytes: u64) {
        self.flush_write_bytes.fetch_add(bytes, Relaxed);
        self.flushes.fetch_add(1, Relaxed);
    }

    pub(crate) fn flushed(&self) -> Flushed {
        Flushed {
            files: self.flushes.load(Relaxed),
            bytes: self.flush_write_bytes.load(Relaxed),
        }
    }

    pub(crate) fn count_get(&self, found: bool) {
        let shard = self.shard();
        let counter = if found {
            &shard.gets_found
        } else {
            &shard.gets_absent
        };
        counter.fetch_add(1, Relaxed);
    }

    pub(crate) fn count_gets(&self, found: u64, absent: u64) {
        let shard = self.shard();
        shard.gets_found.fetch_add(found, Relaxed);
        shard.gets_absent.fetch_add(absent, Relaxed);
    }

    pub(crate) fn count_scan(&self, entries: u64) {
        let shard = self.shard();
        shard.scans.fetch_add(1, Relaxed);
        shard.scan_entries.fetch_add(entries, Relaxed);
    }

    /// A write of so many entries and bytes; the time that it took, unless it was held back.
    pub(crate) fn count_writes(&self, writes: u64, deletes: u64, bytes: u64, took: Duration) {
        let shard = self.shard();
        if writes > 0 {
            shard.writes.fetch_add(writes, Relaxed);
        }
        if deletes > 0 {
            shard.deletes.fetch_add(deletes, Relaxed);
        }
        shard.user_write_bytes.fetch_add(bytes, Relaxed);
        shard.write_nanos.fetch_add(nanos(took), Relaxed);
    }

    /// A write that took `waited` while RocksDB held writers back, of which `own` was this column
    /// family's.
    pub(crate) fn note_stall(&self, waited: Duration, own: Duration) {
        self.longest_stall.fetch_max(nanos(waited), Relaxed);
        self.stalled.fetch_add(nanos(own), Relaxed);
    }

    /// Time of all writes while RocksDB held writers back.
    pub(crate) fn stalled(&self) -> Duration {
        Duration::from_nanos(self.stalled.load(Relaxed))
    }

    /// The longest single write while RocksDB held writers back.
    pub(crate) fn longest_stall(&self) -> Duration {
        Duration::from_nanos(self.longest_stall.load(Relaxed))
    }

    /// The logical level that a physical one counts for; L0 and the landing
    /// level count for level 1.
    pub(crate) fn level(&self, physical: PhysicalLevel) -> &LevelCounters {
        let at = Layout::V1
            .logical(physical)
            .map_or(0, |(level, _)| usize::from(level.0) - 1);
        &self.levels[at.min(self.levels.len() - 1)]
    }

    /// A merge of a level for the reads' sake wrote so many bytes.
    pub(crate) fn count_for_reads(&self, level: LogicalLevel, bytes: u64) {
        let at = usize::from(level.0).saturating_sub(1);
        if let Some(level) = self.levels.get(at) {
            level.for_reads_write_bytes.fetch_add(bytes, Relaxed);
        }
    }

    pub(crate) fn shards(&self) -> &[Shard] {
        &self.shards
    }

    /// Bytes that users wrote so far.
    pub(crate) fn user_write_bytes(&self) -> u64 {
        let shards = self.shards.iter();
        shards
            .map(|shard| shard.user_write_bytes.load(Relaxed))
            .sum()
    }

    /// User operations so far.
    pub(crate) fn operations(&self) -> OperationMix {
        super::totals::operations(&self.shards)
    }

    fn shard(&self) -> &Shard {
        &self.shards[thread_shard()]
    }
}

fn thread_shard() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static SHARD: Cell<usize> = const { Cell::new(usize::MAX) };
    }
    SHARD.with(|shard| {
        if shard.get() == usize::MAX {
            shard.set(NEXT.fetch_add(1, Relaxed) % SHARDS);
        }
        shard.get()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_flushed_since_is_told() {
        let counters = Counters::default();
        counters.count_flush(100);
        let before = counters.flushed();
        counters.count_flush(30);
        counters.count_flush(7);
        let since = counters.flushed().since(before);
        assert_eq!((since.files, since.bytes), (2, 37));
        assert_eq!(before.since(counters.flushed()), Flushed::default());
    }
}
