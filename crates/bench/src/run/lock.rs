//! One run at a time writes a directory: two would open each other's databases.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use crate::error::{BenchError, Place, Result};

const LOCK_FILE: &str = "results.lock";

/// A directory that nobody else writes until this is dropped, or the process ends.
pub(crate) struct Held(File);

impl Drop for Held {
    fn drop(&mut self) {
        // Closing it would not do while a child is being started, which has it too until then.
        let _ = self.0.unlock();
    }
}

/// Holds a directory, which is there.
///
/// # Errors
/// Where another run holds it, or it cannot be written.
pub(crate) fn hold(out: &Path) -> Result<Held> {
    let path = out.join(LOCK_FILE);
    let place = path.display().to_string();
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .place(&place)?;
    match file.try_lock() {
        Ok(()) => Ok(Held(file)),
        Err(TryLockError::WouldBlock) => Err(BenchError::new(format!(
            "another run writes {}: wait for it, or give another --out",
            out.display()
        ))),
        Err(TryLockError::Error(error)) => Err(error).place(format!("{place} cannot be locked")),
    }
}
