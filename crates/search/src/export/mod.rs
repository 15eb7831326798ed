//! A configuration as a file that another program reads.
//!
//! Each format takes the settings that it has words for; of every other one it says
//! so in a sentence. [`options_file`] reads what [`Format::RocksDb`] writes, and the
//! OPTIONS files that RocksDB writes itself.

mod cassandra;
mod filter;
mod flags;
mod flink;
mod format;
mod json;
pub mod options_file;
mod rocksdb;
mod settings;
mod sizes;
#[cfg(test)]
mod tests;

pub use format::Format;
pub use options_file::OptionsFile;

use settings::Settings;

use crate::error::{Result, SearchError};
use crate::space::{Configuration, Parameter, Space};

/// A configuration in some format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Export {
    /// The file's contents.
    pub text: String,
    /// One sentence for each setting that the format cannot express, or not exactly.
    pub remarks: Vec<String>,
    /// A comment for each option that the space leaves to defaults, where those of whoever reads
    /// the file are not those of RocksDB 11.12. A trial has its program's own.
    pub unset: Vec<String>,
}

impl Export {
    /// The file for whoever runs another program by it than the trials did: behind its comments.
    pub fn commented(&self) -> String {
        self.unset.concat() + &self.text
    }
}

/// Writes a configuration of a space.
///
/// ```
/// use lissom_search::export::{Format, write};
/// use lissom_search::space::{BuiltIn, Constants};
///
/// let space = BuiltIn::RocksDb.file()?.with(&Constants::new())?;
/// let export = write(Format::RocksDb, &space, &space.default_configuration())?;
/// assert!(export.text.contains("[CFOptions \"default\"]"));
/// assert!(export.remarks.is_empty());
/// # Ok::<(), lissom_search::SearchError>(())
/// ```
///
/// # Errors
/// A parameter that is missing, unknown or outside its range; a space none of whose
/// parameters is an option of RocksDB, for any format but [`Format::Json`] and
/// [`Format::Flags`], which then has each parameter by its own name; a filter policy
/// without bits.
pub fn write(format: Format, space: &Space, configuration: &Configuration) -> Result<Export> {
    write_with(format, space, configuration, &[])
}

/// The same, with what all trials shared: parameters that are none of the space's, each at
/// its default. So the file is what was measured.
///
/// # Errors
/// As [`write()`].
pub fn write_with(
    format: Format,
    space: &Space,
    configuration: &Configuration,
    shared: &[Parameter],
) -> Result<Export> {
    let settings = Settings::new(space, configuration, shared)?;
    let has_options = space.parameters().iter().any(|it| it.section.is_some());
    if !has_options && !matches!(format, Format::Json | Format::Flags) {
        return Err(SearchError::new(format!(
            "no parameter of the space {} is an option of RocksDB: write its configurations as \
             json or flags",
            space.name()
        )));
    }
    match format {
        Format::RocksDb => rocksdb::write(settings),
        Format::Json => json::write(settings),
        Format::Flags if !has_options => Ok(flags::by_name(settings)),
        Format::Flags => flags::write(settings),
        Format::Flink => flink::write(settings),
        Format::Cassandra => cassandra::write(settings),
    }
}
