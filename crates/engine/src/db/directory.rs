//! What a directory must be before RocksDB is let into it.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use lissom_core::Layout;
use rust_rocksdb::Options;

use crate::RocksDb;
use crate::apply::text::lines::unescape;
use crate::apply::{OptionsText, Section};
use crate::error::{Error, Result};
use crate::ffi::options::{ColumnFamilyOptions, read_options};
use crate::ffi::options_file::{LoadedOptions, load_latest_options};
use crate::file_names::is_trash;
use crate::open_error::{Cause, RECOMPRESS, explain};
use crate::places::{Places, has_log, recorded_log};
use crate::requirements::BYTEWISE;

/// A database of Lissom's, as its files describe it.
pub(super) struct Existing {
    /// What its newest OPTIONS file says; absent where it has none.
    options: Option<LoadedOptions>,
}

/// The database of Lissom's that is there; absent where one can be made.
///
/// # Errors
/// One sentence for each thing that a path may be instead.
pub(super) fn check(path: &Path, create_if_missing: bool) -> Result<Option<Existing>> {
    require_utf8(path)?;
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return may_create(path, create_if_missing);
        }
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            return Err(Error::fix(format!(
                "{} is a file, a database is a directory: give another path",
                path.display()
            )));
        }
        Err(error) => return Err(Error::io("read the directory", path, &error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| Error::io("read the directory", path, &error))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    if names.iter().any(|name| name == "CURRENT") {
        let has_options = names.iter().any(|name| is_options_file(name));
        let options = has_options.then(|| check_options(path)).transpose()?;
        return Ok(Some(Existing { options }));
    }
    match names.iter().find(|name| !is_left_over(name)) {
        Some(stranger) => Err(Error::fix(format!(
            "{} is not a database: it has no file CURRENT, but other files such as {stranger}; \
             give the path of a database, or of a new or empty directory",
            path.display()
        ))),
        None => may_create(path, create_if_missing),
    }
}

fn may_create(path: &Path, create_if_missing: bool) -> Result<Option<Existing>> {
    if create_if_missing {
        Ok(None)
    } else {
        Err(Error::fix(format!(
            "there is no database in {}, and the setting create_if_missing is off: \
             check the path, or turn it on",
            path.display()
        )))
    }
}

/// Files of a database that was never finished or was destroyed, and what file systems have in
/// an empty directory of theirs: ext4 in a new one's root, NFS of a file that is still open.
fn is_left_over(name: &str) -> bool {
    [
        "LOG",
        "LOCK",
        "LISSOM",
        "IDENTITY",
        "MANIFEST-",
        "OPTIONS-",
        ".nfs",
    ]
    .iter()
    .any(|start| name.starts_with(start))
        || ["lost+found", ".snapshot"].contains(&name)
        || name.ends_with(".log")
        || name.ends_with(".dbtmp")
        || is_trash(name)
}

/// RocksDB takes any path, the plug-in, which is asked before it, only text: under another
/// path nothing would be refused in time.
///
/// # Errors
/// When it is such a path.
pub(crate) fn require_utf8(path: &Path) -> Result<()> {
    if path.to_str().is_some() {
        return Ok(());
    }
    Err(Error::fix(format!(
        "the path {} is not UTF-8, which Lissom needs: rename the directory, or give a link to it",
        path.display()
    )))
}

/// Unfinished ones end in `.dbtmp`.
fn is_options_file(name: &str) -> bool {
    name.starts_with("OPTIONS-") && !name.ends_with(".dbtmp")
}

/// A plain RocksDB directory is adopted first, and what no tree of Lissom's can
/// hold is refused before anything is written. A directory without an OPTIONS
/// file passes, as it is checked once it is open; one that cannot be read does not.
fn check_options(path: &Path) -> Result<LoadedOptions> {
    let loaded = load_latest_options(path).map_err(|error| unread(path, &error.to_string()))?;
    let file = path.join(&loaded.file_name);
    let text = fs::read_to_string(&file).map_err(|error| Error::io("read", &file, &error))?;
    check_log(path, &OptionsText::recorded(&text).0)?;
    for family in &loaded.column_families {
        if let Some(why) = refusal(&family.options) {
            return Err(Error::fix(format!(
                "{}: the column family \"{}\" {why}",
                path.display(),
                family.options.name
            )));
        }
    }
    Ok(loaded)
}

