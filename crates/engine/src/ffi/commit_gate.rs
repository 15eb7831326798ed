//! Holding RocksDB's own compactions back for the moment in which they commit.

use std::sync::Arc;
use std::time::Duration;

use rust_rocksdb::Options;

use super::handle::Handle;
use super::{Error, raw};

/// A gate before the commits of the compactions that RocksDB picks itself and of those
/// of `CompactRange`. Their merging goes on; `CompactFiles` passes by, and so do the
/// files that a `CompactRange` moves when it changes levels. Clones share one gate.
#[derive(Clone)]
pub struct CommitGate {
    inner: Arc<Handle<raw::CommitGate>>,
}

impl CommitGate {
    /// An open gate. A closed one holds each compaction for `longest_hold` at most, which
    /// then passes.
    pub fn new(longest_hold: Duration) -> Result<Self, Error> {
        let millis = u64::try_from(longest_hold.as_millis()).unwrap_or(u64::from(u32::MAX));
        // SAFETY: the gate is a new object that locks by itself; what databases use of it
        // is shared with them and outlives the release.
        let gate = unsafe {
            Handle::new(raw::lissom_commit_gate_free, |out| {
                raw::lissom_commit_gate_new(millis, out)
            })
        }?;
        Ok(Self {
            inner: Arc::new(gate),
        })
    }

    /// Puts the gate into a database that is opened with `options`.
    pub fn install(&self, options: &mut Options) -> Result<(), Error> {
        // SAFETY: the function belongs to this kind of object, and shares what it needs of
        // it with the options.
        unsafe { self.inner.install(raw::lissom_commit_gate_install, options) }
    }

    /// Closes the gate for one column family until what is returned is dropped. Waits
    /// for the commits that have begun, ten seconds at most.
    pub fn close<'a>(&'a self, family: &'a str) -> Result<ClosedGate<'a>, Error> {
        // SAFETY: the handle is alive, and the name is read during the call only.
        unsafe {
            Error::check(raw::lissom_commit_gate_close(
                self.inner.as_ptr(),
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
                self.gate.inner.as_ptr(),
                self.family.as_ptr().cast(),
                self.family.len(),
            ))
        };
        // Only a failed allocation could come here; who is held then passes in time.
        debug_assert!(opened.is_ok(), "{opened:?}");
    }
}
