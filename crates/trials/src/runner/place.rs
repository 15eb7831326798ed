//! Directories of trials.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use lissom_search::Fingerprint;

use super::leftovers::{self, RECORD};
use super::system;
use crate::error::{Result, TrialsError};

/// The file in the root that says that it was made for a search, and goes with the last one.
const ROOT_MARK: &str = ".lissom-trials";
/// The directory in the root that trials share.
const SHARED: &str = "shared";
/// The file in it that says that it was made for a search, and for which
/// ([`Plan::identity`](crate::session::Plan::identity)), and goes with it.
const SHARED_MARK: &str = "of-a-search";
/// The directory in that of a trial that belongs to the child.
const DATA: &str = "data";
/// More directories of one name than this are a mistake.
const MOST_OF_A_NAME: u32 = 10_000;
/// A directory whose processes are just ending is removed within so many attempts.
const ATTEMPTS: u32 = 20;
/// Between two of them.
const PAUSE: Duration = Duration::from_millis(25);

/// The directory that holds those of all trials. Nobody else has it meanwhile.
#[derive(Debug)]
pub(crate) struct Root {
    path: PathBuf,
    keep: bool,
    /// Whether it was made for a search, and goes with it.
    made: bool,
    /// Whether the search has ended, and nobody needs any more what its trials share.
    ended: bool,
    lock: File,
}

impl Root {
    /// Makes the directory if it is missing, and ends and removes what a search that
    /// was killed has left in it.
    pub fn open(path: &Path, keep: bool) -> Result<Root> {
        let made = !path.exists();
        fs::create_dir_all(path).map_err(|error| TrialsError::io("create", path, &error))?;
        let path = path
            .canonicalize()
            .map_err(|error| TrialsError::io("find", path, &error))?;
        if path.to_str().is_none() {
            return Err(TrialsError::new(format!(
                "the directory {} has a name that is no text, which no command can be given: \
                 choose another --directory",
                path.display()
            )));
        }
        let lock = lock(&path)?;
        let mark = path.join(ROOT_MARK);
        if made {
            fs::write(&mark, "").map_err(|error| TrialsError::io("write", &mark, &error))?;
        }
        leftovers::clear(&path, keep)?;
        Ok(Root {
            made: mark.exists(),
            path,
            keep,
            ended: false,
            lock,
        })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory that all trials share.
    pub fn shared(&self) -> PathBuf {
        self.path.join(SHARED)
    }

    /// Makes that directory for a search, unless it is there. What was made for another one, or
    /// nobody tells for which, would be measured as if this one had loaded it: it goes, or stays
    /// under the name that is given.
    pub fn share(&self, search: &Fingerprint) -> Result<Option<PathBuf>> {
        let shared = self.shared();
        let is_of_another = is_of_a_search(&shared) && !is_of(&shared, search)?;
        let kept = if is_of_another {
            self.put_away(&shared)?
        } else {
            None
        };
        make_shared(&shared, search)?;
        Ok(kept)
    }

    /// The same, without what any search has left in it, unless that is to be kept.
    pub fn share_anew(&self, search: &Fingerprint) -> Result<Option<PathBuf>> {
        let shared = self.shared();
        if !self.keep && is_of_a_search(&shared) {
            self.put_away(&shared)?;
        }
        self.share(search)
    }

    /// Removes what trials shared; what is to be kept gets another name, which is given.
    fn put_away(&self, shared: &Path) -> Result<Option<PathBuf>> {
        if !self.keep || is_unused(shared) {
            remove_marked(shared, SHARED_MARK)
                .map_err(|error| TrialsError::io("remove", shared, &error))?;
            return Ok(None);
        }
        let mut names = (2..MOST_OF_A_NAME).map(|it| self.numbered(SHARED, it));
        // What a dangling link stands for is no free name either.
        let free = names.find(|it| fs::symlink_metadata(it).is_err());
        let free = free.ok_or_else(|| self.too_many(SHARED))?;
        fs::rename(shared, &free).map_err(|error| TrialsError::io("rename", shared, &error))?;
        Ok(Some(free))
    }

    /// What trials share goes with this directory: the search has ended. Otherwise it stays for
    /// the search to go on with.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// A directory for a trial; `label` and, where that exists, a number. It comes with its mark
    /// at once, or a search that is killed meanwhile would leave one that passes for the user's.
    pub fn place(&self, label: &str) -> Result<Place> {
        let mut names = (1..MOST_OF_A_NAME).map(|it| self.numbered(label, it));
        let free = names.find(|it| fs::symlink_metadata(it).is_err());
        let path = free.ok_or_else(|| self.too_many(label))?;
        let begun = self.path.join(leftovers::BEGUN);
        remove_all(&begun).map_err(|error| TrialsError::io("remove", &begun, &error))?;
        furnish(&begun).map_err(|error| TrialsError::io("create", &path, &error))?;
        fs::rename(&begun, &path).map_err(|error| TrialsError::io("create", &path, &error))?;
        let keep = self.keep;
        Ok(Place { path, keep })
    }

    /// The path of this name; the first one has no number.
    fn numbered(&self, label: &str, number: u32) -> PathBuf {
        match number {
            1 => self.path.join(label),
            _ => self.path.join(format!("{label}-{number}")),
        }
    }

    fn too_many(&self, label: &str) -> TrialsError {
        TrialsError::new(format!(
            "{} holds too many directories named {label}: remove them, or choose another \
             --directory",
            self.path.display()
        ))
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let shared = self.shared();
        let is_done_with = self.ended || is_unused(&shared);
        if !self.keep && is_of_a_search(&shared) && is_done_with {
            // What is left is removed by the next search.
            let _ = remove_marked(&shared, SHARED_MARK);
        }
        // What was kept stays, and what the user made.
        if self.made && is_unused(&self.path) {
            let _ = fs::remove_file(self.path.join(ROOT_MARK));
            let _ = fs::remove_dir(&self.path);
        }
        // A child that another thread is just starting has the open file, too, until it
        // becomes another program: closing it here would not give the lock back yet.
        let _ = self.lock.unlock();
    }
}

/// Ends and removes what a search that was killed has left in the directory of its trials, so
/// that it takes no room from the next one there; with `keep` its trials' directories stay. Gives
/// the bytes of what was loaded for all trials that `search`
/// ([`Plan::identity`](crate::session::Plan::identity)) finds there or removes: what is kept of
/// another one lies beside its own.
///
/// # Errors
/// Another search has the directory, or what was left cannot be ended or removed.
pub fn clear_leftovers(directory: &Path, keep: bool, search: &Fingerprint) -> Result<u64> {
    if !directory.exists() {
        return Ok(0);
    }
    let shared = Root::open(directory, keep)?.shared();
    let counts = is_of(&shared, search)? || (!keep && is_of_a_search(&shared));
    Ok(if counts {
        system::directory_bytes(&shared)
    } else {
        0
    })
}

/// Makes what trials share, with the search's mark; that of a search that goes on is there, and
/// that of the user stays.
fn make_shared(shared: &Path, search: &Fingerprint) -> Result<()> {
    match fs::create_dir(shared) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(()),
        Err(error) => return Err(TrialsError::io("create", shared, &error)),
    }
    let mark = shared.join(SHARED_MARK);
    fs::write(&mark, search.to_string()).map_err(|error| TrialsError::io("write", &mark, &error))
}

