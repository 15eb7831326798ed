//! Guard keys: where compaction outputs are cut.

use std::ops::Range;
use std::sync::Arc;

use rust_rocksdb::Options;

use super::{CfRef, Error, layout, raw};

/// Guard keys by physical output level. Clones share one table.
///
/// A compaction that writes to a level with guards starts a new file at the
/// first key that is not below the next guard; besides, files end at their usual
/// size. A compaction keeps the guards that it started with. Trivial moves are
/// never refused, so a moved file may straddle a guard.
#[derive(Clone)]
pub struct GuardTable {
    inner: Arc<Handle>,
    levels: usize,
}

struct Handle(*mut raw::GuardTable);

// SAFETY: the C++ table locks by itself; every function may run on any thread.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: this is the only owner; what databases use is shared with them.
        unsafe { raw::lissom_guard_table_free(self.0) };
    }
}

impl GuardTable {
    /// A table for physical levels 0 to `levels` - 1, without guards.
    pub fn new(levels: usize) -> Result<Self, Error> {
        layout::verify()?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: on success `handle` is a new object that nobody else owns.
        unsafe { Error::check(raw::lissom_guard_table_new(levels, &raw mut handle)) }?;
        Ok(Self {
            inner: Arc::new(Handle(handle)),
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
        let mut bytes = Vec::with_capacity(guards.iter().map(|g| g.as_ref().len()).sum());
        let mut ends = Vec::with_capacity(guards.len());
        for guard in guards {
            bytes.extend_from_slice(guard.as_ref());
            ends.push(bytes.len());
        }
        // SAFETY: `ends` holds `guards.len()` ascending offsets into `bytes`; both
        // are only read, and only during the call.
        unsafe {
            Error::check(raw::lissom_guard_table_set(
                self.inner.0,
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
        unsafe { raw::lissom_guard_table_count(self.inner.0, level) }
    }

    /// Makes `options` cut at these guards. Call it after the comparator is set
    /// and before the column family is opened; the comparator must be RocksDB's
    /// bytewise one.
    pub fn install(&self, options: &mut Options) -> Result<(), Error> {
        let pointer = layout::pointer(options)?;
        // SAFETY: both objects are alive, and `options` is borrowed exclusively.
        unsafe { Error::check(raw::lissom_guard_table_install(self.inner.0, pointer)) }
    }

    /// Whether a column family was opened with options that this table, or a clone of
    /// it, was installed in.
    pub fn is_used_by(&self, cf: CfRef<'_>) -> Result<bool, Error> {
        let mut is_used = 0;
        // SAFETY: the handle and the target are alive, and `is_used` is valid for the
        // call.
        unsafe {
            Error::check(raw::lissom_guard_table_is_used(
                self.inner.0,
                cf.raw(),
                &raw mut is_used,
            ))
        }?;
        Ok(is_used != 0)
    }
}
