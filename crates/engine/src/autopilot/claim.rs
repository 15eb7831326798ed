//! One autopilot for a database. Two would overwrite each other's files by turns, and
//! each would take the other's compactions for somebody else's.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use crate::error::{Error, Result};

/// Directories whose database an autopilot of this process drives. Another process
/// cannot open them for writing.
static DRIVEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The right to drive the database in a directory, until it is dropped.
#[derive(Debug)]
pub(super) struct Claim(PathBuf);

impl Claim {
    /// # Errors
    /// When somebody has it.
    pub(super) fn to(directory: &Path) -> Result<Claim> {
        let real = directory.canonicalize();
        let real = real.unwrap_or_else(|_| directory.to_owned());
        if DRIVEN.lock().insert(real.clone()) {
            return Ok(Claim(real));
        }
        Err(Error::fix(format!(
            "an autopilot drives the database in {} already, as every Db has one inside: use \
             that one, or drop it first",
            directory.display()
        )))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        DRIVEN.lock().remove(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_claimed_by_one_at_a_time() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        let claim = Claim::to(path).expect("free");
        let error = Claim::to(&path.join(".")).expect_err("claimed");
        assert!(error.to_string().contains("already"), "{error}");
        let other = tempfile::tempdir().expect("a directory");
        let _other = Claim::to(other.path()).expect("free");
        drop(claim);
        let _again = Claim::to(path).expect("free again");
    }
}
