//! RocksDB's lock on a directory.

use std::path::Path;

use super::handle::Handle;
use super::{Error, raw};

/// While it lives, nobody opens the directory, in this or another process; reading
/// alone needs no lock.
///
/// It is RocksDB's own, so that it also knows of databases that this process has
/// open: the operating system's lock on a file does not.
pub struct DirectoryLock {
    _handle: Handle<raw::DirectoryLock>,
}

impl DirectoryLock {
    /// Takes the lock.
    pub fn new(directory: &Path) -> Result<Self, Error> {
        let path = directory.to_str().ok_or_else(|| {
            Error::new(format!(
                "the path {} is not UTF-8, which RocksDB needs",
                directory.display()
            ))
        })?;
        // SAFETY: the path is read during the call only, within its length. The lock is a
        // new object; RocksDB locks and unlocks files under a mutex of its own, so that
        // any thread may release what another one took.
        let handle = unsafe {
            Handle::new(raw::lissom_directory_lock_free, |out| {
                raw::lissom_directory_lock_new(path.as_ptr().cast(), path.len(), out)
            })
        }?;
        Ok(Self { _handle: handle })
    }
}
