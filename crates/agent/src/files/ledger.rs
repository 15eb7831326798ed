//! The state files: the original settings of every server that may still have others,
//! from before the first change until they are restored.
//!
//! ```text
//! {"lissom_attach":1,"leases":[{"identity":"...","families":{...}}]}
//! ```
//!
//! Each address has a file of its own, named after it. A server may be reached at several:
//! its lease is looked for in all files of the directory, and forgotten wherever it lies.
//! Nothing is kept in memory, since another agent may restore a server that this one left.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::store::{is_locked, lock, lock_for_change, read, save};
use crate::decide::Lease;
use crate::error::{Error, Result};

/// The state file of one address, which nobody else has meanwhile, and those beside it.
#[derive(Debug)]
pub(crate) struct Ledger {
    path: PathBuf,
    _lock: File,
}

impl Ledger {
    /// A missing file is an empty one.
    ///
    /// # Errors
    /// When another agent has it, or when it is there and cannot be used: what it
    /// held must not be forgotten.
    pub(crate) fn open(path: PathBuf) -> Result<Ledger> {
        let lock = lock(&path.with_extension("lock"))?;
        read(&path)?;
        Ok(Ledger { path, _lock: lock })
    }

    /// All that was recorded at this address and is not restored yet.
    pub(crate) fn leases(&self) -> Result<Vec<Lease>> {
        read(&self.path)
    }

    /// All that was recorded of one server, at whatever address. It may have been started
    /// anew since.
    ///
    /// # Errors
    /// When nothing is found and a file that may hold it cannot be read.
    pub(crate) fn of_server(&self, identity: &str) -> Result<Vec<Lease>> {
        let mut leases: Vec<Lease> = Vec::new();
        let mut all_read = Ok(());
        for path in self.files()? {
            match read(&path) {
                Ok(found) => leases.extend(found),
                Err(error) => all_read = Err(error),
            }
        }
        leases.retain(|lease| lease.identity == identity);
        if leases.is_empty() {
            all_read?;
        }
        Ok(leases)
    }

    /// All that no agent has which is still there, in the files that can be read.
    pub(crate) fn left(&self) -> Result<Vec<Lease>> {
        let mut leases = Vec::new();
        for path in self.files()? {
            if path == self.path || !is_locked(&path.with_extension("lock")) {
                leases.extend(read(&path).unwrap_or_default());
            }
        }
        Ok(leases)
    }

