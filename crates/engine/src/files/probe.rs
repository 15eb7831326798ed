//! The file that is written and read to measure the device: there for half a second,
//! unless the process was killed meanwhile. Where one lies at an open, it is measured: that
//! process had not done it, or somebody has left the file to have it done again.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

const NAME: &str = "LISSOM-PROBE";

/// Where it lies.
pub(crate) fn path(directory: &Path) -> PathBuf {
    directory.join(NAME)
}

/// Has the device measured at the next open.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn leave(directory: &Path) -> Result<()> {
    let path = path(directory);
    File::create(&path)
        .and_then(|file| file.sync_all())
        .map_err(|error| Error::io("write", &path, &error))?;
    super::sync_directory(directory)
}

/// Removes one that was left. Whether there was one.
///
/// # Errors
/// When it cannot be removed.
pub(crate) fn take(directory: &Path) -> Result<bool> {
    let path = path(directory);
    let was_there = path.exists();
    super::remove_file(&path)?;
    Ok(was_there)
}

/// The system's number for the device that a directory lies on; `None` where it cannot be
/// told.
#[cfg(unix)]
pub(crate) fn device_id(directory: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::metadata(directory).ok()?;
    Some(metadata.dev())
}

#[cfg(not(unix))]
pub(crate) fn device_id(_: &Path) -> Option<u64> {
    None
}
