//! What a store must never do: lose, reorder or invent; and it says so when the
//! world around it breaks.

mod brake;
#[path = "../common/mod.rs"]
mod common;
mod crash;
mod faults;
mod learners;
mod metamorphic;
mod random;
mod replay;
#[path = "../common/small_disk.rs"]
mod small_disk;
mod support;

use std::time::Duration;

/// How long a tree may take to come to rest: far longer than it ever should.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A directory for one test, in memory where the system has a place for that:
/// thousands of small synced files are written here, and no test can see a disk
/// that loses its power.
pub fn scratch() -> tempfile::TempDir {
    let memory = std::path::Path::new("/dev/shm");
    // A container's mostly holds 64 MB.
    let free = rustix::fs::statvfs(memory).map_or(0, |disk| disk.f_bavail * disk.f_frsize);
    let made = if free >= 4 << 30 {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    };
    made.expect("a temporary directory")
}
