//! After a rebuild: the old directory is removed, or taken back.

use std::path::{Path, PathBuf};

use rust_rocksdb::Options;
use serde::Serialize;

use super::check::stranger;
use super::disk;
use super::identity::identity;
use super::mark::{self, Mark, Successor, TakenAway};
use super::place::{Place, Settled, is_as_it_was};
use super::steps::{Name, State};
use crate::apply::build::{Access, open};
use crate::apply::directory::Directory;
use crate::apply::lock::lock;
use crate::error::{Error, Result};

/// What [`finish`] did.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Finished {
    /// What was removed.
    pub removed: Vec<Removed>,
    /// Directories that were opened for writing after they had left the database's place, and
    /// copies that [`undo`] took away after they were: nothing else has these writes.
    pub kept: Vec<PathBuf>,
}

/// A directory that was removed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Removed {
    /// Where it was.
    pub path: PathBuf,
    /// Bytes of its files.
    pub bytes: u64,
}

/// A rebuild that was taken back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Undone {
    /// The directory that is in its place again.
    pub path: PathBuf,
    /// Where the copy lies.
    pub aside: PathBuf,
}

/// What happened to a rebuilt database: it was at least opened for writing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Changes {
    /// Writes since it took its place; absent where this program cannot open the
    /// database. Changes without a sequence number, such as ingested files, files deleted
    /// in a range and new column families, do not count.
    pub writes: Option<u64>,
}

/// Removes the directory from before a rebuild, and a copy that was taken away again.
/// What was opened for writing since is only removed `with_changes`.
///
/// # Errors
/// When there is none, the database itself is not there, or somebody has one of them
/// open; when one cannot be removed, or holds files that are not RocksDB's; when another
/// call is at work in the same directory.
pub fn finish(directory: impl AsRef<Path>, with_changes: bool) -> Result<Finished> {
    let place = Place::of(directory.as_ref())?;
    let _turn = place.turn()?;
    place.settle()?;
    Directory::look(&place.path)?;
    let mut finished = Finished::default();
    if place.removing.is_dir() {
        let bytes = disk::bytes(&place.removing, &[])?;
        place.clear_removing()?;
        finished.removed.push(Removed {
            path: place.removing.clone(),
            bytes,
        });
    }
    for path in [&place.before, &place.undone] {
        end(&place, path, with_changes, &mut finished)?;
    }
    match finished == Finished::default() {
        false => Ok(finished),
        true => Err(Error::fix(format!(
            "there is nothing to finish: no rebuild of {} has left an old directory",
            place.path.display()
        ))),
    }
}

/// What becomes of a directory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    /// It is none of a rebuild's.
    Stays,
    /// Nothing else has what was written to it.
    Kept,
    Removed,
}

/// `is_as_it_was` tells it of the directory, by what that was when it left the database's place.
fn fate(
    mark: Option<&Mark>,
    with_changes: bool,
    is_as_it_was: impl FnOnce(&str) -> Result<bool>,
) -> Result<Fate> {
    let changed = match mark {
        Some(Mark::Before(successor)) => !is_as_it_was(&successor.source)?,
        Some(Mark::Undone(then)) => then.changed || !is_as_it_was(&then.identity)?,
        Some(Mark::Copy(_) | Mark::Leaving | Mark::Undoing(_)) | None => {
            return Ok(Fate::Stays);
        }
    };
    Ok(match changed && !with_changes {
        true => Fate::Kept,
        false => Fate::Removed,
    })
}

fn end(place: &Place, path: &Path, with_changes: bool, finished: &mut Finished) -> Result<()> {
    let look = || {
        let mark = mark::load(path)?;
        fate(mark.as_ref(), with_changes, |then| is_as_it_was(path, then))
    };
    if look()? == Fate::Stays {
        return Ok(());
    }
    let held = lock(path)?;
    // Until the lock was taken somebody may have done something else with it.
    match look()? {
        Fate::Stays => {}
        Fate::Kept => finished.kept.push(path.to_owned()),
        Fate::Removed => {
            check_files(path)?;
            let bytes = disk::bytes(path, &[])?;
            place.remove(path)?;
            finished.removed.push(Removed {
                path: path.to_owned(),
                bytes,
            });
        }
    }
    drop(held);
    Ok(())
}

/// Nobody gets a user's file back.
fn check_files(path: &Path) -> Result<()> {
    match stranger(path)? {
        None => Ok(()),
        Some(name) => Err(Error::fix(format!(
            "{} is not removed: {name} in it is no file of RocksDB's, so move it away first",
            path.display()
        ))),
    }
}

