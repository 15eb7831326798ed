//! Lissom's own files in a database directory. RocksDB leaves them alone; losing
//! them costs learning, never data.
//!
//! | file | holds |
//! |---|---|
//! | `LISSOM` | run limits and why they are so, drains, guard keys, what tuners learned |
//! | `LISSOM.format-N` | the same, as a newer version of Lissom left it |
//! | `LISSOM.damaged` | the same, as it was when it could not be read |
//! | `LISSOM-JOURNAL`, `LISSOM-JOURNAL.old` | every decision, a line of JSON each |
//! | `LISSOM-PIN` | its presence holds the limits |
//! | `LISSOM-COMPACT` | column families that someone wants merged into one run |
//! | `LISSOM-APPLY`, `LISSOM-APPLIED` | options and settings that someone wants, and what came of them |
//! | `LISSOM-REBUILD` | marks the directories of a rebuild by `lissom apply --rewrite` |
//! | `LISSOM-PROBE` | is there while the device is measured, and where it shall be at the next open |

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

pub(crate) mod application;
pub(crate) mod checked;
pub(crate) mod checksum;
pub(crate) mod journal;
pub(crate) mod pin;
pub(crate) mod probe;
pub(crate) mod request;
pub(crate) mod state;
mod stored_schedule;

/// Removes a file; one that is not there is removed already.
///
/// # Errors
/// When it cannot be removed.
pub(crate) fn remove_file(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::io("remove", path, &error)),
        _ => Ok(()),
    }
}

/// Makes the names in a directory durable.
///
/// # Errors
/// When the directory cannot be opened, or its disk fails.
pub(crate) fn sync_directory(directory: &Path) -> Result<()> {
    File::open(directory)
        .and_then(|opened| opened.sync_all())
        .map_err(|error| Error::io("write", directory, &error))
}

/// Whoever asks a store for something may be another user than the one that runs it, and have a
/// strict umask.
fn let_all_read(path: &Path) -> std::io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(0o644))
}

/// The files of a directory whose names begin with one of these.
fn beginning_with(directory: &Path, names: &[&str]) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter(|entry| {
            let file = entry.file_name();
            let file = file.to_string_lossy();
            names.iter().any(|name| file.starts_with(name))
        })
        .map(|entry| entry.path())
        .collect()
}
