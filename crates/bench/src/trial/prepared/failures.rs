//! What RocksDB says of its jobs that fail.

use std::sync::{Arc, OnceLock};

use rust_rocksdb::Error;
use rust_rocksdb::event_listener::{
    CompactionJobInfo, DBBackgroundErrorReason, EventListener, MutableStatus,
};

/// The first failure of a store's flushes and compactions.
#[derive(Debug, Clone, Default)]
pub(super) struct Failures(Arc<OnceLock<String>>);

impl Failures {
    /// RocksDB's words; `None` where nothing has failed.
    pub(super) fn first(&self) -> Option<String> {
        self.0.get().cloned()
    }

    fn note(&self, status: &Result<(), Error>) {
        if let Err(error) = status {
            // What fails later may fail because of the first.
            let _ = self.0.set(format!("RocksDB: {error}"));
        }
    }
}

impl EventListener for Failures {
    /// Before whoever waits for the compaction goes on.
    fn on_compaction_completed(&self, info: &CompactionJobInfo) {
        self.note(&info.status());
    }

    /// Of flushes, too, which have no status when they are completed.
    fn on_background_error(&self, _reason: DBBackgroundErrorReason, status: MutableStatus) {
        self.note(status.result());
    }
}