    /// Whether nothing at all is recorded, at any address.
    pub(crate) fn is_empty(&self) -> Result<bool> {
        for path in self.files()? {
            // What cannot be read is not nothing.
            if !read(&path).is_ok_and(|leases| leases.is_empty()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Puts a server's lease down; when this returns it is on the disk. Column families that
    /// are recorded of the same run already and are not in it stay: they are still to be
    /// restored.
    pub(crate) fn record(&self, lease: &Lease) -> Result<()> {
        let _changing = change(&self.path)?;
        let mut leases = read(&self.path)?;
        let earlier = leases.iter().filter(|it| it.is_of_same_run(lease));
        let whole = earlier.fold(lease.clone(), Lease::with);
        if leases.contains(&whole) {
            return Ok(());
        }
        leases.retain(|it| !it.is_of_same_run(lease));
        leases.push(whole);
        save(&self.path, leases)
    }

    /// A server was started anew: it has its configured settings.
    pub(crate) fn forget(&self, lease: &Lease) -> Result<()> {
        replace(&self.path, lease, |_| None).map(drop)
    }

    /// Nothing was changed of a server, so that nothing is to be restored. What is recorded of
    /// the same run of it as changed is another agent's, and stays.
    pub(crate) fn forget_unchanged(&self, lease: &Lease) -> Result<()> {
        forget_unchanged(&self.path, lease)
    }

    /// A server has its original settings, but for what is left. Returns the files in which
    /// something is still recorded of this run of it.
    pub(crate) fn settle(&self, lease: &Lease, left: Option<&Lease>) -> Result<Vec<PathBuf>> {
        settle(&self.path, lease, left)
    }

    fn files(&self) -> Result<Vec<PathBuf>> {
        files(&self.path)
    }
}

/// A server has its original settings, but for what is left, and the agent that had the state
/// file is gone. If another one has it, that one looks after it. Of a lease by which nothing was
/// changed nothing need be restored.
pub(crate) fn settle_orphaned(state: &Path, lease: &Lease, left: Option<&Lease>) -> Result<()> {
    if is_locked(&state.with_extension("lock")) {
        return Ok(());
    }
    if !lease.may_be_changed() {
        return forget_unchanged(state, lease);
    }
    settle(state, lease, left).map(drop)
}

fn settle(state: &Path, lease: &Lease, left: Option<&Lease>) -> Result<Vec<PathBuf>> {
    replace(state, lease, |recorded| recorded.without(lease, left))
}

fn forget_unchanged(state: &Path, lease: &Lease) -> Result<()> {
    let is_changed = |recorded: &Lease| recorded.may_be_changed().then(|| recorded.clone());
    replace(state, lease, is_changed).map(drop)
}

/// Replaces all that is recorded of a lease's run, at whatever address. Returns the files in
/// which something still is.
fn replace(
    state: &Path,
    lease: &Lease,
    becomes: impl Fn(&Lease) -> Option<Lease>,
) -> Result<Vec<PathBuf>> {
    let _changing = change(state)?;
    let mut holding = Vec::new();
    for path in files(state)? {
        // Another address's file may be damaged.
        let Ok(leases) = read(&path) else {
            continue;
        };
        let (before, others): (Vec<Lease>, Vec<Lease>) =
            leases.into_iter().partition(|it| it.is_of_same_run(lease));
        let after: Vec<Lease> = before.iter().filter_map(&becomes).collect();
        let holds = !after.is_empty();
        if after != before {
            save(&path, [others, after].concat())?;
        }
        if holds {
            holding.push(path);
        }
    }
    Ok(holding)
}

fn change(state: &Path) -> Result<File> {
    lock_for_change(&directory(state).join("attach.lock"))
}

fn directory(state: &Path) -> &Path {
    state.parent().unwrap_or(Path::new("."))
}

/// A state file, and then those of all other addresses.
fn files(state: &Path) -> Result<Vec<PathBuf>> {
    let directory = directory(state);
    let cannot = |error: std::io::Error| Error::io("list", directory, &error);
    let mut others = Vec::new();
    for entry in fs::read_dir(directory).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if path != state && is_state_file(&path) {
            others.push(path);
        }
    }
    others.sort();
    others.insert(0, state.to_owned());
    Ok(others)
}

fn is_state_file(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or("");
    name.starts_with("attach-") && name.ends_with(".state")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::usual_lease;

    #[test]
    fn what_is_recorded_is_found_until_it_is_forgotten() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("deep/er/a.state");
        let ledger = Ledger::open(path.clone()).expect("nothing there");
        assert_eq!(ledger.is_empty(), Ok(true));
        for identity in ["a", "b", "a"] {
            ledger.record(&usual_lease(identity)).expect("written");
        }
        let taken = Ledger::open(path.clone()).expect_err("the first has it");
        assert!(taken.to_string().contains("another agent holds"), "{taken}");
        drop(ledger);
        let again = Ledger::open(path.clone()).expect("readable");
        assert_eq!(again.leases().expect("readable").len(), 2);
        assert_eq!(again.of_server("b"), Ok(vec![usual_lease("b")]));
        again.forget(&usual_lease("a")).expect("written");
        assert!(path.exists());
        again.forget(&usual_lease("b")).expect("removed");
        again.forget(&usual_lease("b")).expect("gone already");
        assert!(!path.exists());
        assert_eq!(again.is_empty(), Ok(true));
    }

    #[test]
    fn what_could_not_be_written_is_not_recorded() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.state");
        let ledger = Ledger::open(path.clone()).expect("nothing there");
        fs::create_dir(path.with_extension("tmp")).expect("in the way");
        for _ in 0..2 {
            ledger.record(&usual_lease("a")).expect_err("in the way");
        }
        fs::remove_dir(path.with_extension("tmp")).expect("out of the way");
        ledger.record(&usual_lease("a")).expect("written");
        assert_eq!(read(&path), Ok(vec![usual_lease("a")]));
    }

