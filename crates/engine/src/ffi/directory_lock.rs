//! RocksDB's lock on a directory.

use std::path::Path;

use super::{Error, layout, raw};

/// While it lives, nobody opens the directory, in this or another process; reading
/// alone needs no lock.
///
/// It is RocksDB's own, so that it also knows of databases that this process has
/// open: the operating system's lock on a file does not.
pub struct DirectoryLock(*mut raw::DirectoryLock);

// SAFETY: RocksDB locks and unlocks files under a mutex of its own; any thread may
// release what another one took.
unsafe impl Send for DirectoryLock {}

impl DirectoryLock {
    /// Takes the lock.
    pub fn new(directory: &Path) -> Result<Self, Error> {
        layout::verify()?;
        let path = directory.to_str().ok_or_else(|| {
            Error::new(format!(
                "the path {} is not UTF-8, which RocksDB needs",
                directory.display()
            ))
        })?;
        let mut lock = std::ptr::null_mut();
        // SAFETY: the path is read during the call only, within its length; on
        // success `lock` is a new object that nobody else owns.
        unsafe {
            Error::check(raw::lissom_directory_lock_new(
                path.as_ptr().cast(),
                path.len(),
                &raw mut lock,
            ))?;
        }
        Ok(Self(lock))
    }
}

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        // SAFETY: this is the only owner of the object, which is used nowhere else.
        unsafe { raw::lissom_directory_lock_free(self.0) };
    }
}
