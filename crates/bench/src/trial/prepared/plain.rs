//! A plain RocksDB with one sorted run in level 1.

use std::collections::BTreeSet;
use std::path::Path;

use lissom_search::export::OptionsFile;
use lissom_search::space::Section;
use rust_rocksdb::{BottommostLevelCompaction, CompactOptions, DB, Options};

use super::failures::Failures;
use crate::arms::options_file::option_string;
use crate::arms::{CompactionLog, StockRocksDb};
use crate::error::{BenchError, Result};
use crate::generate::DataShape;
use crate::run::Filling;
use crate::store::Store;

/// The set-up is weighed with its trial, whose limit knows nothing of processors: each
/// subcompaction holds a read-ahead of every file of level 0. So neither depends on the machine,
/// nor do the files of the set, which end where a subcompaction does.
const SUBCOMPACTIONS: u64 = 2;
const READ_AHEAD_BYTES: u64 = 256 << 10;

/// Loads the entries and merges them into one run.
pub(super) fn build(
    directory: &Path,
    shape: &OptionsFile,
    direct_io: bool,
    filling: &Filling<'_>,
    data: &DataShape,
) -> Result<()> {
    let (store, failures) = open(directory, shape, direct_io)?;
    filling.load(&store, data, &mut |_| ())?;
    compact(store.rocksdb(), &failures)?;
    Box::new(store).close()
}

/// Writes every table file anew.
pub(super) fn rewrite(directory: &Path, shape: &OptionsFile, direct_io: bool) -> Result<()> {
    let (store, failures) = open(directory, shape, direct_io)?;
    compact(store.rocksdb(), &failures)?;
    Box::new(store).close()
}

fn open(
    directory: &Path,
    shape: &OptionsFile,
    direct_io: bool,
) -> Result<(StockRocksDb, Failures)> {
    let mut shared = Options::default();
    shared.set_use_direct_reads(direct_io);
    shared.set_use_direct_io_for_flush_and_compaction(direct_io);
    let mut options = shared.get_options_from_string(option_string(&neutral(shape))?)?;
    options.create_if_missing(true);
    let failures = Failures::default();
    options.add_event_listener(failures.clone());
    let store = StockRocksDb::with_options(directory, &options, CompactionLog::default())?;
    Ok((store, failures))
}

/// Two levels and no compaction but the one that is asked for, in little memory.
fn neutral(shape: &OptionsFile) -> OptionsFile {
    let mut file = shape.clone();
    for (name, value) in [
        ("max_background_jobs", SUBCOMPACTIONS + 1),
        ("max_subcompactions", SUBCOMPACTIONS),
        ("compaction_readahead_size", READ_AHEAD_BYTES),
    ] {
        file.set(Section::Db, name, value.to_string());
    }
    file.set(Section::Cf, "num_levels", "2");
    file.set(Section::Cf, "level_compaction_dynamic_level_bytes", "false");
    file.set(Section::Cf, "disable_auto_compactions", "true");
    file
}

/// Merges everything into level 1. The binding does not say whether it succeeded, so that is
/// seen from the files, and what went wrong is heard from RocksDB's jobs.
fn compact(db: &DB, failures: &Failures) -> Result<()> {
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
    let why = failures.first();
    let why = why.unwrap_or_else(|| "RocksDB does not say why, but its LOG may".to_owned());
    Err(BenchError::new(format!(
        "the data set could not be merged into one run: {why}"
    )))
}

fn tables(db: &DB) -> Result<BTreeSet<String>> {
    let files = db.live_files()?;
    Ok(files.into_iter().map(|file| file.name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arms::options_file::applied;

    /// Damages the blocks of every table file, and leaves what is read at open.
    fn damage(directory: &Path) {
        for entry in std::fs::read_dir(directory).unwrap().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|it| it == "sst") {
                let mut bytes = std::fs::read(&path).unwrap();
                bytes[..100].fill(0xff);
                std::fs::write(&path, bytes).unwrap();
            }
        }
    }

    #[test]
    fn the_set_up_holds_little_on_any_number_of_processors() {
        let directory = tempfile::tempdir().unwrap();
        let shape = OptionsFile::default();
        let (store, _) = open(directory.path(), &shape, false).unwrap();
        let used = applied::used(directory.path()).unwrap();
        drop(store);
        for (name, value) in [
            ("max_subcompactions", "2"),
            ("compaction_readahead_size", "262144"),
        ] {
            assert_eq!(used.get(Section::Db, name), Some(value), "{name}");
        }
    }

    #[test]
    fn what_rocksdb_says_of_a_failed_merge_stands_in_the_sentence() {
        let directory = tempfile::tempdir().unwrap();
        let mut options = Options::default();
        options.create_if_missing(true);
        let db = DB::open(&options, directory.path()).unwrap();
        for number in 0..1000 {
            db.put(format!("{number:08}"), [7u8; 100]).unwrap();
        }
        db.flush().unwrap();
        drop(db);
        damage(directory.path());
        let rewritten = rewrite(directory.path(), &OptionsFile::default(), false);
        let sentence = rewritten.unwrap_err().to_string();
        let says = "the data set could not be merged into one run: RocksDB: Corruption";
        assert!(sentence.starts_with(says), "{sentence}");
    }
}
