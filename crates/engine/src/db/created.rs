//! Options of column families, for as long as RocksDB uses what they hold.

use std::mem;
use std::sync::Arc;

use parking_lot::Mutex;
use rust_rocksdb::Options;

use crate::RocksDb;
use crate::ffi::options::read_options;

/// Objects that options hold must outlive the column family; RocksDB's binding sees to it only
/// for those given at open.
pub(super) struct Created {
    // Before `families`: what these hold may go once the database is closed.
    rocks: Arc<RocksDb>,
    /// By name.
    families: Mutex<Vec<(String, Options)>>,
}

impl Created {
    pub fn of(rocks: &Arc<RocksDb>) -> Created {
        Created {
            rocks: rocks.clone(),
            families: Mutex::default(),
        }
    }

    /// Keeps what a column family was made with.
    pub fn keep(&self, name: &str, options: Options) {
        self.families.lock().push((name.to_owned(), options));
    }

    #[cfg(test)]
    pub fn names(&self) -> Vec<String> {
        let families = self.families.lock();
        families.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Lets go of what may go of a column family that was dropped and has no job of RocksDB's
    /// left.
    pub fn forget(&self, name: &str) {
        let mut families = self.families.lock();
        families.retain_mut(|(made, options)| made.as_str() != name || !may_go(options));
    }
}

impl Drop for Created {
    /// An application that has a handle of its own goes on with the objects, to the end of the
    /// process.
    fn drop(&mut self) {
        if Arc::strong_count(&self.rocks) == 1 {
            return;
        }
        for (_, mut options) in self.families.get_mut().drain(..) {
            if !may_go(&mut options) {
                mem::forget(options);
            }
        }
    }
}

/// Whether options may go before the database is closed. A compaction filter is theirs alone,
/// and the application may compact by a handle of its own; all else is shared with whoever uses
/// it.
fn may_go(options: &mut Options) -> bool {
    read_options(options).is_ok_and(|found| found.cf.compaction_filter.is_none())
}
