//! Whether the machine has room for what a search may need.

use std::path::Path;

use super::system;
use crate::error::{Result, TrialsError};

/// A disk with less than this is full.
const LEAST_FREE_BYTES: u64 = 16 << 20;
/// How the system says so.
const FULL: &str = "No space left on device";

/// Whether memory is free for all trials that may be alive at once: `most_alive`,
/// of which all but the running ones wait and keep what they hold, or, where they are
/// started anew instead, only the `workers` that run.
///
/// # Errors
/// There is not; what to lower. Nothing is refused where the system does not tell.
pub fn check_memory(
    most_alive: usize,
    workers: usize,
    memory_bytes: u64,
    restart: bool,
) -> Result<()> {
    match system::available_bytes() {
        Some(free) => admit(most_alive, workers, memory_bytes, restart, free),
        None => Ok(()),
    }
}

fn admit(
    most_alive: usize,
    workers: usize,
    memory_bytes: u64,
    restart: bool,
    free: u64,
) -> Result<()> {
    let alive = if restart { workers } else { most_alive };
    let alive = alive.max(1) as u64;
    let needed = alive.saturating_mul(memory_bytes);
    if needed <= free {
        return Ok(());
    }
    let (each, needed) = (amount(memory_bytes), amount(needed));
    let (fits, free) = (mebibytes(free / alive), amount(free));
    Err(TrialsError::new(if restart {
        format!(
            "{alive} trials of up to {each} run at once and may take {needed}, where {free} are \
             free: give a --memory of at most {fits}, or fewer --workers"
        )
    } else {
        format!(
            "up to {alive} trials of up to {each} are alive at once, since the better ones go on \
             after each comparison, and may take {needed}, where {free} are free: give a --memory \
             of at most {fits}, a shorter --budget, or --restart, which starts them anew instead"
        )
    }))
}

/// The directory's disk is full, by what a trial said or by what is free.
///
/// # Errors
/// It is; what to do.
pub(super) fn check_disk(directory: &Path, said: &str) -> Result<()> {
    let free = rustix::fs::statvfs(directory)
        .map_or(u64::MAX, |disk| disk.f_bavail.saturating_mul(disk.f_frsize));
    if free >= LEAST_FREE_BYTES && !said.contains(FULL) {
        return Ok(());
    }
    Err(TrialsError::new(format!(
        "the disk that holds the trials in {} is full, which no configuration is to blame for: \
         make room, or give another --directory",
        directory.display()
    )))
}

fn mebibytes(bytes: u64) -> String {
    format!("{}MiB", bytes >> 20)
}

/// Bytes for a sentence.
fn amount(bytes: u64) -> String {
    let mib = bytes as f64 / f64::from(1 << 20);
    if mib >= 1024.0 {
        format!("{:.1} GiB", mib / 1024.0)
    } else {
        format!("{mib:.0} MiB")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn what_waits_needs_memory_too() {
        admit(8, 1, GIB, false, 8 * GIB).expect("exactly enough");
        let error = admit(32, 1, GIB, false, 8 * GIB).expect_err("too much");
        let error = error.to_string();
        assert!(
            error.contains("up to 32 trials of up to 1.0 GiB are alive at once"),
            "{error}"
        );
        assert!(
            error.contains("take 32.0 GiB, where 8.0 GiB are free"),
            "{error}"
        );
        assert!(error.contains("a --memory of at most 256MiB"), "{error}");
        admit(32, 8, GIB, true, 8 * GIB).expect("only what runs counts");
        let error = admit(32, 9, GIB, true, 8 * GIB).expect_err("too much");
        assert!(error.to_string().contains("fewer --workers"), "{error}");
        admit(0, 0, 1, true, 1).expect("one at least");
    }

    #[test]
    fn a_full_disk_is_no_configurations_fault() {
        let directory = tempfile::tempdir().expect("a directory");
        check_disk(directory.path(), "Corruption: bad block").expect("there is room");
        let said = "IO error: No space left on device: while appending to 000012.sst";
        let error = check_disk(directory.path(), said).expect_err("full");
        assert!(error.to_string().contains("make room"), "{error}");
    }
}
