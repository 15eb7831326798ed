//! Stock RocksDB with an OPTIONS file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lissom_search::export::OptionsFile;
use lissom_search::space::Section;
use rust_rocksdb::properties;

use super::access::Access;
use super::slowdown::Slowdown;
use super::{Contender, stock_options};
use crate::arms::options_file::applied;
use crate::arms::{CompactionLog, StockRocksDb, scan_rocksdb};
use crate::error::{BenchError, Result};
use crate::store::{Counters, Shape, Store, take};
use crate::trial::plan::Limits;

/// An OPTIONS file, and what all trials share.
pub(super) struct Stock {
    file: OptionsFile,
    limits: Limits,
}

impl Stock {
    /// Reads an OPTIONS file.
    ///
    /// # Errors
    /// The line that is wrong; a setting that no trial can grant.
    pub(super) fn read(text: &str, limits: &Limits) -> Result<Self> {
        let own = OptionsFile::parse(text).map_err(|error| BenchError::new(error.to_string()))?;
        let file = stock_options::on_top_of(limits.base.as_ref(), &own);
        stock_options::check(&file, limits)?;
        Ok(Self {
            file,
            limits: limits.clone(),
        })
    }

    /// The cache stands in no file that RocksDB writes.
    fn verify_cache(&self, store: &StockRocksDb) -> Result<()> {
        let asked = self.file.get(Section::Table, "block_cache");
        let Some(asked) = asked.and_then(|text| text.parse::<u64>().ok()) else {
            return Ok(());
        };
        let used = store
            .rocksdb()
            .property_int_value(properties::BLOCK_CACHE_CAPACITY)?;
        if used == Some(asked) {
            return Ok(());
        }
        Err(BenchError::new(format!(
            "block_cache={asked} has no effect: RocksDB's cache has {} bytes",
            used.unwrap_or(0)
        )))
    }
}

impl Contender for Stock {
    fn shape(&self) -> OptionsFile {
        stock_options::shape(&self.file)
    }

    /// One sorted run fits every compaction style and number of levels.
    fn take_over(&self, _directory: &Path) -> Result<()> {
        Ok(())
    }

    fn open(&self, directory: &Path, remarks: &mut Vec<String>) -> Result<Box<dyn Store>> {
        let log = CompactionLog::default();
        let mut options = stock_options::options(&self.file, &self.limits)?;
        options.add_event_listener(log.clone());
        let store = StockRocksDb::with_options(directory, &options, log)?;
        let used = applied::used(directory)?;
        remarks.extend(applied::compare(&self.file, &used)?);
        self.verify_cache(&store)?;
        Ok(Box::new(StockTrial {
            store,
            slowdown: Slowdown::of(&used)?,
            access: Access::new(self.limits.rate_limit.is_some()),
        }))
    }
}

/// An open stock RocksDB without statistics.
struct StockTrial {
    store: StockRocksDb,
    slowdown: Slowdown,
    access: Access,
}

impl Store for StockTrial {
    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        let rocksdb = self.store.rocksdb();
        let found = rocksdb.get_pinned_opt(key, &self.access.reads)?;
        Ok(take(found, value))
    }

    fn put(&self, key: &[u8], value: &[u8]) -> Result<()> {
        let rocksdb = self.store.rocksdb();
        Ok(rocksdb.put_opt(key, value, &self.access.writes)?)
    }

    fn delete(&self, key: &[u8]) -> Result<()> {
        let rocksdb = self.store.rocksdb();
        Ok(rocksdb.delete_opt(key, &self.access.writes)?)
    }

    fn scan(&self, start: &[u8], length: u64, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<()> {
        let rocksdb = self.store.rocksdb();
        scan_rocksdb(rocksdb, self.access.iterator(), start, length, visit)
    }

    fn counters(&self) -> Counters {
        self.store.bytes()
    }

    fn take_largest_piece(&self) -> u64 {
        self.store.take_largest_piece()
    }

    fn shape(&self) -> Shape {
        self.store.shape()
    }

    fn settle(&self, patience: Duration) -> Result<bool> {
        self.store.settle(patience)
    }

    fn resumed(&self) -> Result<()> {
        self.slowdown.begin_anew(self.store.rocksdb())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Box::new(self.store).close()
    }

    fn settings_files(&self) -> Vec<PathBuf> {
        self.store.settings_files()
    }
}
