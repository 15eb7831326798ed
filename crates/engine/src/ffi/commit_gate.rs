//! Holding RocksDB's own compactions back for the moment in which they commit.

use std::sync::Arc;
use std::time::Duration;

use rust_rocksdb::Options;

use super::{Error, layout, raw};

/// A gate before the commits of the compactions that RocksDB picks itself and of those
/// of `CompactRange`. Their merging goes on; `CompactFiles` passes by, and so do the
/// files that a `CompactRange` moves when it changes levels. Clones share one gate.
#[derive(Clone)]
pub struct CommitGate {
    inner: Arc<Handle>,
}

struct Handle(*mut raw::CommitGate);

// SAFETY: the C++ object locks by itself; every function may run on any thread.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: this is the only owner; what databases use is shared with them.
        unsafe { raw::lissom_commit_gate_free(self.0) };
    }
}

impl CommitGate {
    /// An open gate. A closed one holds each compaction for `longest_hold` at most, which
    /// then passes.
    pub fn new(longest_hold: Duration) -> Result<Self, Error> {
        layout::verify()?;
        let millis = u64::try_from(longest_hold.as_millis()).unwrap_or(u64::from(u32::MAX));
        let mut handle = std::ptr::null_mut();
        // SAFETY: on success `handle` is a new object that nobody else owns.
        unsafe { Error::check(raw::lissom_commit_gate_new(millis, &raw mut handle)) }?;
        Ok(Self {
            inner: Arc::new(Handle(handle)),
        })
    }

    /// Puts the gate into a database that is opened with `options`.
    pub fn install(&self, options: &mut Options) -> Result<(), Error> {
        let pointer = layout::pointer(options)?;
        // SAFETY: both objects are alive, and `options` is borrowed exclusively.
        unsafe { Error::check(raw::lissom_commit_gate_install(self.inner.0, pointer)) }
    }

    /// Closes the gate for one column family until what is returned is dropped. Waits
    /// for the commits that have begun, ten seconds at most.
    pub fn close<'a>(&'a self, family: &'a str) -> Result<ClosedGate<'a>, Error> {
        // SAFETY: the handle is alive, and the name is read during the call only.
        unsafe {
            Error::check(raw::lissom_commit_gate_close(
                self.inner.0,
                family.as_ptr().cast(),
                family.len(),
            ))
        }?;
        Ok(ClosedGate { gate: self, family })
    }
}

/// While it lives, RocksDB's own compactions of a column family do not commit.
#[must_use = "the gate opens as soon as this is dropped"]
pub struct ClosedGate<'a> {
    gate: &'a CommitGate,
    family: &'a str,
}

impl Drop for ClosedGate<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is alive, the name is read during the call only, and this
        // is the one opening that matches the closing that made the guard.
        let opened = unsafe {
            Error::check(raw::lissom_commit_gate_open(
                self.gate.inner.0,
                self.family.as_ptr().cast(),
                self.family.len(),
            ))
        };
        // Only a failed allocation could come here; who is held then passes in time.
        debug_assert!(opened.is_ok(), "{opened:?}");
    }
}
