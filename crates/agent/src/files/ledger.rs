//! The state file: the original settings of every server that may still have
//! others, from before the first change until they are restored.
//!
//! ```text
//! {"lissom_attach":1,"leases":[{"identity":"...","families":{...}}]}
//! ```

use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::decide::Lease;
use crate::error::{Error, Result};

/// The newest format that this version writes and reads.
const VERSION: u32 = 1;

/// The state file of one address. Nobody else has it meanwhile.
#[derive(Debug)]
pub(crate) struct Ledger {
    path: PathBuf,
    leases: Vec<Lease>,
    _lock: File,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    lissom_attach: u32,
    leases: Vec<Lease>,
}

/// What every format begins with.
#[derive(Deserialize)]
struct Format {
    lissom_attach: u32,
}

impl Ledger {
    /// Reads the file; a missing one is empty.
    ///
    /// # Errors
    /// When another agent has it, or when it is there and cannot be used: what it
    /// held must not be forgotten.
    pub(crate) fn open(path: PathBuf) -> Result<Ledger> {
        let lock = lock(&path.with_extension("lock"))?;
        let leases = read(&path)?;
        Ok(Ledger {
            path,
            leases,
            _lock: lock,
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
        let mut leases = self.all_but(&lease.identity);
        leases.push(lease.clone());
        self.save(leases)
    }

    /// A server has its original settings.
    pub(crate) fn forget(&mut self, identity: &str) -> Result<()> {
        let leases = self.all_but(identity);
        if !leases.is_empty() {
            return self.save(leases);
        }
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(Error::io("remove", &self.path, &error))
            }
            _ => {
                self.leases = leases;
                Ok(())
            }
        }
    }

    fn all_but(&self, identity: &str) -> Vec<Lease> {
        let others = self.leases.iter().filter(|it| it.identity != identity);
        others.cloned().collect()
    }

    /// Only what is on the disk counts as recorded.
    fn save(&mut self, leases: Vec<Lease>) -> Result<()> {
        let directory = create_parent(&self.path)?;
        let stored = Stored {
            lissom_attach: VERSION,
            leases,
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
            .map_err(|error| Error::io("write", &self.path, &error))?;
        self.leases = stored.leases;
        Ok(())
    }
}

/// The lock ends with the process that holds it, however that ends.
fn lock(path: &Path) -> Result<File> {
    create_parent(path)?;
    let file = File::options()
        .create(true)
        .append(true)
        .open(path)
        .map_err(|error| Error::io("open", path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::fix(format!(
            "another agent holds {}: stop it, or give this one another directory with --state",
            path.display()
        ))),
        Err(TryLockError::Error(error)) => Err(Error::io("lock", path, &error)),
    }
}

/// The leases in a state file; none when it is missing.
pub(crate) fn read(path: &Path) -> Result<Vec<Lease>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("read", path, &error)),
    };
    let damaged = |why: &str| {
        Error::fix(format!(
            "{} is damaged ({why}) and held a server's original settings: restart that server, \
             which then has them, and remove the file",
            path.display()
        ))
    };
    let format: Format =
        serde_json::from_str(&text).map_err(|error| damaged(&error.to_string()))?;
    if format.lissom_attach > VERSION {
        return Err(Error::fix(format!(
            "{} has format {}, this version of Lissom knows formats up to {VERSION}: use the \
             version that wrote it",
            path.display(),
            format.lissom_attach
        )));
    }
    let stored: Stored =
        serde_json::from_str(&text).map_err(|error| damaged(&error.to_string()))?;
    if stored.leases.iter().all(Lease::is_legal) {
        Ok(stored.leases)
    } else {
        Err(damaged("it names a column family that nobody could change"))
    }
}

fn create_parent(path: &Path) -> Result<&Path> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory).map_err(|error| Error::io("create", directory, &error))?;
    Ok(directory)
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
        let taken = Ledger::open(path.clone()).expect_err("the first has it");
        assert!(taken.to_string().contains("another agent holds"), "{taken}");
        drop(ledger);
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
    fn what_could_not_be_written_is_not_recorded() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.state");
        let mut ledger = Ledger::open(path.clone()).expect("nothing there");
        fs::create_dir(path.with_extension("tmp")).expect("in the way");
        for _ in 0..2 {
            ledger.record(&usual_lease("a")).expect_err("in the way");
        }
        fs::remove_dir(path.with_extension("tmp")).expect("out of the way");
        ledger.record(&usual_lease("a")).expect("written");
        assert_eq!(read(&path), Ok(vec![usual_lease("a")]));
    }

    #[test]
    fn a_damaged_or_newer_file_is_never_taken_for_an_empty_one() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.state");
        for (text, words) in [
            ("", "is damaged"),
            ("{\"lissom_attach\":1,\"leases\":[{", "remove the file"),
            ("{\"lissom_attach\":9,\"rows\":[]}", "has format 9"),
        ] {
            fs::write(&path, text).expect("writable");
            let error = Ledger::open(path.clone()).expect_err("unusable");
            assert!(error.to_string().contains(words), "{error}");
        }
        let lease = serde_json::to_string(&usual_lease("a")).expect("JSON");
        let lease = lease.replace("\"default\"", "\"x'; --\"");
        let text = format!("{{\"lissom_attach\":1,\"leases\":[{lease}]}}");
        fs::write(&path, text).expect("writable");
        let error = Ledger::open(path).expect_err("a name that is none");
        assert!(
            error.to_string().contains("names a column family"),
            "{error}"
        );
    }
}
