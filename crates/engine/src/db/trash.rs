//! Logs that wait to be deleted when a store closes.

use std::fs;
use std::path::Path;

use crate::file_names::{ARCHIVE, is_trash};

/// Deletes those of an archive, which RocksDB looks through at no open. What cannot be deleted
/// takes space until the next one, and does no other harm.
pub(super) fn clear_archive(database: &Path) {
    let entries = fs::read_dir(database.join(ARCHIVE));
    for entry in entries.into_iter().flatten().flatten() {
        if is_trash(&entry.file_name().to_string_lossy()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
