//! Free space on a directory's disk.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::work::Work;
use crate::error::{Error, Result};
use crate::file_names::is_trash;

/// Bytes that this user may still write on the disk of a directory.
pub(crate) fn free_bytes(directory: &Path) -> Result<u64> {
    let disk = rustix::fs::statvfs(directory)
        .map_err(|error| Error::io("ask for the free space of", directory, &error.into()))?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// The same, and what a store that was closed has left to be deleted: the next to open it for
/// writing does that first.
pub(crate) fn free_bytes_once_opened(directory: &Path) -> Result<u64> {
    let entries = fs::read_dir(directory)
        .map_err(|error| Error::io("list the files of", directory, &error))?;
    let left = entries
        .flatten()
        .filter(|it| is_trash(&it.file_name().to_string_lossy()));
    // What a checkpoint or a backup holds too stays on the disk.
    let alone = left
        .filter_map(|it| it.metadata().ok())
        .filter(|it| it.nlink() == 1);
    let bytes: u64 = alone.map(|it| it.len()).sum();
    Ok(free_bytes(directory)?.saturating_add(bytes))
}

/// Refuses to begin what a full disk would interrupt.
pub(crate) fn check_space(work: &Work) -> Result<()> {
    if work.needed_bytes <= work.free_bytes {
        return Ok(());
    }
    Err(Error::fix(format!(
        "the disk of {} has {} bytes free, and merging may need {} at once: free some space, \
         and try again",
        work.directory, work.free_bytes, work.needed_bytes
    )))
}
