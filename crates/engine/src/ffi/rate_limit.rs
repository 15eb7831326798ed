//! A rate limit on background I/O that may change at run time. The binding
//! creates rate limiters too, but keeps no handle to adjust one by, and RocksDB's
//! own goes on spending what a higher rate had put aside.

use std::sync::Arc;

use rust_rocksdb::Options;

use super::handle::Handle;
use super::{Error, raw};

/// A bound on the bytes per second of flushes and compactions, reads and writes
/// together, flushes first. Reads of the application are not counted unless
/// their read options ask for it. Clones share one limiter, and so do all
/// databases that it is installed in.
#[derive(Clone)]
pub struct RateLimiter {
    inner: Arc<Handle<raw::RateLimiter>>,
}

impl RateLimiter {
    /// No limit at all.
    pub const UNLIMITED: u64 = i64::MAX as u64;

    /// A limiter of `bytes_per_second`, at least 1. Less than 40 lets 40 pass.
    pub fn new(bytes_per_second: u64) -> Result<Self, Error> {
        // SAFETY: the limiter is a new object; RocksDB's rate limiter locks by itself, and
        // databases share it, so that it outlives the release.
        let limiter = unsafe {
            Handle::new(raw::lissom_rate_limiter_free, |out| {
                raw::lissom_rate_limiter_new(rate(bytes_per_second), out)
            })
        }?;
        Ok(Self {
            inner: Arc::new(limiter),
        })
    }

    /// Changes the rate at once, for running jobs too: who waits under the old
    /// rate waits at most 25 ms more.
    pub fn set_bytes_per_second(&self, bytes_per_second: u64) -> Result<(), Error> {
        // SAFETY: the handle is alive as long as `self`.
        unsafe {
            Error::check(raw::lissom_rate_limiter_set(
                self.inner.as_ptr(),
                rate(bytes_per_second),
            ))
        }
    }

    /// The rate now.
    pub fn bytes_per_second(&self) -> u64 {
        // SAFETY: the handle is alive as long as `self`.
        unsafe { raw::lissom_rate_limiter_get(self.inner.as_ptr()) }.cast_unsigned()
    }

    /// All bytes that have passed so far.
    pub fn total_bytes(&self) -> u64 {
        // SAFETY: the handle is alive as long as `self`.
        unsafe { raw::lissom_rate_limiter_total(self.inner.as_ptr()) }.cast_unsigned()
    }

    /// Makes a database opened with `options` obey this limiter.
    pub fn install(&self, options: &mut Options) -> Result<(), Error> {
        // SAFETY: the function belongs to this kind of object, and shares what it needs of
        // it with the options.
        unsafe {
            self.inner
                .install(raw::lissom_rate_limiter_install, options)
        }
    }
}

// A rate above UNLIMITED means the same.
fn rate(bytes_per_second: u64) -> i64 {
    i64::try_from(bytes_per_second).unwrap_or(i64::MAX)
}
