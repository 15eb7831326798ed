//! A rate limit on background I/O that may change at run time. The binding
//! creates rate limiters too, but keeps no handle to adjust one by, and RocksDB's
//! own goes on spending what a higher rate had put aside.

use std::sync::Arc;

use rust_rocksdb::Options;

use super::{Error, layout, raw};

/// A bound on the bytes per second of flushes and compactions, reads and writes
/// together, flushes first. Reads of the application are not counted unless
/// their read options ask for it. Clones share one limiter, and so do all
/// databases that it is installed in.
#[derive(Clone)]
pub struct RateLimiter {
    inner: Arc<Handle>,
}

struct Handle(*mut raw::RateLimiter);

// SAFETY: RocksDB's rate limiter locks by itself; every function may run on any
// thread.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: this is the only owner; what databases use is shared with them.
        unsafe { raw::lissom_rate_limiter_free(self.0) };
    }
}

impl RateLimiter {
    /// No limit at all.
    pub const UNLIMITED: u64 = i64::MAX as u64;

    /// A limiter of `bytes_per_second`, at least 1. Less than 40 lets 40 pass.
    pub fn new(bytes_per_second: u64) -> Result<Self, Error> {
        layout::verify()?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: on success `handle` is a new object that nobody else owns.
        unsafe {
            Error::check(raw::lissom_rate_limiter_new(
                rate(bytes_per_second),
                &raw mut handle,
            ))?;
        }
        Ok(Self {
            inner: Arc::new(Handle(handle)),
        })
    }

    /// Changes the rate at once, for running jobs too: who waits under the old
    /// rate waits at most 25 ms more.
    pub fn set_bytes_per_second(&self, bytes_per_second: u64) -> Result<(), Error> {
        // SAFETY: the handle is alive as long as `self`.
        unsafe {
            Error::check(raw::lissom_rate_limiter_set(
                self.inner.0,
                rate(bytes_per_second),
            ))
        }
    }

    /// The rate now.
    pub fn bytes_per_second(&self) -> u64 {
        // SAFETY: the handle is alive as long as `self`.
        unsafe { raw::lissom_rate_limiter_get(self.inner.0) }.cast_unsigned()
    }

    /// All bytes that have passed so far.
    pub fn total_bytes(&self) -> u64 {
        // SAFETY: the handle is alive as long as `self`.
        unsafe { raw::lissom_rate_limiter_total(self.inner.0) }.cast_unsigned()
    }

    /// Makes a database opened with `options` obey this limiter.
    pub fn install(&self, options: &mut Options) -> Result<(), Error> {
        let pointer = layout::pointer(options)?;
        // SAFETY: both objects are alive, and `options` is borrowed exclusively.
        unsafe { Error::check(raw::lissom_rate_limiter_install(self.inner.0, pointer)) }
    }
}

// A rate above UNLIMITED means the same.
fn rate(bytes_per_second: u64) -> i64 {
    i64::try_from(bytes_per_second).unwrap_or(i64::MAX)
}
