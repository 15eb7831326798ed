//! Guard keys: where compaction outputs are cut.

use std::ops::Range;
use std::sync::Arc;

use rust_rocksdb::Options;

use super::buffer::joined;
use super::handle::Handle;
use super::{CfRef, Error, raw};

/// Guard keys by physical output level. Clones share one table.
///
/// A compaction that writes to a level with guards starts a new file at the
/// first key that is not below the next guard; besides, files end at their usual
/// size. A compaction keeps the guards that it started with. Trivial moves are
/// never refused, so a moved file may straddle a guard.
#[derive(Clone)]
pub struct GuardTable {
    inner: Arc<Handle<raw::GuardTable>>,
    levels: usize,
}

impl GuardTable {
    /// A table for physical levels 0 to `levels` - 1, without guards.
    pub fn new(levels: usize) -> Result<Self, Error> {
        // SAFETY: the table is a new object that locks by itself; what databases use of it
        // is shared with them and outlives the release.
        let table = unsafe {
            Handle::new(raw::lissom_guard_table_free, |out| {
                raw::lissom_guard_table_new(levels, out)
            })
        }?;
        Ok(Self {
            inner: Arc::new(table),
            levels,
        })
    }

    /// The number of physical levels.
    pub fn levels(&self) -> usize {
        self.levels
    }

    /// Replaces the guards of all `levels`, which share one copy of them. An
    /// empty list removes them. The keys ascend strictly in byte order.
    pub fn set<K: AsRef<[u8]>>(&self, levels: Range<usize>, guards: &[K]) -> Result<(), Error> {
        let (bytes, ends) = joined(guards);
        // SAFETY: `ends` holds `guards.len()` ascending offsets into `bytes`; both
        // are only read, and only during the call.
        unsafe {
            Error::check(raw::lissom_guard_table_set(
                self.inner.as_ptr(),
                levels.start,
                levels.end,
                bytes.as_ptr(),
                ends.as_ptr(),
                ends.len(),
            ))
        }
    }

    /// The number of guards of one level.
    pub fn guards(&self, level: usize) -> usize {
        // SAFETY: the handle is alive as long as `self`.
        unsafe { raw::lissom_guard_table_count(self.inner.as_ptr(), level) }
    }

    /// Makes `options` cut at these guards. Call it after the comparator is set
    /// and before the column family is opened; the comparator must be RocksDB's
    /// bytewise one.
    pub fn install(&self, options: &mut Options) -> Result<(), Error> {
        // SAFETY: the function belongs to this kind of object, and shares what it needs of
        // it with the options.
        unsafe { self.inner.install(raw::lissom_guard_table_install, options) }
    }

    /// Whether a column family was opened with options that this table, or a clone of
    /// it, was installed in.
    pub fn is_used_by(&self, cf: CfRef<'_>) -> Result<bool, Error> {
        let mut is_used = 0;
        // SAFETY: the handle and the target are alive, and `is_used` is valid for the
        // call.
        unsafe {
            Error::check(raw::lissom_guard_table_is_used(
                self.inner.as_ptr(),
                cf.raw(),
                &raw mut is_used,
            ))
        }?;
        Ok(is_used != 0)
    }
}