/// Takes the directory from before a rebuild back into its place. The copy stays beside
/// it, with all that was written since, until [`finish`] removes it.
///
/// Where the copy was opened for writing since, `leave_behind` is asked whether these
/// changes may stay in it; both directories are locked meanwhile.
///
/// Completes an earlier call that was interrupted.
///
/// # Errors
/// When there is none to take back, somebody has the database open, or `leave_behind`
/// says no; when another call is at work in the same directory.
pub fn undo(
    directory: impl AsRef<Path>,
    leave_behind: impl FnOnce(Changes) -> bool,
) -> Result<Undone> {
    let place = Place::of(directory.as_ref())?;
    let _turn = place.turn()?;
    if place.settle()? == Settled::TakenBack {
        return Ok(taken_back(&place));
    }
    let then = require_before(&place)?;
    if place.seen()?.undone != State::Absent {
        return Err(Error::fix(format!(
            "{} is in the way, the copy of an earlier undo: `lissom apply PATH --finish` says \
             whether it is still needed, or move it away",
            place.undone.display()
        )));
    }
    let held = (lock(&place.path)?, lock(&place.before)?);
    let changes = changes(&place, &then)?;
    if let Some(changes) = changes
        && !leave_behind(changes)
    {
        return Err(Error::fix(format!(
            "{} was opened since it was rebuilt, and what was written since would be left behind: \
             nothing was changed",
            place.path.display()
        )));
    }
    let taken_away = TakenAway {
        // What the old directory has lost since, the copy alone has.
        changed: changes.is_some() || !is_as_it_was(&place.before, &then.source)?,
        identity: identity(&place.path)?,
    };
    mark::save(&place.path, &Mark::Undoing(taken_away))?;
    place.exchange(Name::Before, Name::Undone)?;
    drop(held);
    Ok(taken_back(&place))
}

fn taken_back(place: &Place) -> Undone {
    Undone {
        path: place.path.clone(),
        aside: place.undone.clone(),
    }
}

/// What the copy was when it was taken into use.
fn require_before(place: &Place) -> Result<Successor> {
    match mark::load(&place.before)? {
        Some(Mark::Before(successor)) => Ok(successor),
        _ => Err(Error::fix(format!(
            "there is nothing to take back: {} is no directory from before a rebuild",
            place.before.display()
        ))),
    }
}

/// `None` where nobody has opened the database for writing since it was rebuilt.
fn changes(place: &Place, then: &Successor) -> Result<Option<Changes>> {
    if identity(&place.path)? == then.identity {
        return Ok(None);
    }
    // Without its merge operator, say, it cannot be opened here.
    let now = latest_sequence_number(&place.path).ok();
    Ok(Some(Changes {
        writes: now.map(|now| now.saturating_sub(then.sequence)),
    }))
}

fn latest_sequence_number(path: &Path) -> Result<u64> {
    let found = Directory::look(path)?;
    let nothing = |_: &str, _: &mut Options| ();
    let db = open(
        path,
        &found.options,
        &found.names,
        &nothing,
        Access::ReadOnly,
    )?;
    Ok(db.latest_sequence_number())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply::rebuild::mark::Progress;

    #[test]
    fn only_what_something_else_has_is_removed_unasked() {
        let before = Mark::Before(Successor::default());
        let copy = Mark::Copy(Progress::default());
        let undone = |changed| {
            Mark::Undone(TakenAway {
                changed,
                identity: String::new(),
            })
        };
        for (mark, as_it_was, unasked, asked) in [
            (None, true, Fate::Stays, Fate::Stays),
            (Some(copy), true, Fate::Stays, Fate::Stays),
            (Some(Mark::Leaving), true, Fate::Stays, Fate::Stays),
            (Some(before.clone()), true, Fate::Removed, Fate::Removed),
            (Some(before), false, Fate::Kept, Fate::Removed),
            (Some(undone(false)), true, Fate::Removed, Fate::Removed),
            (Some(undone(false)), false, Fate::Kept, Fate::Removed),
            (Some(undone(true)), true, Fate::Kept, Fate::Removed),
        ] {
            let fate = |with_changes| fate(mark.as_ref(), with_changes, |_| Ok(as_it_was));
            assert_eq!(fate(false).expect("a fate"), unasked, "{mark:?}");
            assert_eq!(fate(true).expect("a fate"), asked, "{mark:?}");
        }
    }
}
