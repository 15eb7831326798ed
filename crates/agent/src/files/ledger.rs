//! The state file: the original settings of every server that may still have
//! others, from before the first change until they are restored.
//!
//! ```text
//! {"lissom_attach":1,"leases":[{"identity":"...","families":{...}}]}
//! ```

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::decide::Lease;
use crate::error::{Error, Result};

/// The newest format that this version writes and reads.
const VERSION: u32 = 1;

/// The state file of one address.
#[derive(Debug)]
pub(crate) struct Ledger {
    path: PathBuf,
    leases: Vec<Lease>,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    lissom_attach: u32,
    leases: Vec<Lease>,
}

impl Ledger {
    /// Reads the file; a missing one is empty.
    ///
    /// # Errors
    /// When it is there and cannot be used: what it held must not be forgotten.
    pub(crate) fn open(path: PathBuf) -> Result<Ledger> {
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let leases = Vec::new();
                return Ok(Ledger { path, leases });
            }
            Err(error) => return Err(Error::io("read", &path, &error)),
        };
        let stored: Stored = serde_json::from_str(&text).map_err(|error| {
            Error::fix(format!(
                "{} is damaged ({error}) and held a server's original settings: restart that \
                 server, which then has them, and remove the file",
                path.display()
            ))
        })?;
        if stored.lissom_attach > VERSION {
            return Err(Error::fix(format!(
                "{} has format {}, this version of Lissom knows formats up to {VERSION}: use the \
                 version that wrote it",
                path.display(),
                stored.lissom_attach
            )));
        }
        Ok(Ledger {
            path,
            leases: stored.leases,
        })
    }

    /// All that is not restored yet.
    pub(crate) fn leases(&self) -> &[Lease] {
        &self.leases
    }

    /// That of one server.
    pub(crate) fn lease(&self, identity: &str) -> Option<&Lease> {
        self.leases.iter().find(|lease| lease.identity == identity)
    }

    /// Puts a server's lease down; when this returns it is on the disk.
    pub(crate) fn record(&mut self, lease: &Lease) -> Result<()> {
        if self.lease(&lease.identity) == Some(lease) {
            return Ok(());
        }
        self.leases.retain(|it| it.identity != lease.identity);
        self.leases.push(lease.clone());
        self.save()
    }

    /// A server has its original settings.
    pub(crate) fn forget(&mut self, identity: &str) -> Result<()> {
        self.leases.retain(|it| it.identity != identity);
        if !self.leases.is_empty() {
            return self.save();
        }
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(Error::io("remove", &self.path, &error))
            }
            _ => Ok(()),
        }
    }

    fn save(&self) -> Result<()> {
        let directory = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(directory).map_err(|error| Error::io("create", directory, &error))?;
        let stored = Stored {
            lissom_attach: VERSION,
            leases: self.leases.clone(),
        };
        let text = serde_json::to_string(&stored).map_err(|error| {
            Error::fix(format!(
                "the original settings are not JSON: {error}; report this"
            ))
        })?;
        let draft = self.path.with_extension("tmp");
        write_durably(&draft, text.as_bytes())
            .and_then(|()| fs::rename(&draft, &self.path))
            .and_then(|()| File::open(directory)?.sync_all())
            .map_err(|error| Error::io("write", &self.path, &error))
    }
}

fn write_durably(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::usual_lease;

    #[test]
    fn what_is_recorded_is_found_until_it_is_forgotten() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("deep/er/a.state");
        let mut ledger = Ledger::open(path.clone()).expect("nothing there");
        for identity in ["a", "b", "a"] {
            ledger.record(&usual_lease(identity)).expect("written");
        }
        let mut again = Ledger::open(path.clone()).expect("readable");
        assert_eq!(again.leases().len(), 2);
        assert_eq!(again.lease("b"), Some(&usual_lease("b")));
        again.forget("a").expect("written");
        assert!(path.exists());
        again.forget("b").expect("removed");
        again.forget("b").expect("gone already");
        assert!(!path.exists());
    }

    #[test]
    fn a_damaged_or_newer_file_is_never_taken_for_an_empty_one() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.state");
        for (text, words) in [
            ("", "is damaged"),
            ("{\"lissom_attach\":1,\"leases\":[{", "remove the file"),
            ("{\"lissom_attach\":9,\"leases\":[]}", "has format 9"),
        ] {
            fs::write(&path, text).expect("writable");
            let error = Ledger::open(path.clone()).err().expect("unusable");
            assert!(error.to_string().contains(words), "{error}");
        }
    }
}
