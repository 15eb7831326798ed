//! Where this process lets RocksDB into a directory for writing, once at a time.
//!
//! RocksDB knows the directories that its process has open by their names as they were
//! given. Under another name it takes the lock once more, which the operating system lets
//! a process do: the second opening removes the log and the manifest that the first one
//! writes, and gives up the lock of both when it closes. So the file LOCK itself is asked
//! first.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use rust_rocksdb::{ColumnFamilyDescriptor, Options};

use crate::RocksDb;
use crate::error::{Error, Result};
use crate::open_error::{Cause, explain};

/// The files that this process has open (proc(5)).
const OPEN: &str = "/proc/self/fd";

/// Directories whose lock a thread of this process is about to take, by their true names.
static ENTERED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The right to take a directory's lock. It is held until RocksDB has answered: from then on
/// the open file LOCK tells that it is taken.
#[must_use]
pub(crate) struct Entrance(PathBuf);

impl Entrance {
    /// `None` where this process has the lock already, or is about to take it.
    pub(crate) fn to(directory: &Path) -> Option<Entrance> {
        let real = directory.canonicalize();
        let real = real.unwrap_or_else(|_| directory.to_owned());
        let mut entered = ENTERED.lock();
        if is_ours(directory) || !entered.insert(real.clone()) {
            return None;
        }
        Some(Entrance(real))
    }
}

impl Drop for Entrance {
    fn drop(&mut self) {
        ENTERED.lock().remove(&self.0);
    }
}

/// Lets RocksDB open a directory for writing.
///
/// # Errors
/// When this process has it open, under whatever name; RocksDB's. `advice` says what to do.
pub(crate) fn open(
    directory: &Path,
    options: &Options,
    families: impl IntoIterator<Item = ColumnFamilyDescriptor>,
    advice: fn(Cause) -> &'static str,
) -> Result<RocksDb> {
    // A directory has a true name once it is there. RocksDB's binding makes it, too, and
    // says why it cannot.
    let _ = fs::create_dir_all(directory);
    let Some(_entrance) = Entrance::to(directory) else {
        return Err(Error::fix(format!(
            "cannot open {} ({}): this process has its lock",
            directory.display(),
            advice(Cause::OpenAlready)
        )));
    };
    RocksDb::open_cf_descriptors(options, directory, families)
        .map_err(|error| explain(directory, error, advice))
}

/// Whether this process has the lock's file open, under whatever name: RocksDB does for
/// as long as it holds the lock. False where the operating system does not say.
fn is_ours(directory: &Path) -> bool {
    let Ok(lock) = fs::metadata(directory.join("LOCK")) else {
        return false;
    };
    let Ok(open) = fs::read_dir(OPEN) else {
        return false;
    };
    open.flatten()
        .filter_map(|entry| fs::metadata(entry.path()).ok())
        .any(|file| (file.dev(), file.ino()) == (lock.dev(), lock.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_enters_a_directory_whatever_it_is_called() {
        let directory = tempfile::tempdir().expect("a directory");
        let other = tempfile::tempdir().expect("a directory");
        let link = other.path().join("link");
        std::os::unix::fs::symlink(directory.path(), &link).expect("linked");
        let entrance = Entrance::to(directory.path()).expect("free");
        assert!(Entrance::to(&link).is_none());
        assert!(Entrance::to(other.path()).is_some());
        drop(entrance);
        assert!(Entrance::to(&link).is_some());
    }
}
