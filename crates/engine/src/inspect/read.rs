//! Opening a directory without writing to it.

use std::collections::BTreeMap;
use std::fs::{self, FileType};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lissom_core::{Layout, Tree};
use rust_rocksdb::{BoundColumnFamily, DBCompactionStyle, Options};

use super::record::{Gate, Record};
use crate::RocksDb;
use crate::apply::OptionsText;
use crate::db::directory::{check_log, require_utf8};
use crate::db::tables;
use crate::error::{Error, Result};
use crate::execute::has_compaction_filter;
use crate::ffi::CfRef;
use crate::ffi::options::{ColumnFamilyOptions, read_options};
use crate::ffi::options_file::{LoadedOptions, load_latest_options};
use crate::ffi::snapshot::{TableRow, table_properties};
use crate::files::state::{self, Stored};
use crate::observe::observe;
use crate::open_error::{Cause, RECOMPRESS, cause, explain};
use crate::places::Places;

/// A process that writes may delete files between the moment in which the
/// manifest is read and that in which they are opened: then look again.
const MOST_ATTEMPTS: u32 = 5;

/// RocksDB opens all files at once by default; a look needs few at a time.
const OPEN_FILES: i32 = 64;

/// A database that was opened read-only.
pub(crate) struct Opened {
    pub(crate) record: Record,
    db: RocksDb,
}

/// Sets on RocksDB's options of a column family what only the application has.
type Customise<'a> = dyn Fn(&str, &mut Options) + 'a;

/// One column family.
pub(crate) struct Looked {
    pub(crate) tree: Tree,
    /// What the files say about themselves; empty where they could not be read.
    pub(crate) tables: BTreeMap<u64, TableRow>,
    /// Why some could not be read.
    pub(crate) unread: Option<Error>,
    /// RocksDB would move nothing, with the options that it was opened with.
    pub(crate) moves_rewrite: bool,
}

/// Refuses a directory that holds no database, or cannot be looked at.
pub(crate) fn check_directory(directory: &Path) -> Result<()> {
    require_utf8(directory)?;
    if !kind_of(directory)?.is_some_and(|kind| kind.is_dir()) {
        return Err(Error::fix(format!(
            "there is no directory {}; give the path of a database",
            directory.display()
        )));
    }
    if !kind_of(&directory.join("CURRENT"))?.is_some_and(|kind| kind.is_file()) {
        return Err(Error::fix(format!(
            "{} is not a RocksDB database: it has no file CURRENT; give the path of a database",
            directory.display()
        )));
    }
    Ok(())
}

/// `None` where nothing is there.
fn kind_of(path: &Path) -> Result<Option<FileType>> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(found.file_type())),
        Err(error) => match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Ok(None),
            _ => Err(Error::io("look at", path, &error)),
        },
    }
}

/// Whether Lissom drives a directory, or did last: by its state file, or by the levels
/// that a column family was opened with. The database is not opened, which needs what only
/// the application has, as a comparator.
///
/// # Errors
/// When there is no database, or nothing says how it was opened.
pub(crate) fn is_adopted(directory: &Path) -> Result<bool> {
    check_directory(directory)?;
    if state::path(directory).is_file() {
        return Ok(true);
    }
    let loaded = load_latest_options(directory).map_err(|error| {
        Error::from(error).within(format!("cannot look at {}", directory.display()))
    })?;
    let families = loaded.column_families.iter();
    Ok(families.map(|family| &family.options).any(has_our_levels))
}

pub(super) fn has_our_levels(family: &ColumnFamilyOptions) -> bool {
    family.num_levels >= u32::from(Layout::V1.num_levels())
}

/// Refuses a log of which only a TransactionDB reads all: whoever else opens the
/// directory for writing loses the rest. A directory without a readable OPTIONS file
/// passes: to open it fails.
///
/// # Errors
/// When there is no database, or its log is such a one.
fn require_whole_log(directory: &Path) -> Result<()> {
    check_directory(directory)?;
    let Ok(loaded) = load_latest_options(directory) else {
        return Ok(());
    };
    let file = directory.join(&loaded.file_name);
    let text = std::fs::read_to_string(&file).map_err(|error| Error::io("read", &file, &error))?;
    check_log(directory, &OptionsText::recorded(&text).0)
}

/// Opens a database read-only. Nothing is written, also no log.
///
/// # Errors
/// When there is no database, or RocksDB cannot open it.
pub(crate) fn open(directory: &Path) -> Result<Opened> {
    open_with(directory, || open_once(directory, &|_, _| (), &|_| Ok(())))
}

/// Opens a database, once more where a file that it names is gone by then.
fn open_with(directory: &Path, open: impl Fn() -> Result<Opened>) -> Result<Opened> {
    check_directory(directory)?;
    let mut attempt = 1;
    loop {
        match open() {
            Err(error) if attempt < MOST_ATTEMPTS && names_missing_file(&error) => {
                std::thread::sleep(Duration::from_millis(20 << attempt));
                attempt += 1;
            }
            other => return other,
        }
    }
}

