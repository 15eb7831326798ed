//! A database's files in another directory, without copying its tables.

use std::fs;
use std::path::Path;

use crate::durable;
use crate::error::{Place, Result};

/// Table files never change, so a second name is as good as a copy. Everything else is
/// copied, but for RocksDB's lock and its messages. All of it is on the device when this
/// returns.
pub(super) fn link(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from).place(from.display())? {
        let entry = entry.place(from.display())?;
        let (source, name) = (entry.path(), entry.file_name());
        let text = name.to_string_lossy();
        if text.starts_with("LOG") || text == "LOCK" {
            continue;
        }
        let target = to.join(&name);
        // Another file system, or one without second names, takes a copy.
        let linked = text.ends_with(".sst") && fs::hard_link(&source, &target).is_ok();
        if !linked {
            durable::copy(&source, &target)?;
        }
    }
    durable::sync(to)
}