fn unread(path: &Path, why: &str) -> Error {
    Error::fix(format!(
        "{} cannot be opened, as its newest OPTIONS file may forbid it and cannot be read: {why}; \
         removing that file is enough where Lissom alone has opened the directory",
        path.display()
    ))
}

/// A transaction that was prepared and committed lies in the log as two parts,
/// which only a TransactionDB puts together; others may skip it in silence.
/// `options` are those of the directory's OPTIONS file.
pub(crate) fn check_log(path: &Path, options: &OptionsText) -> Result<()> {
    let value = |name: &str| options.get(&Section::Database, name);
    let recorded = value("wal_dir").map(unescape).unwrap_or_default();
    let logs = recorded_log(path, &recorded).map_or(path, Path::new);
    if value("allow_2pc") != Some("true") || !has_log(logs)? {
        return Ok(());
    }
    Err(Error::fix(format!(
        "{} was last opened as a TransactionDB and its log is not empty: {FINISH_TRANSACTIONS}",
        path.display()
    )))
}

impl Existing {
    /// Refuses a directory whose log or tables would not be found by what is brought along, or
    /// another database's for them.
    ///
    /// # Errors
    /// When it is so.
    pub(super) fn check_places(&self, path: &Path, brought: &Places) -> Result<()> {
        let recorded = self.options.as_ref().map(|loaded| &*loaded.db.wal_dir);
        brought.check(path, recorded, "Opening::customise")
    }

    /// The merge operators that column families were last opened with.
    pub(super) fn merge_operators(self) -> BTreeMap<String, String> {
        let families = self.options.map(|loaded| loaded.column_families);
        families
            .unwrap_or_default()
            .into_iter()
            .filter_map(|family| Some((family.options.name, family.options.merge_operator?)))
            .collect()
    }
}

const FINISH_TRANSACTIONS: &str =
    "open it with TransactionDB, commit or roll back its prepared transactions, write and flush";

fn refusal(options: &ColumnFamilyOptions) -> Option<String> {
    let levels = u32::from(Layout::V1.num_levels());
    if options.timestamp_size > 0 || options.comparator != BYTEWISE {
        return Some(format!(
            "is sorted by {}; Lissom needs RocksDB's bytewise order without user timestamps, \
             so open it with RocksDB alone",
            options.comparator
        ));
    }
    (options.num_levels != levels).then(|| {
        format!(
            "has {} levels, a tree of Lissom's has {levels}: \
             adopt the directory first, with `lissom adopt PATH`",
            options.num_levels
        )
    })
}

/// The column families in a directory.
pub(super) fn families(path: &Path) -> Result<Vec<String>> {
    RocksDb::list_cf(&Options::default(), path).map_err(|error| explain(path, error, advice))
}

/// RocksDB opens a column family without its merge operator, then misses
/// answers and stops at the next flush; with another one it merges what was meant for the first,
/// for good. It keeps the name alone.
pub(super) fn needs_merge_operator(
    path: &Path,
    family: &str,
    operator: &str,
    options: &mut Options,
) -> Result<()> {
    let instead = match read_options(options)?.cf.merge_operator {
        Some(brought) if brought == operator => return Ok(()),
        Some(brought) => format!(", and {brought} is another one"),
        None => String::new(),
    };
    Err(Error::fix(format!(
        "{}: the column family \"{family}\" was written with the merge operator {operator}\
         {instead}: set it by Opening::customise",
        path.display()
    )))
}

/// What to do about a cause, for the application that opens the database.
pub(super) fn advice(cause: Cause) -> &'static str {
    match cause {
        Cause::OpenAlready => {
            "it is open already, here or in another process: close it there first"
        }
        Cause::NoSpace => "free some space on its disk",
        Cause::NoPermission => "give this user the right to read and write it",
        Cause::Corruption => "it is damaged: restore it from a backup or checkpoint",
        Cause::MergeOperator => {
            "set the merge operator that it was written with, by Opening::customise"
        }
        Cause::PreparedTransactions => FINISH_TRANSACTIONS,
        Cause::Comparator => "set no comparator: Lissom needs RocksDB's bytewise order",
        Cause::Compression => RECOMPRESS,
        Cause::Lack(advice) => advice,
        Cause::Other => "restore it from a backup or checkpoint if this stays",
    }
}
