//! The four names around a database, and bringing them to a settled state.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::disk;
use super::identity::identity;
use super::mark::{self, Mark, Successor, TakenAway};
use super::steps::{Name, Seen, State, Step, next};
use crate::apply::lock::lock;
use crate::error::{Error, Result};
use crate::ffi::directory_lock::DirectoryLock;

/// A database, and the names beside it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::apply) struct Place {
    pub(in crate::apply) path: PathBuf,
    pub(super) rebuild: PathBuf,
    pub(in crate::apply) before: PathBuf,
    pub(super) undone: PathBuf,
    /// A directory on its way out.
    pub(super) removing: PathBuf,
}

/// What was left to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::apply) enum Settled {
    /// Nothing that brought a copy in.
    Nothing,
    /// The exchange that ends a rebuild.
    Exchanged,
    /// The exchange that takes one back.
    TakenBack,
}

/// No exchange takes more steps.
const MOST_STEPS: usize = 10;

const REBUILD: &str = ".rebuild";
const BEFORE: &str = ".before-apply";
const UNDONE: &str = ".undone";
const REMOVING: &str = ".removing";

/// What the names beside a database stand for.
const BESIDE: [(&str, &str); 4] = [
    (REBUILD, "the copy"),
    (BEFORE, "the old directory"),
    (UNDONE, "the copy that was taken away"),
    (REMOVING, "a directory on its way out"),
];

impl Place {
    /// The names around a directory, which may be missing for a moment. Links are
    /// followed: the directory itself is exchanged.
    ///
    /// # Errors
    /// When its parent does not exist; when it is a directory beside a database.
    pub(in crate::apply) fn of(directory: &Path) -> Result<Place> {
        let path = match fs::canonicalize(directory) {
            Ok(path) => path,
            Err(_) => missing(directory, MOST_LINKS)?,
        };
        let Some(name) = path.file_name() else {
            return Err(Error::fix(format!(
                "{} is no directory that has a name: give the path of a database",
                path.display()
            )));
        };
        check_name(&path, name)?;
        let beside = |end: &str| {
            let mut name: OsString = name.to_owned();
            name.push(end);
            path.with_file_name(name)
        };
        Ok(Place {
            rebuild: beside(REBUILD),
            before: beside(BEFORE),
            undone: beside(UNDONE),
            removing: beside(REMOVING),
            path,
        })
    }

    fn of_name(&self, name: Name) -> &Path {
        match name {
            Name::Path => &self.path,
            Name::Rebuild => &self.rebuild,
            Name::Before => &self.before,
            Name::Undone => &self.undone,
        }
    }

    /// What lies under the names.
    ///
    /// # Errors
    /// When a directory or its mark cannot be read.
    pub(super) fn seen(&self) -> Result<Seen> {
        Ok(Seen {
            path: state(&self.path)?,
            rebuild: state(&self.rebuild)?,
            before: state(&self.before)?,
            undone: state(&self.undone)?,
        })
    }

    /// Looks whether an exchange was interrupted, and changes nothing.
    ///
    /// # Errors
    /// As [`Place::settle`]; when there is one to complete.
    pub(in crate::apply) fn check_settled(&self) -> Result<()> {
        let path = self.path.display();
        match next(self.seen()?) {
            Step::Settled => Ok(()),
            Step::Refuse(why) => Err(Error::fix(format!("{path} {why}"))),
            _ => Err(Error::fix(format!(
                "an exchange of {path} with another directory was interrupted: the same command \
                 without --dry-run completes it"
            ))),
        }
    }

    /// Whether the directory from before a rebuild is still there, if that was for what is
    /// `wanted` now, by [`id_of`](super::id_of), or if nothing tells for what it was.
    ///
    /// # Errors
    /// As [`Place::seen`].
    pub(in crate::apply) fn was_rebuilt(&self, wanted: &str) -> Result<bool> {
        if state(&self.before)? != State::Before {
            return Ok(false);
        }
        Ok(match mark::load(&self.before)? {
            Some(Mark::Before(successor)) => {
                successor.wanted.is_empty() || successor.wanted == wanted
            }
            _ => false,
        })
    }

    /// Completes an exchange that was interrupted.
    ///
    /// # Errors
    /// As [`Place::seen`]; when the directories are not those that an exchange leaves;
    /// when somebody has one of them open that is to have another name, or it cannot be renamed.
    pub(in crate::apply) fn settle(&self) -> Result<Settled> {
        self.settle_holding(|path| lock(path).map(Some))
    }

