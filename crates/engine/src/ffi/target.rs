//! A column family of an open database, stopping its compactions, and what they leave behind.

use std::marker::PhantomData;
use std::path::Path;

use rust_rocksdb::{AsColumnFamilyRef, AsRawPtr, DB};

use super::buffer::Owned;
use super::{Error, layout, raw};

/// A borrowed column family: what every call of this module works on.
///
/// The handle alone suffices, for RocksDB's handles know their database; so
/// this works with every kind of database that the binding can open.
#[derive(Clone, Copy)]
pub struct CfRef<'a> {
    target: raw::Target,
    lifetime: PhantomData<&'a ()>,
}

// SAFETY: the pointers lead to a database and a column family handle, which
// RocksDB lets any number of threads use at once; the binding says the same of
// its own types.
unsafe impl Send for CfRef<'_> {}
// SAFETY: as above; nothing here changes through a shared reference.
unsafe impl Sync for CfRef<'_> {}

impl<'a> CfRef<'a> {
    /// The column family that `cf` is the handle of.
    pub fn of(cf: &'a impl AsColumnFamilyRef) -> Result<Self, Error> {
        Self::new(raw::Target {
            db: std::ptr::null_mut(),
            cf: cf.inner(),
        })
    }

    /// The default column family, for which a database opened without a list of
    /// column families has no handle to give.
    pub fn default_of(db: &'a DB) -> Result<Self, Error> {
        Self::new(raw::Target {
            // SAFETY: `db` is borrowed for as long as this value lives, and
            // `struct rocksdb_t` begins with the DB pointer in the pinned version.
            db: unsafe { db.as_raw_ptr() },
            cf: std::ptr::null_mut(),
        })
    }

    fn new(target: raw::Target) -> Result<Self, Error> {
        layout::verify()?;
        Ok(Self {
            target,
            lifetime: PhantomData,
        })
    }

    pub(super) fn raw(self) -> raw::Target {
        self.target
    }

    /// The column family's name and the database's directory, as C++ sees them.
    pub fn names(self) -> Result<(String, String), Error> {
        // SAFETY: the target is alive (see `CfRef`), `out` is valid for the call.
        let buffer = unsafe { Owned::fill(|out| raw::lissom_names(self.target, out)) }?;
        let mut reader = buffer.reader();
        let names = (reader.string()?, reader.string()?);
        reader.finish()?;
        Ok(names)
    }

    /// Fails unless the pointers lead where the caller believes: to the column
    /// family `name` of the database in `path`. Made for the moment of opening.
    pub fn verify(self, name: &str, path: &Path) -> Result<(), Error> {
        let (found_name, found_path) = self.names()?;
        if found_name == name && Path::new(&found_path) == path {
            return Ok(());
        }
        Err(Error::new(format!(
            "the plug-in reads the column family \"{found_name}\" of {found_path} where \
             \"{name}\" of {} was meant; rebuild from a clean target directory",
            path.display()
        )))
    }

    /// Stops all compactions of this column family and admits no new ones until
    /// the guard is dropped; flushes go on. Returns when the running ones have
    /// ended, which takes them at most about 1,000 keys.
    ///
    /// A running `CompactFiles` ends with an error and changes nothing; one that
    /// starts under the guard fails at once. Guards of one column family nest.
    pub fn abort_compactions(self) -> Result<AbortGuard<'a>, Error> {
        // SAFETY: the target is alive. RocksDB asks that the handle stay alive
        // until compactions resume: the guard keeps the borrow.
        unsafe { Error::check(raw::lissom_abort_compactions(self.target)) }?;
        Ok(AbortGuard { target: self })
    }

    /// Takes bytes off what the database holds reserved for compactions on its disk, of
    /// which RocksDB forgets those of files that it was asked to move.
    pub fn release_reserved_space(self, bytes: u64) -> Result<(), Error> {
        // SAFETY: the target is alive (see `CfRef`), and the plug-in locks.
        unsafe { Error::check(raw::lissom_release_reserved_space(self.target, bytes)) }
    }
}

/// While it lives, its column family does not compact.
#[must_use = "compactions resume as soon as the guard is dropped"]
pub struct AbortGuard<'a> {
    target: CfRef<'a>,
}

impl Drop for AbortGuard<'_> {
    fn drop(&mut self) {
        // SAFETY: the target is alive, and this is the one resume that matches
        // the abort that made the guard.
        let resumed = unsafe { Error::check(raw::lissom_resume_compactions(self.target.target)) };
        // ResumeCompactions reports nothing; only a failed allocation for its
        // log line could come here, and then RocksDB itself is out of memory.
        debug_assert!(resumed.is_ok(), "{resumed:?}");
    }
}
