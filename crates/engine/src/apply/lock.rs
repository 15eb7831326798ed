//! RocksDB's lock on a directory, taken without harm to who has it.

use std::path::Path;

use crate::entrance::Entrance;
use crate::error::{Error, Result};
use crate::ffi::directory_lock::DirectoryLock;
use crate::open_error::{Cause, cause};

/// Takes RocksDB's lock on a directory.
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
    let Some(_entrance) = Entrance::to(path) else {
        return Err(is_open("this process has its lock"));
    };
    DirectoryLock::new(path).map_err(|error| {
        let text = error.to_string();
        let advice = match cause(&text, path) {
            Cause::OpenAlready => return is_open(&text),
            Cause::Lack(advice) => advice,
            Cause::NoSpace => "free some space on its disk",
            Cause::NoPermission => "give this user the right to write it",
            _ => "check the path and its file system",
        };
        Error::fix(format!("cannot lock {} ({text}): {advice}", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

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
