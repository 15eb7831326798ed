//! What the files of a directory say of its database, before anybody opens it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::read::{find, has_our_levels};
use crate::error::{Error, Result};
use crate::ffi::options::ColumnFamilyOptions;
use crate::ffi::options_file::LoadedOptions;

/// A database that is about to be opened.
pub(crate) struct Record {
    pub(crate) directory: PathBuf,
    /// Its column families, `default` first.
    pub(crate) names: Vec<String>,
    /// What its newest OPTIONS file says.
    pub(crate) options: LoadedOptions,
    /// The merge operators that whoever opens it brings along, by column family.
    pub(crate) merge_operators: BTreeMap<String, String>,
    /// The `wal_dir` that whoever opens it brings along; empty for none.
    pub(crate) wal_dir: String,
}

/// The directory of a database's write-ahead log by its option `wal_dir`, if it is not the
/// database's own.
pub(crate) fn log_directory<'a>(directory: &Path, wal_dir: &'a str) -> Option<&'a str> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let is_own = wal_dir.is_empty() || real(Path::new(wal_dir)) == real(directory);
    (!is_own).then_some(wal_dir)
}

/// Refuses a database whose log lies elsewhere, in a directory that is not brought along: opened
/// without it, the database lacks what only the log holds, and from its next flush on for ever.
/// `how` is what a program does that has it.
///
/// # Errors
/// When it is so.
pub(crate) fn require_log(
    directory: &Path,
    recorded: &str,
    brought: &str,
    how: &str,
) -> Result<()> {
    let [recorded, brought] = [recorded, brought].map(|it| log_directory(directory, it));
    match recorded {
        Some(log) if brought.map(Path::new) != Some(Path::new(log)) => Err(Error::fix(format!(
            "the write-ahead log of {} lies elsewhere, in {log}: give that as wal_dir with {how}, \
             or open it once with the program that writes it, flush all column families, and open \
             it once more without wal_dir",
            directory.display()
        ))),
        _ => Ok(()),
    }
}

/// Refuses what is on record, so that nothing of it has to fail at the opening.
pub(crate) type Gate<'a> = dyn Fn(&Record) -> Result<()> + 'a;

impl Record {
    /// What is on record of a column family.
    pub(crate) fn family(&self, name: &str) -> Option<&ColumnFamilyOptions> {
        find(&self.options, name)
    }

    /// Refuses a column family whose recorded merge operator was not brought
    /// along, by `how`: merging its merge operands needs it.
    ///
    /// # Errors
    /// When it is so.
    pub(crate) fn require_merge_operator(&self, name: &str, how: &str) -> Result<()> {
        let recorded = self
            .family(name)
            .and_then(|family| family.merge_operator.as_ref());
        match recorded {
            Some(wanted) if self.merge_operators.get(name) != Some(wanted) => {
                Err(Error::fix(format!(
                    "{} cannot be compacted here: the merge operator of column family \"{name}\" \
                     is {wanted}, which this program does not have; do it in the program that has \
                     it, with {how}",
                    self.directory.display()
                )))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a log that lies elsewhere and was not brought along, by `how`.
    ///
    /// # Errors
    /// When it is so.
    pub(crate) fn require_log(&self, how: &str) -> Result<()> {
        require_log(
            &self.directory,
            &self.options.db.wal_dir,
            &self.wal_dir,
            how,
        )
    }

    /// One column family or all of them.
    ///
    /// # Errors
    /// When there is none of that name.
    pub(crate) fn choose(&self, column_family: Option<&str>) -> Result<Vec<String>> {
        match column_family {
            None => Ok(self.names.clone()),
            Some(name) if self.names.iter().any(|known| known == name) => Ok(vec![name.to_owned()]),
            Some(name) => Err(Error::fix(format!(
                "{} has no column family \"{name}\"; it has {}",
                self.directory.display(),
                self.names.join(", ")
            ))),
        }
    }

    /// Whether a column family was last opened with Lissom's levels.
    pub(crate) fn has_our_levels(&self, name: &str) -> bool {
        self.family(name).is_some_and(has_our_levels)
    }

    /// An error unless a column family is Lissom's.
    ///
    /// # Errors
    /// When RocksDB drives it.
    pub(crate) fn require_adopted(&self, name: &str) -> Result<()> {
        if self.has_our_levels(name) {
            return Ok(());
        }
        Err(Error::fix(format!(
            "{} is not adopted: adopt it first, with `lissom adopt`, or let RocksDB compact it",
            self.directory.display()
        )))
    }

    /// The compaction style that a column family was last opened with.
    pub(crate) fn style(&self, name: &str) -> String {
        self.family(name)
            .map_or_else(String::new, |family| family.compaction_style.to_string())
    }
}
