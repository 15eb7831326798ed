//! What a closed directory has.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::build::{Access, open};
use super::plan::own_recovery;
use super::text::{OptionsText, Section};
use crate::adopt::drive::Customise;
use crate::db::directory::check_log;
use crate::error::{Error, Result};
use crate::ffi::CfRef;
use crate::ffi::snapshot::tree_snapshot;
use crate::files::state;
use crate::inspect::read::{check_directory, column_families, handle};

/// A process that has the database open may write a new OPTIONS file and remove the
/// old one between two looks.
const MOST_ATTEMPTS: usize = 5;

const PREFIX: &str = "OPTIONS-";

/// What RocksDB keeps its own statistics in, with persist_stats_to_disk. It opens this
/// column family by itself, and makes one where it is missing
/// (db/version_edit_handler.cc, `OnColumnFamilyAdd`).
const STATISTICS: &str = "___rocksdb_stats_history___";

/// The partitioner that every column family of Lissom's has.
const PARTITIONER: &str = "lissom.GuardPartitioner";

/// A directory, as its files describe it.
pub(super) struct Directory {
    /// Its column families, `default` first, without that of RocksDB's own statistics.
    pub(super) names: Vec<String>,
    /// What its newest OPTIONS file says.
    pub(super) options: OptionsText,
    /// A sentence for each line of it that RocksDB 11.12 cannot read.
    pub(super) mistakes: Vec<String>,
}

impl Directory {
    /// Looks at a directory. Nothing is written.
    ///
    /// # Errors
    /// When there is no database, or it has no OPTIONS file that can be read.
    pub(super) fn look(path: &Path) -> Result<Directory> {
        check_directory(path)?;
        let mut names = column_families(path)?;
        names.retain(|name| name != STATISTICS);
        let (options, mistakes) = recorded(path)?;
        Ok(Directory {
            names,
            options,
            mistakes,
        })
    }

    /// Its column families that an OPTIONS file may name.
    pub(super) fn families(&self) -> Vec<String> {
        let mut families = self.names.clone();
        if self.options.families().contains(&STATISTICS) {
            families.push(STATISTICS.to_owned());
        }
        families
    }

    /// Between a look at the directory and its lock somebody may have opened it.
    ///
    /// # Errors
    /// When its column families or options are others than they were.
    pub(super) fn check_unchanged(
        path: &Path,
        names: &[String],
        options: &OptionsText,
    ) -> Result<()> {
        let found = Directory::look(path)?;
        let same = |name: &String| found.options.lines(name) == options.lines(name);
        if found.names == names && names.iter().all(same) {
            return Ok(());
        }
        Err(Error::retry(format!(
            "{} was opened with other options meanwhile: give the same command again",
            path.display()
        )))
    }

    /// Refuses a log that only a TransactionDB reads in whole.
    ///
    /// # Errors
    /// What to do about it; when the log or the OPTIONS file cannot be read.
    pub(super) fn check_log(path: &Path) -> Result<()> {
        check_log(path, &recorded_options(path)?)
    }

    /// Whether it is Lissom's.
    pub(super) fn is_lissoms(&self, path: &Path) -> bool {
        let ours = |name: &String| {
            let section = Section::Family(name.clone());
            self.options.get(&section, "sst_partitioner_factory") == Some(PARTITIONER)
        };
        state::path(path).exists() || self.names.iter().any(ours)
    }

    /// The deepest level that holds files, by column family. The directory is opened
    /// read-only for it.
    ///
    /// # Errors
    /// When RocksDB cannot open it with its own options.
    pub(super) fn deepest(
        &self,
        path: &Path,
        customise: &Customise,
    ) -> Result<BTreeMap<String, u32>> {
        let db = open(
            path,
            &self.options,
            &self.names,
            customise,
            Access::ReadOnly,
        )?;
        let mut deepest = BTreeMap::new();
        for name in &self.names {
            let handle = handle(&db, name)?;
            let files = tree_snapshot(CfRef::of(&handle)?)?.files;
            if let Some(level) = files.iter().map(|file| file.level).max() {
                deepest.insert(name.clone(), level);
            }
        }
        Ok(deepest)
    }
}

/// Lines of `[DBOptions]` with which a directory recovers otherwise than by RocksDB's
/// defaults; empty where it does not.
///
/// # Errors
/// When there is no OPTIONS file, or it cannot be read.
pub(crate) fn recovery(path: &Path) -> Result<String> {
    Ok(own_recovery(&recorded_options(path)?))
}

/// What RocksDB 11.12 has recorded when it closed a directory.
///
/// # Errors
/// When there is no OPTIONS file, or it cannot be read.
pub(super) fn recorded_options(path: &Path) -> Result<OptionsText> {
    recorded(path).map(|(options, _)| options)
}

/// What the newest OPTIONS file of a directory says, and a sentence for each line of it
/// that says nothing to RocksDB 11.12.
fn recorded(path: &Path) -> Result<(OptionsText, Vec<String>)> {
    let mut attempt = 1;
    loop {
        let file = path.join(newest_options_file(path)?);
        match fs::read_to_string(&file) {
            Ok(text) => return Ok(OptionsText::recorded(&text)),
            Err(error) if error.kind() == ErrorKind::NotFound && attempt < MOST_ATTEMPTS => {
                attempt += 1;
            }
            Err(error) => return Err(Error::io("read", &file, &error)),
        }
    }
}

fn newest_options_file(path: &Path) -> Result<String> {
    let cannot = |error| Error::io("read the directory", path, &error);
    let mut newest: Option<(u64, String)> = None;
    for entry in fs::read_dir(path).map_err(cannot)? {
        let name = entry.map_err(cannot)?.file_name();
        let name = name.to_string_lossy().into_owned();
        // Unfinished ones end in .dbtmp.
        let number = name
            .strip_prefix(PREFIX)
            .and_then(|digits| digits.parse().ok());
        newest = newest.max(number.map(|number| (number, name)));
    }
    newest.map(|(_, name)| name).ok_or_else(|| {
        Error::fix(format!(
            "{} has no OPTIONS file, so nothing says what its options are: open it once with the \
             program that uses it",
            path.display()
        ))
    })
}
