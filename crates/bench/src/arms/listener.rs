//! Listens to RocksDB's flushes and compactions: their number, time and bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rust_rocksdb::event_listener::{CompactionJobInfo, EventListener, FlushJobInfo};

use crate::store::Counters;

/// Sums over all flushes and compactions since the store was opened.
#[derive(Debug, Clone, Default)]
pub struct CompactionLog(Arc<Sums>);

#[derive(Debug, Default)]
struct Sums {
    compactions: AtomicU64,
    micros: AtomicU64,
    largest_input: AtomicU64,
    flushed: AtomicU64,
    read: AtomicU64,
    written: AtomicU64,
}

impl CompactionLog {
    /// Puts the sums into `counters`.
    pub fn add_to(&self, counters: &mut Counters) {
        counters.compactions = self.0.compactions.load(Ordering::Relaxed);
        counters.compaction_micros = self.0.micros.load(Ordering::Relaxed);
    }

    /// Input bytes of the largest compaction since the last call; 0 without one.
    pub fn take_largest(&self) -> u64 {
        self.0.largest_input.swap(0, Ordering::Relaxed)
    }

    /// Puts the bytes into `counters`, for stores without statistics.
    pub fn add_bytes_to(&self, counters: &mut Counters) {
        counters.flushed_bytes = self.0.flushed.load(Ordering::Relaxed);
        counters.compaction_read_bytes = self.0.read.load(Ordering::Relaxed);
        counters.compaction_written_bytes = self.0.written.load(Ordering::Relaxed);
    }
}

impl EventListener for CompactionLog {
    fn on_flush_completed(&self, info: &FlushJobInfo) {
        let table = info.table_properties();
        let bytes = table.data_size() + table.index_size() + table.filter_size();
        self.0.flushed.fetch_add(bytes, Ordering::Relaxed);
    }

    fn on_compaction_completed(&self, info: &CompactionJobInfo) {
        // A trivial move reads nothing and is no merge.
        if info.input_records() == 0 {
            return;
        }
        self.0.compactions.fetch_add(1, Ordering::Relaxed);
        self.0
            .micros
            .fetch_add(info.elapsed_micros(), Ordering::Relaxed);
        self.0
            .largest_input
            .fetch_max(info.total_input_bytes(), Ordering::Relaxed);
        self.0
            .read
            .fetch_add(info.total_input_bytes(), Ordering::Relaxed);
        self.0
            .written
            .fetch_add(info.total_output_bytes(), Ordering::Relaxed);
    }
}
