//! A disk that is soon full.
#![allow(dead_code)] // each test file uses its part

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A small disk of its own.
pub struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// None where this user may not mount one: then the test says that it is skipped. Where
    /// `LISSOM_MOUNTS` is set, as by `.ci/run` after a trial, or `LISSOM_NO_SKIP`, it fails.
    pub fn new(mebibytes: u32) -> Option<SmallDisk> {
        let place = tempfile::tempdir().expect("a temporary directory");
        match mount(mebibytes, place.path()) {
            Ok(()) => Some(SmallDisk(place)),
            Err(why) => {
                skip(&why);
                None
            }
        }
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Takes space away until it is removed.
    pub fn ballast(&self, mebibytes: usize) -> PathBuf {
        let path = self.path().join("ballast");
        std::fs::write(&path, vec![1; mebibytes << 20]).expect("there is space");
        path
    }
}

fn mount(mebibytes: u32, place: &Path) -> Result<(), String> {
    let output = Command::new("mount")
        .args(["-t", "tmpfs", "-o", &format!("size={mebibytes}m"), "tmpfs"])
        .arg(place)
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
}

fn skip(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let line = format!("skipped: {test}, for it must mount a small disk, as root may: {why}\n");
    for refused in ["LISSOM_MOUNTS", "LISSOM_NO_SKIP"] {
        assert!(std::env::var_os(refused).is_none(), "{line}");
    }
    // Written past `eprintln`, whose lines are not shown of tests that pass.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).output();
    }
}
