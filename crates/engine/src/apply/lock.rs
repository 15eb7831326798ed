//! RocksDB's lock on a directory, taken without harm to who has it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::error::{Error, Result};
use crate::ffi::directory_lock::DirectoryLock;
use crate::open_error::{Cause, cause};

/// The files that this process has open (proc(5)).
const OPEN: &str = "/proc/self/fd";

/// Takes RocksDB's lock on a directory.
///
/// RocksDB knows the directories of its own process by their names as they were given.
/// Under another name it would take the lock once more, which the operating system
/// lets a process do, and give both up with the first file that it closes. So the
/// operating system is asked first, by the file itself.
///
/// # Errors
/// When somebody has it open, or the file LOCK cannot be opened.
pub(super) fn lock(path: &Path) -> Result<DirectoryLock> {
    let is_open = |text: &str| {
        Error::retry(format!(
            "{} is open in this or another process: close it there first, and try again ({text})",
            path.display()
        ))
    };
    if is_ours(path) {
        return Err(is_open("this process has its lock"));
    }
    DirectoryLock::new(path).map_err(|error| {
        let text = error.to_string();
        let advice = match cause(&text, path) {
            Cause::OpenAlready => return is_open(&text),
            Cause::NoSpace => "free some space on its disk",
            Cause::NoPermission => "give this user the right to write it",
            _ => "check the path and its file system",
        };
        Error::fix(format!("cannot lock {} ({text}): {advice}", path.display()))
    })
}

/// Whether this process has the lock's file open, under whatever name: RocksDB does for
/// as long as it holds the lock. False where the operating system does not say.
fn is_ours(path: &Path) -> bool {
    let Ok(lock) = fs::metadata(path.join("LOCK")) else {
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
    use rust_rocksdb::DB;

    use super::*;

    #[test]
    fn an_open_database_keeps_its_lock_whatever_it_is_called() {
        let parent = tempfile::tempdir().expect("a directory");
        let (real, other) = (parent.path().join("data"), parent.path().join("link"));
        fs::create_dir(&real).expect("made");
        std::os::unix::fs::symlink(&real, &other).expect("linked");
        let db = DB::open_default(&other).expect("a new database");
        for path in [&real, &other, &real] {
            let error = lock(path).err().expect("it is open").to_string();
            assert!(error.contains("close it there first"), "{error}");
        }
        drop(db);
        drop(lock(&real).expect("it is closed"));
    }

    #[test]
    fn what_nobody_has_open_is_not_said_to_be_open() {
        let parent = tempfile::tempdir().expect("a directory");
        let error = lock(&parent.path().join("locks")).err();
        let error = error.expect("it is not there").to_string();
        assert!(error.contains("check the path"), "{error}");
    }
}