/// Whether a directory that trials share was made for this search: a mark that is empty, or was
/// not written to its end, tells of none. Of one that cannot be read nobody knows.
fn is_of(shared: &Path, search: &Fingerprint) -> Result<bool> {
    let mark = shared.join(SHARED_MARK);
    match fs::read(&mark) {
        Ok(told) => Ok(told == search.to_string().into_bytes()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(TrialsError::io("read", &mark, &error)),
    }
}

/// Whether a directory that trials share was made for a search; that of the user stays.
fn is_of_a_search(shared: &Path) -> bool {
    shared.join(SHARED_MARK).exists()
}

/// Removes a directory, its mark last: without it the rest would pass for the user's.
pub(super) fn remove_marked(path: &Path, mark: &str) -> io::Result<()> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_name() == mark {
            continue;
        }
        let removed = if entry.file_type()?.is_dir() {
            remove_all(&entry.path())
        } else {
            fs::remove_file(entry.path())
        };
        // A process that is just ending may have removed it.
        removed.or_else(|error| match error.kind() {
            ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })?;
    }
    remove_all(path)
}

/// Whether nothing but its mark is in a directory.
fn is_unused(directory: &Path) -> bool {
    fs::read_dir(directory).is_ok_and(|entries| entries.count() <= 1)
}

/// The lock ends with the process that holds it, however that ends.
fn lock(path: &Path) -> Result<File> {
    let file = File::open(path).map_err(|error| TrialsError::io("open", path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(TrialsError::new(format!(
            "another search has its trials in {}: wait for it, or give another --directory",
            path.display()
        ))),
        Err(TryLockError::Error(error)) => Err(TrialsError::io("lock", path, &error)),
    }
}

/// The directory of one trial.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    keep: bool,
}

/// Makes a directory that may be removed, with one for the child.
fn furnish(path: &Path) -> io::Result<()> {
    fs::create_dir(path)?;
    fs::write(path.join(RECORD), "")?;
    fs::create_dir(path.join(DATA))
}

impl Place {
    /// The file with the configuration.
    pub fn options(&self) -> PathBuf {
        self.path.join("OPTIONS")
    }

    /// The directory that belongs to the child.
    pub fn data(&self) -> PathBuf {
        self.path.join(DATA)
    }

    /// The file into which the child may write its lines.
    pub fn metrics(&self) -> PathBuf {
        self.path.join("metrics")
    }

    /// What marks the trial's processes.
    pub fn mark(&self) -> String {
        self.path.display().to_string()
    }

    /// Writes the configuration.
    pub fn write_options(&self, text: &str) -> Result<()> {
        self.write(&self.options(), text)
    }

    /// Writes down which process group belongs here.
    pub fn record(&self, group: i32) -> Result<()> {
        let text = leftovers::record(group)?;
        self.write(&self.path.join(RECORD), &text)
    }

    /// Removes the directory, or only the mark of a running trial if it is to be
    /// kept. A sentence if that fails.
    pub fn remove(&self) -> Option<String> {
        if self.keep {
            let _ = fs::remove_file(self.path.join(RECORD));
            return None;
        }
        remove_marked(&self.path, RECORD).err().map(|error| {
            format!(
                "{} could not be removed ({error}): remove it",
                self.path.display()
            )
        })
    }

    fn write(&self, path: &Path, text: &str) -> Result<()> {
        fs::write(path, text).map_err(|error| TrialsError::io("write", path, &error))
    }
}

/// Removes a directory in which a process that is just ending may still create
/// files.
pub(super) fn remove_all(path: &Path) -> io::Result<()> {
    let mut attempt = 1;
    loop {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(_) if attempt < ATTEMPTS => {
                attempt += 1;
                thread::sleep(PAUSE);
            }
            result => return result,
        }
    }
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
