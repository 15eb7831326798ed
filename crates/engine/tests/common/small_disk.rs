//! A disk that is soon full.
#![allow(dead_code)] // each test file uses its part

use std::path::{Path, PathBuf};
use std::process::Command;

/// A small disk of its own; none where this user may not mount one.
pub struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    pub fn new(mebibytes: u32) -> Option<SmallDisk> {
        let place = tempfile::tempdir().expect("a temporary directory");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={mebibytes}m"), "tmpfs"])
            .arg(place.path())
            .output()
            .is_ok_and(|output| output.status.success());
        if !mounted {
            eprintln!("not tested: this user cannot mount a small disk");
        }
        mounted.then_some(SmallDisk(place))
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

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).output();
    }
}
