//! State files on the disk: read whole, replaced whole, locked while they are used.

use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::decide::Lease;
use crate::error::{Error, Result};

/// The newest format that this version writes and reads.
const VERSION: u32 = 1;
/// For another agent that changes a file of the same directory just then.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(10);

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

/// Replaces a state file; when this returns it is on the disk. Without leases there is
/// no file.
pub(super) fn save(path: &Path, leases: Vec<Lease>) -> Result<()> {
    if leases.is_empty() {
        return remove(path);
    }
    let stored = Stored {
        lissom_attach: VERSION,
        leases,
    };
    let text = serde_json::to_string(&stored).map_err(|error| {
        Error::fix(format!(
            "the original settings are not JSON: {error}; report this"
        ))
    })?;
    let directory = create_parent(path)?;
    let draft = path.with_extension("tmp");
    write_durably(&draft, text.as_bytes())
        .and_then(|()| fs::rename(&draft, path))
        .and_then(|()| File::open(directory)?.sync_all())
        .map_err(|error| Error::io("write", path, &error))
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::io("remove", path, &error)),
        _ => Ok(()),
    }
}

/// Whoever holds it has the state file beside it for as long as it lives.
pub(super) fn lock(path: &Path) -> Result<File> {
    let file = open_lock(path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::fix(format!(
            "another agent holds {}: stop it, or give this one another directory with --state",
            path.display()
        ))),
        Err(TryLockError::Error(error)) => Err(Error::io("lock", path, &error)),
    }
}

/// Whoever holds it may change any file of the directory. It is held for moments.
pub(super) fn lock_for_change(path: &Path) -> Result<File> {
    let file = open_lock(path)?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => {
                return Err(Error::lost(format!(
                    "another agent has held {} for {} s: look whether it hangs",
                    path.display(),
                    PATIENCE.as_secs()
                )));
            }
            Err(TryLockError::Error(error)) => return Err(Error::io("lock", path, &error)),
        }
    }
}

/// Whether somebody holds a lock.
pub(super) fn is_locked(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// The lock ends with the process that holds it, however that ends.
fn open_lock(path: &Path) -> Result<File> {
    create_parent(path)?;
    File::options()
        .create(true)
        .append(true)
        .open(path)
        .map_err(|error| Error::io("open", path, &error))
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
    fn a_damaged_or_newer_file_is_never_taken_for_an_empty_one() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.state");
        for (text, words) in [
            ("", "is damaged"),
            ("{\"lissom_attach\":1,\"leases\":[{", "remove the file"),
            ("{\"lissom_attach\":9,\"rows\":[]}", "has format 9"),
        ] {
            fs::write(&path, text).expect("writable");
            let error = read(&path).expect_err("unusable");
            assert!(error.to_string().contains(words), "{error}");
        }
        let lease = serde_json::to_string(&usual_lease("a")).expect("JSON");
        let lease = lease.replace("\"default\"", "\"x'; --\"");
        let text = format!("{{\"lissom_attach\":1,\"leases\":[{lease}]}}");
        fs::write(&path, text).expect("writable");
        let error = read(&path).expect_err("a name that is none");
        assert!(
            error.to_string().contains("names a column family"),
            "{error}"
        );
    }

    #[test]
    fn a_lease_of_before_its_first_sight_was_kept_is_read() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.state");
        let lease = serde_json::to_string(&usual_lease("a")).expect("JSON");
        let older = lease.replace("\"seen_at\":1000,", "");
        assert_ne!(older, lease);
        let text = format!("{{\"lissom_attach\":1,\"leases\":[{older}]}}");
        fs::write(&path, text).expect("writable");
        assert_eq!(read(&path).expect("readable")[0].seen_at, 0);
    }

    #[test]
    fn a_family_of_before_its_changes_were_noted_may_have_been_changed() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.state");
        let mut untouched = usual_lease("a");
        for leased in untouched.families.values_mut() {
            leased.changed = false;
        }
        save(&path, vec![untouched.clone()]).expect("written");
        assert_eq!(read(&path), Ok(vec![untouched]));
        let text = fs::read_to_string(&path).expect("readable");
        let older = text.replace(",\"changed\":false", "");
        assert_ne!(older, text);
        fs::write(&path, older).expect("writable");
        assert_eq!(read(&path), Ok(vec![usual_lease("a")]));
    }

    #[test]
    fn a_change_waits_for_the_one_before_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.lock");
        assert!(!is_locked(&path), "nobody has made it");
        let first = lock_for_change(&path).expect("free");
        assert!(is_locked(&path));
        let error = lock_for_change(&path).expect_err("it is held");
        assert!(error.to_string().contains("has held"), "{error}");
        drop(first);
        lock_for_change(&path).expect("free again");
        assert!(!is_locked(&path));
    }
}