    /// `hold` takes the lock of a directory for the moment in which it is renamed, unless this
    /// process has it.
    fn settle_holding(
        &self,
        hold: impl Fn(&Path) -> Result<Option<DirectoryLock>>,
    ) -> Result<Settled> {
        let mut settled = Settled::Nothing;
        for _ in 0..MOST_STEPS {
            let seen = self.seen()?;
            let step = self.still(next(seen))?;
            settled = completes(seen, step).unwrap_or(settled);
            match step {
                Step::Settled => return Ok(settled),
                Step::Rename(from, to) => {
                    let _held = hold(self.of_name(from))?;
                    disk::rename(self.of_name(from), self.of_name(to))?;
                }
                Step::MarkBefore(name) => self.mark_before(self.of_name(name))?,
                Step::MarkUndone => self.mark_undone()?,
                Step::Unmark => mark::remove(&self.path)?,
                Step::Refuse(why) => {
                    return Err(Error::fix(format!("{} {why}", self.path.display())));
                }
            }
        }
        Err(Error::bug(format!(
            "the directories beside {} do not settle",
            self.path.display()
        )))
    }

    /// Between two renames somebody may have opened the old directory under its other name: the
    /// copy is none of it any more, and the directory gets its own name back.
    fn still(&self, step: Step) -> Result<Step> {
        if step != Step::Rename(Name::Rebuild, Name::Path) {
            return Ok(step);
        }
        let is_copy = match mark::load(&self.rebuild)? {
            Some(Mark::Copy(progress)) => is_as_it_was(&self.before, &progress.source)?,
            _ => true,
        };
        Ok(match is_copy {
            true => step,
            false => Step::Rename(Name::Before, Name::Path),
        })
    }

    fn mark_before(&self, old: &Path) -> Result<()> {
        let successor = match mark::load(&self.path)? {
            Some(Mark::Copy(progress)) => Successor {
                sequence: progress.verified.unwrap_or(0),
                identity: progress.compared.unwrap_or_default(),
                source: progress.source,
                wanted: progress.wanted,
            },
            _ => Successor::default(),
        };
        mark::save(old, &Mark::Before(successor))
    }

    fn mark_undone(&self) -> Result<()> {
        let taken_away = match mark::load(&self.undone)? {
            Some(Mark::Undoing(then) | Mark::Undone(then)) => then,
            _ => TakenAway {
                changed: true,
                identity: String::new(),
            },
        };
        mark::save(&self.undone, &Mark::Undone(taken_away))
    }

    /// Brings `incoming` in under the database's name; the database gets `aside`. One
    /// step, or two where the file system cannot; then the rest is settled.
    ///
    /// # Errors
    /// When a directory cannot be renamed. The database then has its name, unless
    /// somebody else has made a directory of that name in between.
    pub(super) fn exchange(&self, incoming: Name, aside: Name) -> Result<()> {
        self.exchange_by(disk::exchange, incoming, aside)
    }

    /// `swap` exchanges two directories in one step, and says whether it can.
    fn exchange_by(
        &self,
        swap: impl FnOnce(&Path, &Path) -> Result<bool>,
        incoming: Name,
        aside: Name,
    ) -> Result<()> {
        let moved = match swap(&self.path, self.of_name(incoming)) {
            Ok(true) => Ok(()),
            Ok(false) => self.leave(aside).and_then(|()| self.enter(incoming)),
            Err(error) => Err(error),
        };
        if moved.is_err() && state(&self.path)? == State::Absent {
            disk::rename(self.of_name(aside), &self.path)?;
        }
        // A rename that was done and could not be made durable is completed like any other.
        let settled = match moved {
            Ok(()) => self
                .settle_holding(|_| Ok(None))
                .map_err(|error| error.within(arrived(incoming))),
            Err(_) => self.settle_holding(|_| Ok(None)),
        };
        match (settled?, moved) {
            (Settled::Nothing, Err(error)) => Err(error),
            _ => Ok(()),
        }
    }

    /// The first of two renames. By its mark the directory is known under either name.
    fn leave(&self, aside: Name) -> Result<()> {
        if mark::load(&self.path)?.is_none() {
            mark::save(&self.path, &Mark::Leaving)?;
        }
        disk::rename(&self.path, self.of_name(aside))
    }

