//! OPTIONS files of stock RocksDB: what may stand in one, and the options that it makes.

pub(crate) mod applied;
mod given;
mod memory;
mod string;

use lissom_search::export::OptionsFile;
use lissom_search::space::Section;

use super::resources::Resources;
use crate::error::{BenchError, Result};

pub(super) use given::GivenOptions;
pub(crate) use memory::{cache_bytes, counts_indexes};
pub(crate) use string::option_string;

/// Refuses what no run can grant: a directory besides its own, tables of another kind.
///
/// # Errors
/// The setting, and what to do with it.
pub(crate) fn check(file: &OptionsFile) -> Result<()> {
    for name in ["wal_dir", "db_log_dir"] {
        if let Some(directory) = file.get(Section::Db, name).filter(|it| !it.is_empty()) {
            return Err(BenchError::new(format!(
                "{name}={directory} is a directory besides the run's own: remove the setting"
            )));
        }
    }
    if let Some(factory) = file.get(Section::Cf, "table_factory")
        && factory != "BlockBasedTable"
    {
        return Err(BenchError::new(format!(
            "table_factory={factory} is not block-based, as the run's files are: remove the setting"
        )));
    }
    Ok(())
}

/// Whether the arm with the OPTIONS file `name` can be opened.
///
/// # Errors
/// There is none; what is wrong with it.
pub(crate) fn check_given(name: &str, resources: &Resources) -> Result<()> {
    GivenOptions::read(name, resources)?
        .options(resources)
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_directories_and_tables_are_refused() {
        let mut file = OptionsFile::default();
        file.set(Section::Cf, "table_factory", "BlockBasedTable");
        file.set(Section::Db, "wal_dir", "");
        check(&file).unwrap();
        file.set(Section::Cf, "table_factory", "PlainTable");
        let error = check(&file).unwrap_err().to_string();
        assert!(error.contains("not block-based"), "{error}");
        file.set(Section::Db, "wal_dir", "/data");
        let error = check(&file).unwrap_err().to_string();
        assert!(error.starts_with("wal_dir=/data"), "{error}");
    }
}
