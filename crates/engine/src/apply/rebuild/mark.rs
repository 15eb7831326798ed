//! The mark of a directory: what it is, and how far its copy has come. It is replaced
//! atomically and durably.
//!
//! ```text
//! {"lissom_rebuild":1,"checksum":"<16 hexadecimal digits>"}   of the second line
//! {"kind":"copy",...}
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::digest::Digest;
use super::steps::State;
use crate::error::{Error, Result};
use crate::files::checked::{CheckedFile, Found};
use crate::files::{remove_file, sync_directory};

const FILE: CheckedFile = CheckedFile {
    name: "LISSOM-REBUILD",
    format: "lissom_rebuild",
    version: 1,
};

/// What a directory is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(super) enum Mark {
    /// A copy.
    Copy(Progress),
    /// The database, on its way to the name of the directory from before a rebuild.
    Leaving,
    /// The directory from before a rebuild.
    Before(Successor),
    /// A copy that is about to be taken away.
    Undoing(TakenAway),
    /// A copy that was taken away again.
    Undone(TakenAway),
}

/// A copy that was in use.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct TakenAway {
    /// Whether it was opened for writing while it was in use.
    pub(super) changed: bool,
    /// What it was when it was taken away, by its
    /// [`identity`](super::identity::identity); empty where that is not known.
    #[serde(default)]
    pub(super) identity: String,
}

/// The copy that took a directory's place, and what both were then.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Successor {
    /// Its latest sequence number.
    pub(super) sequence: u64,
    /// See [`identity`](super::identity::identity).
    pub(super) identity: String,
    /// The same of the directory whose place it took; empty where that is not known.
    #[serde(default)]
    pub(super) source: String,
    /// What it was made for: see [`Progress::wanted`].
    #[serde(default)]
    pub(super) wanted: String,
}

/// How far a copy has come.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Progress {
    /// What it is made with: a hash of all options.
    pub(super) options: String,
    /// What it is made from: see [`identity`](super::identity::identity).
    pub(super) source: String,
    /// What was asked for, a hash; empty where that is not known.
    #[serde(default)]
    pub(super) wanted: String,
    /// By column family.
    pub(super) families: BTreeMap<String, FamilyProgress>,
    /// What the copy was when comparing began, by its identity; absent before.
    pub(super) compared: Option<String>,
    /// The copy's latest sequence number, once it was compared with the original.
    pub(super) verified: Option<u64>,
}

/// How far a column family has come.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct FamilyProgress {
    /// What was copied and is durable.
    pub(super) copied: Position,
    /// What was compared.
    pub(super) checked: Position,
}

/// How far a walk over the entries has come.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Position {
    /// The last key, hexadecimal; absent before the first.
    pub(super) after: Option<String>,
    /// Entries up to there.
    pub(super) entries: u64,
    /// Bytes of keys and values up to there.
    pub(super) bytes: u64,
    /// A hash of them, where they were compared.
    pub(super) digest: Digest,
    /// Whether these are all.
    pub(super) done: bool,
}

impl Progress {
    /// Whether it is of the copy that another one would begin.
    pub(super) fn is_of(&self, other: &Progress) -> bool {
        self.options == other.options && self.source == other.source
    }
}

impl Mark {
    pub(super) fn state(&self) -> State {
        match self {
            Mark::Copy(progress) if progress.verified.is_some() => State::Verified,
            Mark::Copy(_) => State::Copying,
            Mark::Leaving => State::Leaving,
            Mark::Before(_) => State::Before,
            Mark::Undoing(_) => State::Undoing,
            Mark::Undone(_) => State::Undone,
        }
    }
}