    /// The second of two renames.
    fn enter(&self, incoming: Name) -> Result<()> {
        disk::rename(self.of_name(incoming), &self.path)
    }

    /// Removes what an earlier removal left.
    ///
    /// # Errors
    /// When it is none of a rebuild's directories, or cannot be removed.
    pub(super) fn clear_removing(&self) -> Result<()> {
        match state(&self.removing)? {
            State::Absent => Ok(()),
            State::Bare if !disk::is_empty(&self.removing)? => Err(Error::fix(format!(
                "{} is in the way, and no directory of a rebuild: move it away",
                self.removing.display()
            ))),
            _ => disk::remove(&self.removing),
        }
    }

    /// Removes a directory that has a mark. From the first step on it has another
    /// name, so that a half is never taken for a whole.
    ///
    /// # Errors
    /// As [`Place::clear_removing`].
    pub(super) fn remove(&self, directory: &Path) -> Result<()> {
        self.clear_removing()?;
        disk::rename(directory, &self.removing)?;
        disk::remove(&self.removing)
    }
}

/// Whether nobody has opened a directory for writing since it had this identity; nobody has where
/// none is known.
///
/// # Errors
/// When the directory cannot be read.
pub(super) fn is_as_it_was(directory: &Path, then: &str) -> Result<bool> {
    Ok(then.is_empty() || identity(directory)? == then)
}

/// What is true once the exchange itself is done.
pub(in crate::apply) const COPY_IS_IN_PLACE: &str =
    "the copy is in place, and the same command completes what is left";

fn arrived(incoming: Name) -> &'static str {
    match incoming {
        Name::Before => {
            "the old directory is back in its place, and the same command completes what is left"
        }
        _ => COPY_IS_IN_PLACE,
    }
}

/// Whether a database is named as a directory beside one: an exchange of it that was interrupted
/// could not be told from one of the other.
pub(super) fn is_named_as_beside(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_bytes();
    BESIDE.iter().any(|(end, _)| name.ends_with(end.as_bytes()))
}

/// A directory beside a database is not taken for one: to settle it would remove the mark
/// that says what it is. A database may have such a name where it is alone.
fn check_name(path: &Path, name: &OsStr) -> Result<()> {
    for (end, what) in BESIDE {
        let Some(stem) = name.as_bytes().strip_suffix(end.as_bytes()) else {
            continue;
        };
        let database = path.with_file_name(OsStr::from_bytes(stem));
        let is_there = !stem.is_empty() && fs::symlink_metadata(&database).is_ok();
        if is_there || mark::load(path)?.is_some() {
            return Err(Error::fix(format!(
                "{} is {what} of {}: give that name",
                path.display(),
                database.display()
            )));
        }
    }
    Ok(())
}

/// Which exchange a step belongs to.
fn completes(seen: Seen, step: Step) -> Option<Settled> {
    let is_away = |state| matches!(state, State::Undoing | State::Undone);
    match (seen.path, step) {
        (State::Verified, _) | (State::Absent, Step::Rename(Name::Rebuild, _)) => {
            Some(Settled::Exchanged)
        }
        (State::Before, _) if seen.before == State::Undoing || is_away(seen.undone) => {
            Some(Settled::TakenBack)
        }
        _ => None,
    }
}

/// Links that are followed, as many as Linux follows.
const MOST_LINKS: u32 = 40;

/// The name of a directory that does not exist. A link is followed to where it leads:
/// between two renames the directory is missing and the link is not.
fn missing(directory: &Path, links: u32) -> Result<PathBuf> {
    let parent = match directory.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => Path::new("."),
    };
    let (Ok(parent), Some(name)) = (fs::canonicalize(parent), directory.file_name()) else {
        return Err(Error::fix(format!(
            "there is no directory {}; give the path of a database",
            directory.display()
        )));
    };
    let path = parent.join(name);
    match fs::read_link(&path) {
        Ok(target) if links > 0 => missing(&parent.join(target), links - 1),
        _ => Ok(path),
    }
}

/// What lies under a name.
fn state(path: &Path) -> Result<State> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(State::Absent),
        Err(error) => return Err(Error::io("look at", path, &error)),
        Ok(found) if !found.is_dir() => {
            return Err(Error::fix(format!(
                "{} is no directory: move it away, or give the path of a database",
                path.display()
            )));
        }
        Ok(_) => {}
    }
    Ok(mark::load(path)?.map_or(State::Bare, |mark| mark.state()))
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
