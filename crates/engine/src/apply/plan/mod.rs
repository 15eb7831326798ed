//! From what a database has and what is wanted of it to what each option takes: pure
//! decisions, each with its reason.

mod closed;
mod decide;
mod owned;
mod recovery;
mod remarks;
mod tree;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::text::{OptionsText, Section};

pub(super) use self::decide::{decide, strangers};
pub(super) use self::recovery::{changes_recovery, own_recovery};
pub(super) use self::remarks::remarks;

/// What will be done with each option that was named.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The directory of the database.
    pub directory: String,
    /// Who opens the database, and whether it is open.
    pub host: Host,
    /// The options, by section and name.
    pub rows: Vec<Row>,
    /// What else there is to know, a sentence each.
    pub remarks: Vec<String>,
    /// What rewriting all files takes; absent unless it was asked for.
    pub rebuild: Option<Space>,
}

/// Room on the disk that a rebuild needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Space {
    /// Bytes of the database's files.
    pub bytes: u64,
    /// Bytes that the copy may need, more than there are of it already.
    pub needed_bytes: u64,
    /// Bytes that are free.
    pub free_bytes: u64,
}

/// Whose database it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Host {
    /// A directory of plain RocksDB that nobody has open.
    Plain,
    /// A directory of Lissom's that nobody has open.
    Lissom,
    /// A running store.
    Running,
}

/// When a change takes effect.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// It is so already.
    Unchanged,
    /// At once.
    RunTime,
    /// When the database is opened anew.
    Reopening,
    /// When all data are written into a new directory.
    Rebuild,
    /// Not at all.
    Impossible,
    /// RocksDB 11.12 passes over the option.
    Ignored,
    /// By the program that opens the database: the directory does not keep it.
    Unkept,
}

/// What one option takes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// Where the option stands.
    pub section: Section,
    /// The option; a field of a structure as in
    /// `compaction_options_universal.size_ratio`.
    pub name: String,
    /// The line of the text that names it.
    pub line: usize,
    /// Its present value; absent where nothing says it.
    pub old: Option<String>,
    /// Its wanted value.
    pub new: String,
    /// When it takes effect.
    pub how: How,
    /// It holds for files that are written from then on; those that exist keep
    /// theirs until they are compacted, or rewritten by a rebuild.
    pub for_new_files: bool,
    /// Why so: the end of a sentence.
    pub why: String,
}

/// What is known of a database.
pub(super) struct Present<'a> {
    pub(super) host: Host,
    pub(super) options: &'a OptionsText,
    /// The deepest level that holds files, by column family; those without files are
    /// not there.
    pub(super) deepest: &'a BTreeMap<String, u32>,
}

impl Plan {
    /// How many options take effect in a certain way.
    pub fn count(&self, how: How) -> usize {
        self.rows.iter().filter(|row| row.how == how).count()
    }

    /// Whether every option is as it should be, or RocksDB passes over it.
    pub fn is_done(&self) -> bool {
        let done = |row: &Row| matches!(row.how, How::Unchanged | How::Ignored);
        self.rows.iter().all(done) && self.rebuild.is_none()
    }

    /// Whether some option can be changed, by whatever it takes.
    pub fn can_change(&self) -> bool {
        let changes = |row: &Row| matches!(row.how, How::RunTime | How::Reopening | How::Rebuild);
        self.rows.iter().any(changes)
    }
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            How::Unchanged => "unchanged",
            How::RunTime => "at run time",
            How::Reopening => "at reopening",
            How::Rebuild => "needs a rebuild",
            How::Impossible => "impossible",
            How::Ignored => "ignored",
            How::Unkept => "for the program to set",
        })
    }
}