/// Reads the mark of a directory; `None` of a directory without one.
///
/// # Errors
/// When it cannot be read, is damaged, or was written by a newer version.
pub(super) fn load(directory: &Path) -> Result<Option<Mark>> {
    let why = match FILE.load(directory)? {
        Found::Nothing => return Ok(None),
        Found::Whole(mark) => return Ok(Some(mark)),
        Found::Newer(version) => format!(
            "has format {version}, and this version of Lissom knows format {}",
            FILE.version
        ),
        Found::Damaged(why) => format!("is damaged ({why})"),
    };
    Err(Error::fix(format!(
        "{} {why}: it says what the directory is, so nothing is done; move the directory away \
         if it is none that you need",
        path(directory).display()
    )))
}

/// Replaces the mark of a directory.
///
/// # Errors
/// When it cannot be written; the old mark then stands.
pub(super) fn save(directory: &Path, mark: &Mark) -> Result<()> {
    FILE.save(directory, mark)
}

/// Removes the mark of a directory.
///
/// # Errors
/// When it cannot be removed.
pub(super) fn remove(directory: &Path) -> Result<()> {
    remove_draft(directory)?;
    remove_file(&path(directory))?;
    sync_directory(directory)
}

/// Removes what a kill may leave beside the mark. The directory must be locked, or
/// somebody may just write it.
///
/// # Errors
/// When it cannot be removed.
pub(super) fn remove_draft(directory: &Path) -> Result<()> {
    remove_file(&draft(directory))
}

/// Where the mark of a directory lies.
pub(super) fn path(directory: &Path) -> PathBuf {
    FILE.path(directory)
}

/// What a kill may leave beside the mark.
pub(super) fn draft(directory: &Path) -> PathBuf {
    FILE.draft(directory)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn mark() -> Mark {
        let position = Position {
            after: Some("00ff".into()),
            entries: 7,
            bytes: 100,
            digest: Digest::default(),
            done: false,
        };
        let family = FamilyProgress {
            copied: position.clone(),
            checked: Position::default(),
        };
        Mark::Copy(Progress {
            options: "1".into(),
            source: "2".into(),
            wanted: "3".into(),
            families: BTreeMap::from([("default".into(), family)]),
            compared: None,
            verified: None,
        })
    }

    #[test]
    fn what_is_saved_is_loaded() {
        let directory = tempfile::tempdir().expect("a directory");
        assert_eq!(load(directory.path()).expect("none"), None);
        let successor = Successor {
            sequence: 9,
            identity: "4".into(),
            source: "2".into(),
            wanted: "3".into(),
        };
        let taken_away = TakenAway {
            changed: true,
            identity: "5".into(),
        };
        for mark in [
            mark(),
            Mark::Leaving,
            Mark::Before(successor),
            Mark::Undoing(taken_away.clone()),
            Mark::Undone(taken_away),
        ] {
            save(directory.path(), &mark).expect("writable");
            assert_eq!(load(directory.path()).expect("readable"), Some(mark));
        }
        remove(directory.path()).expect("removed");
        remove(directory.path()).expect("it is gone");
        assert_eq!(load(directory.path()).expect("none"), None);
    }

    #[test]
    fn what_a_kill_leaves_of_a_mark_is_removed() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        save(path, &Mark::Leaving).expect("writable");
        fs::write(draft(path), "half").expect("writable");
        remove_draft(path).expect("removed");
        remove_draft(path).expect("it is gone");
        assert!(!draft(path).exists());
        assert_eq!(load(path).expect("readable"), Some(Mark::Leaving));
    }

    #[test]
    fn any_damage_is_noticed() {
        let directory = tempfile::tempdir().expect("a directory");
        save(directory.path(), &mark()).expect("writable");
        let path = path(directory.path());
        let whole = fs::read(&path).expect("readable");
        for at in 0..whole.len() - 1 {
            let mut torn = whole.clone();
            torn[at] ^= 0x01;
            fs::write(&path, &torn).expect("writable");
            assert!(load(directory.path()).is_err(), "byte {at}");
            fs::write(&path, &whole[..at]).expect("writable");
            assert!(load(directory.path()).is_err(), "cut at {at}");
        }
    }
}
