//! What is written beside the results for people: the tables, the page, the pictures.

use std::fs;
use std::path::{Path, PathBuf};

use super::html::write_report;
use super::limits::write_limits_picture;
use super::pictures::write_offered_pictures;
use super::table::render_table;
use crate::arms::ArmName;
use crate::error::{Place, Result};
use crate::run::{ArmRun, Progress, Results, Watcher, replace};

/// Name of the tables in the output directory.
pub const TABLE_FILE: &str = "table.txt";

/// The files that were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exports {
    /// The tables, as a terminal shows them.
    pub table: PathBuf,
    /// The page.
    pub report: PathBuf,
    /// One for each session that offers a rate for a given time, and one of the run limits of
    /// arms that follow the workload.
    pub pictures: Vec<PathBuf>,
}

/// Writes all exports into a directory.
///
/// # Errors
/// When a file cannot be written.
pub fn write_exports(results: &Results, out: &Path) -> Result<Exports> {
    let report = write_report(results, out)?;
    let table = out.join(TABLE_FILE);
    replace(&table, render_table(results).as_bytes())?;
    Ok(Exports {
        table,
        report,
        pictures: write_pictures(results, out)?,
    })
}

fn write_pictures(results: &Results, directory: &Path) -> Result<Vec<PathBuf>> {
    let mut pictures = write_offered_pictures(results, directory)?;
    pictures.extend(write_limits_picture(results, directory)?);
    Ok(pictures)
}

/// Writes the tables and the pictures of results that are published without their samples,
/// which alone tell how an offered load was met and what the run limits were: into a directory beside `file` that ends
/// with `.report` in its stead. Nothing where there are no samples.
///
/// # Errors
/// When a file cannot be written.
pub fn publish_exports(results: &Results, file: &Path) -> Result<()> {
    if results.runs.iter().all(|run| run.samples.is_empty()) {
        return Ok(());
    }
    let directory = file.with_extension("report");
    fs::create_dir_all(&directory).place(directory.display())?;
    let table = directory.join(TABLE_FILE);
    fs::write(&table, render_table(results)).place(table.display())?;
    write_pictures(results, &directory)?;
    Ok(())
}

/// Writes the exports after each arm, so that an interrupted run has them, and passes
/// what it sees on to another watcher.
pub struct Exporting<'a> {
    watcher: &'a mut dyn Watcher,
    out: &'a Path,
}

impl<'a> Exporting<'a> {
    /// Exports into `out`.
    pub fn new(watcher: &'a mut dyn Watcher, out: &'a Path) -> Self {
        Self { watcher, out }
    }
}

impl Watcher for Exporting<'_> {
    fn arm_begins(&mut self, arm: &ArmName, round: u32, number: usize, of: usize) {
        self.watcher.arm_begins(arm, round, number, of);
    }

    fn progress(&mut self, progress: &Progress) {
        self.watcher.progress(progress);
    }

    fn arm_ended(&mut self, run: &ArmRun) {
        self.watcher.arm_ended(run);
    }

    fn results_saved(&mut self, results: &Results) {
        // What cannot be written must not end a run of hours, whose results are saved; who
        // writes the exports at its end is told.
        let _ = write_exports(results, self.out);
        self.watcher.results_saved(results);
    }
}
