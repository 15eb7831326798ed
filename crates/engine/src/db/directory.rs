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
use crate::ffi::options_file::load_latest_options;
use crate::inspect::record::log_directory;
use crate::open_error::{Cause, RECOMPRESS, explain};
use crate::requirements::BYTEWISE;

/// Whether there is a database of Lissom's; false where one can be made.
///
/// # Errors
/// One sentence for each thing that a path may be instead.
pub(super) fn check(path: &Path, create_if_missing: bool) -> Result<bool> {
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
        if names.iter().any(|name| is_options_file(name)) {
            check_options(path)?;
        }
        return Ok(true);
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

fn may_create(path: &Path, create_if_missing: bool) -> Result<bool> {
    if create_if_missing {
        Ok(false)
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
fn check_options(path: &Path) -> Result<()> {
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
    Ok(())
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
    let elsewhere = value("wal_dir").filter(|directory| !directory.is_empty());
    let elsewhere = elsewhere.map(unescape);
    let logs = elsewhere.as_deref().map_or(path, Path::new);
    if value("allow_2pc") != Some("true") || !has_log(logs)? {
        return Ok(());
    }
    Err(Error::fix(format!(
        "{} was last opened as a TransactionDB and its log is not empty: {FINISH_TRANSACTIONS}",
        path.display()
    )))
}

/// RocksDB reads the write-ahead log of one directory. Where it was last written in another one,
/// a database would be opened without what only the log holds, and lack that from its next flush
/// on for ever.
///
/// Of a checkpoint or a restored backup the OPTIONS file names the log of the database that it was
/// made of, which is not its own. Nobody has opened it where it lies, so it has no file `LOCK`.
///
/// # Errors
/// When that log may hold something, and none as new lies where it is looked for.
pub(super) fn check_wal_dir(path: &Path, options: &mut Options) -> Result<()> {
    if !path.join("LOCK").exists() {
        return Ok(());
    }
    let recorded = load_latest_options(path).map(|loaded| loaded.db.wal_dir);
    let recorded = recorded.unwrap_or_default();
    let brought = read_options(options)?.db.wal_dir;
    let place = |wal_dir| log_directory(path, wal_dir).map_or(path, Path::new);
    let (written, read) = (place(&recorded), place(&brought));
    // A directory that is gone holds nothing any more, or nothing yet.
    let newest = |place: &Path| match place.exists() {
        true => newest_log(place),
        false => Ok(None),
    };
    if is_same(written, read) || newest(written)? <= newest(read)? {
        return Ok(());
    }
    Err(Error::fix(format!(
        "{}: its write-ahead log was last written in {}, which may hold entries that would not be \
         read: set wal_dir to that directory by Opening::customise; if this is a copy of a \
         database that goes on there, and has all its logs, empty wal_dir in the newest OPTIONS \
         file of the copy",
        path.display(),
        written.display()
    )))
}

/// Whether two names are of one directory.
fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
}

fn has_log(directory: &Path) -> Result<bool> {
    Ok(newest_log(directory)?.is_some())
}

/// The highest number of a log that is not empty.
fn newest_log(directory: &Path) -> Result<Option<u64>> {
    let cannot = |error| Error::io("read the directory", directory, &error);
    let mut newest = None;
    for entry in fs::read_dir(directory).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let path = entry.path();
        let is_log = path.extension().is_some_and(|end| end == "log");
        let number = path
            .file_stem()
            .and_then(|stem| stem.to_str()?.parse().ok());
        if is_log && entry.metadata().map_err(cannot)?.len() > 0 {
            newest = newest.max(Some(number.unwrap_or(0)));
        }
    }
    Ok(newest)
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

/// The merge operators that column families were last opened with.
pub(super) fn merge_operators(path: &Path) -> BTreeMap<String, String> {
    let families = load_latest_options(path).map(|loaded| loaded.column_families);
    families
        .unwrap_or_default()
        .into_iter()
        .filter_map(|family| Some((family.options.name, family.options.merge_operator?)))
        .collect()
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
