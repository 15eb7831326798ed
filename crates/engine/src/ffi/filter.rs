//! A Bloom filter policy with its own number of bits per key for each physical
//! level.

use std::sync::Arc;

use rust_rocksdb::Options;

use super::buffer::Owned;
use super::handle::Handle;
use super::{Error, raw};

/// Bits per key of the Bloom filters, by physical level. Clones share one table.
///
/// Level 0 is where flushes land. Writers that do not know their level, such as
/// those of files to be ingested, use level 0's value, levels beyond the table
/// that of its deepest level.
///
/// The files carry RocksDB's own Bloom filters: any RocksDB reads them. A file
/// keeps the filter that it was written with, also when it is moved to another
/// level.
#[derive(Clone)]
pub struct LevelBloom {
    inner: Arc<Handle<raw::LevelBloom>>,
}

impl LevelBloom {
    /// A policy with `bits[level]` bits per key. At least one level.
    ///
    /// Each value is from 0 to 100, kept to a hundredth; 0 and less mean no
    /// filter. RocksDB treats less than 0.5 as none and 0.5 to 1 as 1.
    pub fn new(bits: &[f64]) -> Result<Self, Error> {
        // SAFETY: the slice is read during the call only. The policy is a new object: a
        // table of atomics and an immutable pointer to a policy that locks by itself;
        // what databases use of it is shared with them and outlives the release.
        let policy = unsafe {
            Handle::new(raw::lissom_level_bloom_free, |out| {
                raw::lissom_level_bloom_new(bits.as_ptr(), bits.len(), out)
            })
        }?;
        Ok(Self {
            inner: Arc::new(policy),
        })
    }

    /// Changes one level's bits per key, for the files written from now on.
    pub fn set_bits(&self, level: usize, bits: f64) -> Result<(), Error> {
        // SAFETY: the handle is alive as long as `self`.
        unsafe {
            Error::check(raw::lissom_level_bloom_set(
                self.inner.as_ptr(),
                level,
                bits,
            ))
        }
    }

    /// The bits per key of files written to `level` now.
    pub fn bits(&self, level: usize) -> f64 {
        // SAFETY: the handle is alive as long as `self`.
        unsafe { raw::lissom_level_bloom_get(self.inner.as_ptr(), level.min(i32::MAX as usize)) }
    }

    /// The name under which RocksDB writes the policy into its OPTIONS file, with
    /// the bits that it was created with: `lissom.LevelBloom:10x18/9.5/0x20`.
    pub fn id(&self) -> Result<String, Error> {
        // SAFETY: the handle is alive, `out` is valid for the call.
        let buffer =
            unsafe { Owned::fill(|out| raw::lissom_level_bloom_id(self.inner.as_ptr(), out)) }?;
        buffer.reader().string()
    }

    /// Makes `options` use this policy. Call it last, after the block-based table
    /// options are set (they carry their own filter policy) and before the column
    /// family is opened. Copies made of `options` earlier keep what they had.
    pub fn install(&self, options: &mut Options) -> Result<(), Error> {
        // SAFETY: the function belongs to this kind of object, and shares what it needs of
        // it with the options.
        unsafe { self.inner.install(raw::lissom_level_bloom_install, options) }
    }
}