    #[test]
    fn a_lease_is_found_and_forgotten_under_another_address() {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(format!("attach-{name}.state"));
        let first = Ledger::open(at("db1")).expect("nothing there");
        first.record(&usual_lease("a")).expect("written");
        first.record(&usual_lease("b")).expect("written");
        let second = Ledger::open(at("db2")).expect("nothing there");
        assert_eq!(second.leases(), Ok(Vec::new()));
        assert_eq!(second.is_empty(), Ok(false));
        assert_eq!(second.of_server("a"), Ok(vec![usual_lease("a")]));
        assert_eq!(second.left(), Ok(Vec::new()), "an agent still has them");
        second.forget(&usual_lease("a")).expect("written");
        // The first agent must not bring back what the second one has restored.
        first.record(&usual_lease("c")).expect("written");
        assert_eq!(second.of_server("a"), Ok(Vec::new()));
        drop(first);
        let left = second.left().expect("readable");
        assert_eq!(left, [usual_lease("b"), usual_lease("c")]);
    }

    #[test]
    fn what_is_left_stays_beside_what_is_recorded_later() {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(format!("attach-{name}.state"));
        let ledger = Ledger::open(at("db1")).expect("nothing there");
        let usual = usual_lease("a");
        let mut both = usual.clone();
        both.families
            .insert("cf_hot".into(), usual.families["default"]);
        let left = both.without(&usual, None).expect("cf_hot");
        ledger.record(&both).expect("written");
        assert_eq!(ledger.settle(&both, Some(&left)), Ok(vec![at("db1")]));
        assert_eq!(ledger.leases(), Ok(vec![left.clone()]));
        ledger.record(&usual).expect("written");
        assert_eq!(ledger.leases(), Ok(vec![both]));
        assert_eq!(ledger.settle(&usual, None), Ok(vec![at("db1")]));
        assert_eq!(ledger.leases(), Ok(vec![left.clone()]));
        let elsewhere = Ledger::open(at("db2")).expect("nothing there");
        assert_eq!(elsewhere.settle(&left, None), Ok(Vec::new()));
        assert!(!at("db1").exists());
    }

    #[test]
    fn what_an_agent_has_is_forgotten_by_itself_only() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.state");
        let ledger = Ledger::open(path.clone()).expect("nothing there");
        ledger.record(&usual_lease("a")).expect("written");
        settle_orphaned(&path, &usual_lease("a"), None).expect("left alone");
        assert_eq!(ledger.leases(), Ok(vec![usual_lease("a")]));
        drop(ledger);
        settle_orphaned(&path, &usual_lease("a"), None).expect("written");
        assert!(!path.exists());
    }

    #[test]
    fn a_damaged_file_of_another_address_keeps_nobody_from_what_can_be_read() {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(format!("attach-{name}.state"));
        fs::write(at("damaged"), "{").expect("writable");
        let ledger = Ledger::open(at("db1")).expect("nothing there");
        assert_eq!(ledger.is_empty(), Ok(false));
        let may_be_there = || {
            let error = ledger.of_server("a").expect_err("it may be in that file");
            error.to_string().contains("is damaged")
        };
        assert!(may_be_there());
        ledger.record(&usual_lease("a")).expect("written");
        assert_eq!(ledger.of_server("a"), Ok(vec![usual_lease("a")]));
        assert_eq!(ledger.left(), Ok(vec![usual_lease("a")]));
        ledger.forget(&usual_lease("a")).expect("written");
        assert!(may_be_there());
    }

    #[test]
    fn a_lease_by_which_nothing_was_changed_takes_nothing_of_another_agents_along() {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(format!("attach-{name}.state"));
        let mut unchanged = usual_lease("a");
        for leased in unchanged.families.values_mut() {
            leased.changed = false;
        }
        let first = Ledger::open(at("db1")).expect("nothing there");
        first.record(&unchanged).expect("written");
        // It has followed at another address, and delays.
        let second = Ledger::open(at("db2")).expect("nothing there");
        second.record(&usual_lease("a")).expect("written");
        first.forget_unchanged(&unchanged).expect("written");
        assert_eq!(first.leases(), Ok(Vec::new()));
        assert_eq!(second.leases(), Ok(vec![usual_lease("a")]));
    }

    #[test]
    fn two_runs_of_a_server_have_a_lease_each() {
        let directory = tempfile::tempdir().expect("a directory");
        let ledger = Ledger::open(directory.path().join("a.state")).expect("nothing there");
        let mut later = usual_lease("a");
        later.started_at += 500;
        ledger.record(&usual_lease("a")).expect("written");
        ledger.record(&later).expect("written");
        ledger.forget(&usual_lease("a")).expect("written");
        assert_eq!(ledger.of_server("a"), Ok(vec![later]));
    }
}
