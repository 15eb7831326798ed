//! How fast files are deleted that nobody reads any more. The binding's own manager cuts files of
//! over 64 MiB shorter under whoever else has them open.

use rust_rocksdb::Options;

use super::handle::Handle;
use super::{Error, raw};

/// A bound on the bytes of files that databases delete in a second, file by file. What waits is
/// renamed, and RocksDB deletes at its next open what a database left when it closed.
pub struct Deletions {
    inner: Handle<raw::Deletions>,
}

impl Deletions {
    /// So many bytes a second.
    pub fn new(bytes_per_second: u64) -> Result<Self, Error> {
        let rate = i64::try_from(bytes_per_second).unwrap_or(i64::MAX);
        // SAFETY: the object is new and locks by itself; databases share what they need of it.
        let inner = unsafe {
            Handle::new(raw::lissom_deletions_free, |out| {
                raw::lissom_deletions_new(rate, out)
            })
        }?;
        Ok(Self { inner })
    }

    /// A database that is opened with `options` obeys it, unless they have a manager of files
    /// already.
    pub fn install(&self, options: &mut Options) -> Result<(), Error> {
        // SAFETY: the function belongs to this kind of object, and shares what it needs of
        // it with the options.
        unsafe { self.inner.install(raw::lissom_deletions_install, options) }
    }
}