/// A database that is to be compacted, opened read-only with options that only the application
/// has, and what Lissom has stored of it. It is not opened where `gate` refuses what is on record
/// of it.
///
/// # Errors
/// When there is no database, its log is not whole, it is refused, or RocksDB cannot open
/// it; when a table file is not there; when the state file is of a newer version.
pub(crate) fn open_whole(
    directory: &Path,
    customise: &Customise<'_>,
    gate: &Gate<'_>,
) -> Result<(Opened, Stored)> {
    require_whole_log(directory)?;
    let opened = open_with(directory, || {
        let opened = open_once(directory, customise, gate)?;
        tables::check(&opened.db).map_err(|error| {
            Error::corrupt(format!(
                "{error}; if it lies elsewhere, by db_paths or cf_paths, give these along by \
                 customise"
            ))
        })?;
        Ok(opened)
    })?;
    Ok((opened, state::load(directory)?.stored))
}

fn names_missing_file(error: &Error) -> bool {
    let text = error.to_string();
    text.contains("No such file") || text.contains("not found")
}

fn open_once(directory: &Path, customise: &Customise<'_>, gate: &Gate<'_>) -> Result<Opened> {
    let within = |error: Error| error.within(format!("cannot look at {}", directory.display()));
    let on_record = load_latest_options(directory).map_err(|error| within(error.into()))?;
    let names = column_families(directory).map_err(within)?;
    let mut families = Vec::new();
    let (mut merge_operators, mut places) = (BTreeMap::new(), Places::default());
    for name in &names {
        let levels = find(&on_record, name).map_or(0, |family| family.num_levels);
        let mut options = family_options(name, levels, customise);
        let brought = read_options(&mut options)?;
        places.add(name, &brought);
        if let Some(operator) = brought.cf.merge_operator {
            merge_operators.insert(name.clone(), operator);
        }
        families.push((name.clone(), options));
    }
    let record = Record {
        directory: directory.to_owned(),
        names,
        options: on_record,
        merge_operators,
        places,
    };
    gate(&record)?;
    // Its tables may lie elsewhere.
    let mut options = Options::default();
    customise("default", &mut options);
    if !record.log().exists() {
        // It is made when the database is opened for writing.
        options.set_wal_dir(directory);
    }
    options.set_max_open_files(OPEN_FILES);
    let db = RocksDb::open_cf_with_opts_for_read_only(&options, directory, families, false)
        .map_err(|error| match cause(error.as_ref(), directory) {
            Cause::Compression => explain(directory, error, |_| RECOMPRESS),
            _ => within(error.into()),
        })?;
    Ok(Opened { record, db })
}

/// Options that accept any tree which this or a plain RocksDB has written.
fn family_options(name: &str, num_levels: u32, customise: &Customise<'_>) -> Options {
    let mut options = Options::default();
    customise(name, &mut options);
    options.set_compaction_style(DBCompactionStyle::Level);
    let levels = num_levels.max(u32::from(Layout::V1.num_levels()));
    options.set_num_levels(i32::try_from(levels).unwrap_or(i32::MAX));
    options.set_level_compaction_dynamic_level_bytes(false);
    options
}

/// The names of all column families, `default` first.
pub(crate) fn column_families(directory: &Path) -> Result<Vec<String>> {
    let mut names = RocksDb::list_cf(&Options::default(), directory)?;
    names.sort_by_key(|name| (name != "default", name.clone()));
    Ok(names)
}

/// What an OPTIONS file says of a column family.
pub(crate) fn find<'a>(loaded: &'a LoadedOptions, name: &str) -> Option<&'a ColumnFamilyOptions> {
    loaded
        .column_families
        .iter()
        .map(|family| &family.options)
        .find(|family| family.name == name)
}

impl Opened {
    /// A column family's tree, with entries and tombstones from the files
    /// themselves where RocksDB has not loaded them.
    ///
    /// # Errors
    /// When RocksDB's metadata cannot be read.
    pub(crate) fn look(&self, name: &str) -> Result<Looked> {
        let handle = handle(&self.db, name)?;
        let seen = observe(&handle)?;
        let (tables, unread) = match CfRef::of(&handle).and_then(table_properties) {
            Ok(tables) => (tables, None),
            Err(error) => (BTreeMap::new(), Some(error.into())),
        };
        let mut tree = seen.tree;
        tree.fill_counts(|number| tables.get(&number).map(TableRow::counts));
        Ok(Looked {
            tree,
            tables,
            unread,
            moves_rewrite: has_compaction_filter(&handle),
        })
    }
}

/// The handle of a column family of a database that was opened with all of them.
pub(crate) fn handle<'a>(db: &'a RocksDb, name: &str) -> Result<Arc<BoundColumnFamily<'a>>> {
    db.cf_handle(name)
        .ok_or_else(|| Error::bug(format!("the column family \"{name}\" was not opened")))
}
