//! Files of a merge that may turn out unreadable without RocksDB stopping all writes.

use std::cell::RefCell;
use std::collections::BTreeSet;

use rust_rocksdb::ErrorKind;
use rust_rocksdb::event_listener::DBBackgroundErrorReason;

use crate::execute::files_named;

thread_local! {
    static SPARED: RefCell<BTreeSet<u64>> = const { RefCell::new(BTreeSet::new()) };
}

/// Runs a compaction on this thread, of which an unreadable file among
/// `spared` is no reason for RocksDB to stop all writes.
///
/// A failed compaction changes nothing, and the file is left alone from then on.
/// Files of L0 are never spared: one that cannot leave L0 would hold writers up
/// for ever, and an error is better than that.
pub(crate) fn sparing<T>(spared: BTreeSet<u64>, compact: impl FnOnce() -> T) -> T {
    struct Forget;
    impl Drop for Forget {
        fn drop(&mut self) {
            SPARED.with_borrow_mut(BTreeSet::clear);
        }
    }
    SPARED.with_borrow_mut(|files| *files = spared);
    let _forget = Forget;
    compact()
}

/// Whether an error of a compaction on this thread names a file to be spared.
pub(super) fn is_spared(reason: DBBackgroundErrorReason, error: &rust_rocksdb::Error) -> bool {
    reason == DBBackgroundErrorReason::KCompaction
        && matches!(error.kind(), ErrorKind::Corruption | ErrorKind::IOError)
        && files_named(error.as_ref())
            .any(|file| SPARED.with_borrow(|spared| spared.contains(&file)))
}
