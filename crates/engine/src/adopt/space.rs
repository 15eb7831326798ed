//! Free space on a directory's disk.

use std::path::Path;

use super::work::Work;
use crate::error::{Error, Result};

/// Bytes that this user may still write on the disk of a directory.
pub(crate) fn free_bytes(directory: &Path) -> Result<u64> {
    let disk = rustix::fs::statvfs(directory)
        .map_err(|error| Error::io("ask for the free space of", directory, &error.into()))?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
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
