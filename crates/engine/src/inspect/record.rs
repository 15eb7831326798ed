//! What the files of a directory say of its database, before anybody opens it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::read::{find, has_our_levels};
use crate::error::{Error, Result};
use crate::ffi::options::ColumnFamilyOptions;
use crate::ffi::options_file::LoadedOptions;
use crate::places::Places;

/// A database that is about to be opened.
pub(crate) struct Record {
    pub(crate) directory: PathBuf,
    /// Its column families, `default` first.
    pub(crate) names: Vec<String>,
    /// What its newest OPTIONS file says.
    pub(crate) options: LoadedOptions,
    /// The merge operators that whoever opens it brings along, by column family.
    pub(crate) merge_operators: BTreeMap<String, String>,
    /// Where whoever opens it looks for its files, by the options that he brings along.
    pub(crate) places: Places,
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

    /// Refuses a database whose log or tables would not be found by what was brought along, by
    /// `how`, or another database's for them.
    ///
    /// # Errors
    /// When it is so.
    pub(crate) fn require_places(&self, how: &str) -> Result<()> {
        let recorded = &self.options.db.wal_dir;
        self.places.check(&self.directory, Some(recorded), how)
    }

    /// The directory of the log that will be read.
    pub(crate) fn log(&self) -> &Path {
        self.places.log(&self.directory)
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
