//! Lissom's own files in a database directory. RocksDB leaves them alone; losing
//! them costs learning, never data.
//!
//! | file | holds |
//! |---|---|
//! | `LISSOM` | run limits, drains, guard keys, what tuners learned |
//! | `LISSOM-JOURNAL`, `LISSOM-JOURNAL.old` | every decision, a line of JSON each |
//! | `LISSOM-PIN` | its presence holds the limits |
//! | `LISSOM-COMPACT` | column families that someone wants merged into one run |
//! | `LISSOM-APPLY`, `LISSOM-APPLIED` | options and settings that someone wants, and what came of them |
//! | `LISSOM-PROBE` | is there while the device is measured |

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) mod application;
pub(crate) mod checked;
pub(crate) mod checksum;
pub(crate) mod journal;
pub(crate) mod pin;
pub(crate) mod probe;
pub(crate) mod request;
pub(crate) mod state;

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
