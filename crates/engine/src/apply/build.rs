//! RocksDB's options from lines, and opening directories with them.

use std::path::Path;

use rust_rocksdb::{ColumnFamilyDescriptor, Options};

use super::catalogue::Change;
use super::catalogue::filter::lacks_bits;
use super::text::{OptionsText, Section, Setting};
use crate::RocksDb;
use crate::adopt::drive::{self, Customise};
use crate::entrance;
use crate::error::{Error, Result};
use crate::ffi::options_text::{change_options, options_text};
use crate::inspect::read::handle;
use crate::open_error::{Cause, explain};

/// Objects that watch, and change nothing in the data.
const HARMLESS: &str = "listeners";

/// What to do about a cause. What is tried here may be options that do not go together.
fn advice(cause: Cause) -> &'static str {
    match cause {
        Cause::Other => {
            "if RocksDB speaks of options, mend them; otherwise give the same command again"
        }
        cause => drive::advice(cause),
    }
}

/// The options of a column family and its database.
///
/// # Errors
/// When RocksDB cannot read a value, or this program cannot make an object that
/// the text names: it would then be dropped in silence.
pub(super) fn build(text: &OptionsText, family: &str, customise: &Customise) -> Result<Options> {
    let within = |error: Error| error.within(format!("column family \"{family}\""));
    check_table(text, family).map_err(within)?;
    let mut options = Options::default();
    change_options(&mut options, &text.lines(family)).map_err(|error| within(error.into()))?;
    customise(family, &mut options);
    let lines = options_text(&mut options).map_err(|error| within(error.into()))?;
    let made = OptionsText::of_lines(family, &lines);
    match difference(text, &made, family) {
        None => Ok(options),
        Some(why) => Err(within(Error::fix(why))),
    }
}

/// The options of other kinds of files are not read here, and would be lost.
fn check_table(text: &OptionsText, family: &str) -> Result<()> {
    let section = Section::Family(family.to_owned());
    match text.get(&section, "table_factory") {
        None | Some("BlockBasedTable") => Ok(()),
        Some(other) => Err(Error::fix(format!(
            "its files are of the kind {other}, and only BlockBasedTable is known here: change its \
             options in the program that uses it"
        ))),
    }
}

/// The first option that is not as the text has it.
fn difference(text: &OptionsText, made: &OptionsText, family: &str) -> Option<String> {
    text.iter()
        .filter(|(section, name, setting)| {
            let kept = !matches!(setting.known.change, Change::Gone | Change::Unkept);
            let here = section.family().is_none_or(|name| name == family);
            kept && here && *name != HARMLESS
        })
        .find_map(|(section, name, setting)| {
            let found = made.canonical(section, name, setting.known);
            (found != Some(setting.value.canonical.as_str()))
                .then(|| differs(section, name, setting, found))
        })
}

fn differs(section: &Section, name: &str, setting: &Setting, found: Option<&str>) -> String {
    let wanted = &setting.value.canonical;
    if lacks_bits(wanted) {
        return format!(
            "its OPTIONS file has {name}={wanted} without the bits per key, as programs leave it \
             that use RocksDB's C interface: name it in the options that you give, as in \
             {name}=bloomfilter:10:false"
        );
    }
    format!(
        "{name}={wanted} in {section} cannot be made by this program, which makes {} of it: write \
         it as RocksDB does, or apply the options from the program that has it, by \
         lissom::apply::Applier::customise",
        found.unwrap_or("nothing")
    )
}

/// How a directory is opened.
#[derive(Clone, Copy)]
pub(super) enum Access {
    /// Nothing is written, and no lock is taken.
    ReadOnly,
    /// For reading and writing.
    Own,
    /// As `Own`; what is not there is made.
    Create,
}

/// RocksDB opens all files at once by default; what reads a directory once needs
/// few at a time.
const OPEN_FILES: i32 = 256;

/// Opens a directory with the options of a text.
///
/// # Errors
/// As [`build`]; RocksDB's.
pub(super) fn open(
    directory: &Path,
    text: &OptionsText,
    names: &[String],
    customise: &Customise,
    access: Access,
) -> Result<RocksDb> {
    let mut database = build(text, "default", customise)?;
    let mut families = Vec::new();
    for name in names {
        let options = build(text, name, customise)?;
        families.push(ColumnFamilyDescriptor::new(name, options));
    }
    match access {
        Access::ReadOnly => {
            database.set_max_open_files(OPEN_FILES);
            RocksDb::open_cf_descriptors_read_only(&database, directory, families, false)
                .map_err(|error| explain(directory, error, advice))
        }
        Access::Own => entrance::open(directory, &database, families, advice),
        Access::Create => {
            database.create_if_missing(true);
            database.create_missing_column_families(true);
            entrance::open(directory, &database, families, advice)
        }
    }
}

/// Opens a directory and closes it again: RocksDB then writes an OPTIONS file.
///
/// # Errors
/// As [`open`].
pub(super) fn open_and_close(
    directory: &Path,
    text: &OptionsText,
    names: &[String],
    customise: &Customise,
) -> Result<()> {
    let db = open(directory, text, names, customise, Access::Own)?;
    close(db);
    Ok(())
}

/// Opens a directory, flushes what is in its log, and closes it again.
///
/// # Errors
/// As [`open`]; when the disk fails.
pub(super) fn flush_log(
    directory: &Path,
    text: &OptionsText,
    names: &[String],
    customise: &Customise,
) -> Result<()> {
    let db = open(directory, text, names, customise, Access::Own)?;
    for name in names {
        db.flush_cf(&handle(&db, name)?)?;
    }
    close(db);
    Ok(())
}

/// What RocksDB begins by itself at open goes on at the next one.
fn close(db: RocksDb) {
    db.cancel_all_background_work(true);
    drop(db);
}
