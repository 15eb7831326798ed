//! A closed directory of RocksDB: what takes effect at open is recorded by opening
//! it with the changed options.

use std::path::Path;

use super::build::{flush_log, open_and_close};
use super::directory::{Directory, recorded_options};
use super::lock::lock;
use super::outcome::Outcome;
use super::plan::{How, Row, changes_recovery};
use super::recorded::CUSTOMISE;
use super::safety;
use super::text::OptionsText;
use crate::adopt::drive::Customise;
use crate::error::Result;
use crate::places::Places;

/// The present options with those that are wanted, as far as `takes` lets them.
pub(super) fn merged(
    present: &OptionsText,
    wanted: &OptionsText,
    rows: &[Row],
    takes: impl Fn(&Row) -> bool,
) -> OptionsText {
    let mut merged = present.clone();
    for row in rows.iter().filter(|row| takes(row)) {
        if let Some(setting) = wanted.setting(&row.section, &row.name) {
            merged.set(&row.section, &row.name, setting.clone());
        }
    }
    merged
}

/// Opens and closes the directory with what takes effect by reopening, and reads
/// back what RocksDB has recorded.
///
/// # Errors
/// When the directory is open elsewhere, or by its own options must not be opened here;
/// when RocksDB refuses the options. Nothing is changed then.
pub(super) fn reopen(
    path: &Path,
    directory: &Directory,
    wanted: &OptionsText,
    rows: Vec<Row>,
    customise: &Customise,
) -> Result<Vec<Outcome>> {
    if rows.iter().any(|row| row.how == How::Reopening) {
        check(path, directory, customise)?;
        if changes_recovery(&rows) {
            flush_log(path, &directory.options, &directory.names, customise)?;
        }
        let text = merged(&directory.options, wanted, &rows, |row| {
            row.how == How::Reopening
        });
        open_and_close(path, &text, &directory.names, customise)?;
    }
    read_back(path, rows, |row| row.how == How::Reopening)
}

/// The lock is asked for its sentence; RocksDB takes it itself.
fn check(path: &Path, directory: &Directory, customise: &Customise) -> Result<()> {
    safety::check_all(directory, path)?;
    // It records no wal_dir.
    Places::brought(&directory.names, customise)?.check(path, Some(""), CUSTOMISE)?;
    let held = lock(path)?;
    Directory::check_log(path)?;
    Directory::check_unchanged(path, &directory.names, &directory.options)?;
    drop(held);
    Ok(())
}

/// What the directory records of each option.
///
/// # Errors
/// When its OPTIONS file cannot be read.
pub(super) fn read_back(
    path: &Path,
    rows: Vec<Row>,
    taken: impl Fn(&Row) -> bool,
) -> Result<Vec<Outcome>> {
    let now = recorded_options(path)?;
    Ok(rows
        .into_iter()
        .map(|row| outcome(row, &now, &taken))
        .collect())
}

fn outcome(row: Row, now: &OptionsText, taken: impl Fn(&Row) -> bool) -> Outcome {
    if let Some(outcome) = Outcome::settled(&row) {
        return outcome;
    }
    if !taken(&row) {
        let why = format!("{}; --rewrite does it", row.why);
        return Outcome::left(row, why);
    }
    let value = super::catalogue::find(&row.section, &row.name)
        .and_then(|known| now.canonical(&row.section, &row.name, known))
        .map(str::to_owned);
    Outcome::read_back(row, value.as_deref(), None)
}
