//! What is tried: stock RocksDB or Lissom, with a configuration.

mod access;
mod lissom;
mod lissom_settings;
mod slowdown;
mod stock;
mod stock_options;

use std::path::Path;

use lissom_search::export::OptionsFile;

use super::plan::{System, TrialPlan};
use crate::error::Result;
use crate::store::Store;

/// A configuration of one system.
pub(super) trait Contender {
    /// Everything that decides what table files look like inside, as options of
    /// RocksDB: files that were written with other ones are not its own.
    fn shape(&self) -> OptionsFile;

    /// Makes a directory of plain RocksDB, with one sorted run, the system's own.
    ///
    /// # Errors
    /// The system cannot hold it.
    fn take_over(&self, directory: &Path) -> Result<()>;

    /// Opens a directory; it may be empty.
    ///
    /// # Errors
    /// The system's words; a setting that has no effect.
    fn open(&self, directory: &Path, remarks: &mut Vec<String>) -> Result<Box<dyn Store>>;
}

/// The configuration of a plan.
///
/// # Errors
/// What is wrong with its text.
pub(super) fn read(plan: &TrialPlan) -> Result<Box<dyn Contender>> {
    let (text, limits) = (&plan.options, &plan.limits);
    match plan.system {
        System::RocksDb => Ok(Box::new(stock::Stock::read(text, limits)?)),
        System::Lissom => Ok(Box::new(lissom::Tree::read(text, limits)?)),
    }
}
