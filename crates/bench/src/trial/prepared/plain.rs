//! A plain RocksDB with one sorted run in level 1.

use std::collections::BTreeSet;
use std::path::Path;

use lissom_search::export::OptionsFile;
use lissom_search::space::Section;
use rust_rocksdb::{BottommostLevelCompaction, CompactOptions, DB, Options};

use crate::arms::options_file::option_string;
use crate::arms::{CompactionLog, StockRocksDb};
use crate::error::{BenchError, Result};
use crate::generate::DataShape;
use crate::run::Filling;
use crate::store::Store;

/// Loads the entries and merges them into one run.
pub(super) fn build(
    directory: &Path,
    shape: &OptionsFile,
    direct_io: bool,
    filling: &Filling<'_>,
    data: &DataShape,
) -> Result<()> {
    let store = open(directory, shape, direct_io)?;
    filling.load(&store, data, &mut |_| ())?;
    compact(store.rocksdb())?;
    Box::new(store).close()
}

/// Writes every table file anew.
pub(super) fn rewrite(directory: &Path, shape: &OptionsFile, direct_io: bool) -> Result<()> {
    let store = open(directory, shape, direct_io)?;
    compact(store.rocksdb())?;
    Box::new(store).close()
}

fn open(directory: &Path, shape: &OptionsFile, direct_io: bool) -> Result<StockRocksDb> {
    let mut shared = Options::default();
    shared.set_use_direct_reads(direct_io);
    shared.set_use_direct_io_for_flush_and_compaction(direct_io);
    let mut options = shared.get_options_from_string(option_string(&neutral(shape))?)?;
    options.create_if_missing(true);
    Ok(StockRocksDb::with_options(
        directory,
        &options,
        CompactionLog::default(),
    )?)
}

/// Two levels and no compaction but the one that is asked for, on all processors.
fn neutral(shape: &OptionsFile) -> OptionsFile {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut file = shape.clone();
    file.set(
        Section::Db,
        "max_background_jobs",
        (processors + 1).to_string(),
    );
    file.set(Section::Db, "max_subcompactions", processors.to_string());
    file.set(Section::Cf, "num_levels", "2");
    file.set(Section::Cf, "level_compaction_dynamic_level_bytes", "false");
    file.set(Section::Cf, "disable_auto_compactions", "true");
    file
}

/// Merges everything into level 1. RocksDB does not say whether it succeeded, so that
/// is seen from the files.
fn compact(db: &DB) -> Result<()> {
    let before = tables(db)?;
    let mut options = CompactOptions::default();
    options.set_bottommost_level_compaction(BottommostLevelCompaction::ForceOptimized);
    db.compact_range_opt(None::<&[u8]>, None::<&[u8]>, &options);
    let files = db.live_files()?;
    let done = files
        .iter()
        .all(|file| file.level == 1 && !before.contains(&file.name));
    if done && !files.is_empty() {
        return Ok(());
    }
    Err(BenchError::new(
        "the data set could not be merged into one run: is its disk full? Its LOG says more",
    ))
}

fn tables(db: &DB) -> Result<BTreeSet<String>> {
    let files = db.live_files()?;
    Ok(files.into_iter().map(|file| file.name).collect())
}
