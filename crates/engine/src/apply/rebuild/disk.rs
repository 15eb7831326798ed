//! Directories as wholes: renamed, exchanged, measured, removed.

use std::fs;
use std::path::Path;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::mark;
use crate::error::{Error, Result};
use crate::files::{remove_file, sync_directory};

/// Makes the name of a path durable.
pub(super) fn sync_parent(path: &Path) -> Result<()> {
    match path.parent() {
        Some(parent) => sync_directory(parent),
        None => Ok(()),
    }
}

/// Gives a directory another name, which is free.
pub(super) fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|error| Error::io("rename", from, &error))?;
    sync_parent(to)
}

/// Exchanges two directories in one step. False where the file system cannot.
pub(super) fn exchange(a: &Path, b: &Path) -> Result<bool> {
    match renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE) {
        Ok(()) => sync_parent(a).map(|()| true),
        // Some containers forbid the call itself; who may not rename hears so from the renames.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::XDEV | Errno::PERM) => {
            Ok(false)
        }
        Err(error) => Err(Error::io("exchange", a, &error.into())),
    }
}

/// Bytes of the files in a directory that have one of these ends; of all, if there
/// are none given.
pub(super) fn bytes(directory: &Path, ends: &[&str]) -> Result<u64> {
    let cannot = |error| Error::io("read the directory", directory, &error);
    let mut bytes = 0;
    for entry in fs::read_dir(directory).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if ends.is_empty() || ends.iter().any(|end| name.ends_with(end)) {
            bytes += entry.metadata().map_err(cannot)?.len();
        }
    }
    Ok(bytes)
}

/// Whether nothing is in a directory but what a kill leaves of a mark.
pub(super) fn is_empty(directory: &Path) -> Result<bool> {
    let cannot = |error| Error::io("read the directory", directory, &error);
    let draft = mark::draft(directory);
    for entry in fs::read_dir(directory).map_err(cannot)? {
        if entry.map_err(cannot)?.path() != draft {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Removes a directory that has a mark, the mark last: what a kill leaves of it is
/// known for what it was.
pub(super) fn remove(directory: &Path) -> Result<()> {
    let cannot = |error| Error::io("remove", directory, &error);
    let mark = mark::path(directory);
    for entry in fs::read_dir(directory).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let path = entry.path();
        if path == mark {
            continue;
        }
        let removed = match entry.file_type().map_err(cannot)?.is_dir() {
            true => fs::remove_dir_all(&path),
            false => fs::remove_file(&path),
        };
        removed.map_err(|error| Error::io("remove", &path, &error))?;
    }
    remove_file(&mark)?;
    fs::remove_dir(directory).map_err(cannot)?;
    sync_parent(directory)
}
