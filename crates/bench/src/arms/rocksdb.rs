//! Stock RocksDB with its own compaction.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lissom::block_cache;
use rust_rocksdb::{
    BlockBasedOptions, ColumnFamilyMetaDataOptions, DB, DBCompactionStyle, DBCompressionType, Env,
    Options, ReadOptions, SstFileManager, WaitForCompactOptions, WriteBufferManager, properties,
    statistics::StatsLevel,
};

use super::listener::CompactionLog;
use super::name::ArmName;
use super::options_file::GivenOptions;
use super::resources::{Compression, Resources};
use super::tickers;
use crate::error::{BenchError, Place, Result};
use crate::store::{Counters, LevelShape, Shape, Store, take};

/// An open stock RocksDB.
pub struct StockRocksDb {
    db: DB,
    log: CompactionLog,
    path: PathBuf,
    /// Whether its estimate of what compactions have to move is one: RocksDB makes it of
    /// levels alone, and says 0 of every other style.
    estimates_debt: bool,
}

impl StockRocksDb {
    /// Opens `path` as the stock arm `arm`.
    pub fn open(path: &Path, arm: &ArmName, resources: &Resources) -> Result<Self> {
        match arm {
            ArmName::RocksdbOptions(name) => Self::open_given(path, name, resources),
            _ => Self::open_styled(path, arm, resources),
        }
        .map_err(|error| error.at(format!("arm {arm}, directory {}", path.display())))
    }

    fn open_styled(path: &Path, arm: &ArmName, resources: &Resources) -> Result<Self> {
        let mut options = shared_options(arm, resources);
        apply_style(&mut options, arm, resources)?;
        let estimates_debt = *arm != ArmName::RocksdbUniversal;
        Self::watched(path, options, estimates_debt)
    }

    /// With a user's OPTIONS file.
    fn open_given(path: &Path, name: &str, resources: &Resources) -> Result<Self> {
        let given = GivenOptions::read(name, resources)?;
        let options = given.options(resources)?;
        let store = Self::watched(path, options, given.estimates_debt())?;
        given.verify(path)?;
        Ok(store)
    }

    /// With statistics, and told of flushes and compactions, as all arms.
    fn watched(path: &Path, mut options: Options, estimates_debt: bool) -> Result<Self> {
        options.enable_statistics();
        options.set_statistics_level(StatsLevel::ExceptHistogramOrTimers);
        let log = CompactionLog::default();
        options.add_event_listener(log.clone());
        Ok(Self {
            db: DB::open(&options, path)?,
            log,
            path: path.to_path_buf(),
            estimates_debt,
        })
    }

    /// Opens `path` with options of the caller's, who has given them `log`. Of what style
    /// they are is not asked, so that it tells no debt.
    ///
    /// # Errors
    /// RocksDB's.
    pub(crate) fn with_options(
        path: &Path,
        options: &Options,
        log: CompactionLog,
    ) -> std::result::Result<Self, rust_rocksdb::Error> {
        Ok(Self {
            db: DB::open(options, path)?,
            log,
            path: path.to_path_buf(),
            estimates_debt: false,
        })
    }

    /// The bytes that flushes and compactions read and wrote, without statistics.
    pub(crate) fn bytes(&self) -> Counters {
        let mut counters = Counters::default();
        self.log.add_bytes_to(&mut counters);
        counters
    }

    /// RocksDB itself.
    pub(crate) fn rocksdb(&self) -> &DB {
        &self.db
    }

    fn property(&self, name: &rust_rocksdb::properties::PropName) -> u64 {
        self.db.property_int_value(name).ok().flatten().unwrap_or(0)
    }
}

/// What all stock arms share. Everything else is the library's default.
fn shared_options(arm: &ArmName, resources: &Resources) -> Options {
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_write_buffer_size(resources.write_buffer_size);
    options.set_max_write_buffer_number(resources.max_write_buffer_number);
    options
        .set_level_zero_file_num_compaction_trigger(resources.level0_file_num_compaction_trigger);
    options.set_level_zero_slowdown_writes_trigger(resources.level0_slowdown_writes_trigger);
    options.set_level_zero_stop_writes_trigger(resources.level0_stop_writes_trigger);
    options.set_max_background_jobs(resources.max_background_jobs());
    options.set_max_subcompactions(resources.max_subcompactions);
    options.set_use_direct_reads(resources.direct_io);
    options.set_use_direct_io_for_flush_and_compaction(resources.direct_io);
    options.set_compression_type(compression_type(resources.compression));
    set_memory(&mut options, arm, resources);
    pace_deletions(&mut options, resources);
    options
}

/// What is asked of all arms; the library's default is to delete all at once.
pub(super) fn pace_deletions(options: &mut Options, resources: &Resources) {
    if let Some(rate) = resources.delete_rate_bytes_per_second {
        let manager = SstFileManager::new();
        manager.set_delete_rate_bytes_per_second(i64::try_from(rate).unwrap_or(i64::MAX));
        options.set_sst_file_manager(&manager);
    }
}

/// The auto-tuned rate limiter's upper end; it tunes itself down from there.
const MOST_BYTES_PER_SECOND: i64 = 1 << 30;

/// RocksDB's defaults for the other two. It tunes itself after every hundred refills.
const REFILL_MICROS: i64 = 100_000;
const FAIRNESS: i32 = 10;

/// Microseconds between two refills of the auto-tuned rate limiter. Where time is compressed
/// they are as much shorter as the schedules' interval, or it would tune itself more slowly
/// than the load changes.
pub(super) fn refill_micros(resources: &Resources) -> i64 {
    let interval = i64::try_from(resources.schedule_interval_millis).unwrap_or(i64::MAX);
    REFILL_MICROS.saturating_mul(interval) / 1_000
}

/// The library's `target_file_size_base`.
pub(super) const TARGET_FILE_SIZE_BASE: u64 = 64 << 20;

/// One cache for all blocks, with the write buffers charged to it: otherwise indexes
/// and filters would be memory that nobody counts.
fn set_memory(options: &mut Options, arm: &ArmName, resources: &Resources) {
    let file_bytes = match arm {
        ArmName::RocksdbLeveledTuned(_) => resources.target_file_size_base,
        _ => TARGET_FILE_SIZE_BASE,
    };
    let cache = block_cache(resources.memory_budget_bytes() as usize, file_bytes);
    let buffers = resources.write_buffer_bytes();
    let manager =
        WriteBufferManager::new_write_buffer_manager_with_cache(buffers, false, cache.clone());
    options.set_write_buffer_manager(&manager);
    let mut table = BlockBasedOptions::default();
    table.set_block_cache(&cache);
    table.set_cache_index_and_filter_blocks(true);
    table.set_cache_index_and_filter_blocks_with_high_priority(true);
    table.set_pin_l0_filter_and_index_blocks_in_cache(true);
    if resources.filter_bits_per_key > 0.0 {
        table.set_bloom_filter(resources.filter_bits_per_key, false);
    }
    options.set_block_based_table_factory(&table);
}

/// RocksDB's name for a compression.
pub(super) fn compression_type(compression: Compression) -> DBCompressionType {
    match compression {
        Compression::None => DBCompressionType::None,
        Compression::Lz4 => DBCompressionType::Lz4,
        Compression::Zstd => DBCompressionType::Zstd,
    }
}

fn apply_style(options: &mut Options, arm: &ArmName, resources: &Resources) -> Result<()> {
    options.set_max_bytes_for_level_multiplier(f64::from(resources.size_ratio));
    match arm {
        ArmName::RocksdbLeveled => {}
        ArmName::RocksdbLeveledAutoRate => {
            let refill = refill_micros(resources);
            options.set_auto_tuned_ratelimiter(MOST_BYTES_PER_SECOND, refill, FAIRNESS);
        }
        ArmName::RocksdbLeveledLowPriority => {
            let mut env = Env::new().place("RocksDB's environment")?;
            env.lower_thread_pool_cpu_priority();
            env.lower_thread_pool_io_priority();
            options.set_env(&env);
        }
        ArmName::RocksdbLeveledTuned(base) => {
            let base = base.unwrap_or(resources.level0_bytes());
            options.set_max_bytes_for_level_base(base);
            options.set_target_file_size_base(resources.target_file_size_base);
        }
        ArmName::RocksdbUniversal => options.set_compaction_style(DBCompactionStyle::Universal),
        other => {
            return Err(BenchError::new(format!(
                "arm {other} is not a stock RocksDB"
            )));
        }
    }
    Ok(())
}

impl Store for StockRocksDb {
    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        Ok(take(self.db.get_pinned(key)?, value))
    }

    fn put(&self, key: &[u8], value: &[u8]) -> Result<()> {
        Ok(self.db.put(key, value)?)
    }

    fn delete(&self, key: &[u8]) -> Result<()> {
        Ok(self.db.delete(key)?)
    }

    fn scan(&self, start: &[u8], length: u64, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<()> {
        scan_rocksdb(&self.db, ReadOptions::default(), start, length, visit)
    }

    fn counters(&self) -> Counters {
        let property = self.db.property_value(properties::OPTIONS_STATISTICS);
        let mut counters = tickers::parse(&property.ok().flatten().unwrap_or_default());
        self.log.add_to(&mut counters);
        counters
    }

    fn take_largest_piece(&self) -> u64 {
        self.log.take_largest()
    }

    fn shape(&self) -> Shape {
        let debt = || self.property(properties::ESTIMATE_PENDING_COMPACTION_BYTES);
        Shape {
            levels: physical_levels(&self.db),
            debt_bytes: self.estimates_debt.then(debt),
        }
    }

    fn settle(&self, patience: Duration) -> Result<bool> {
        let mut options = WaitForCompactOptions::default();
        options.set_flush(true);
        options.set_timeout(patience.as_micros() as u64);
        let begun = Instant::now();
        match self.db.wait_for_compact(&options) {
            Ok(()) => Ok(true),
            // The binding does not tell a timeout from other errors.
            Err(_) if begun.elapsed() >= patience => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.db.cancel_all_background_work(true);
        Ok(())
    }

    fn settings_files(&self) -> Vec<PathBuf> {
        options_files(&self.path)
    }
}

/// Visits entries of a RocksDB from `start` on.
pub(crate) fn scan_rocksdb(
    db: &DB,
    options: ReadOptions,
    start: &[u8],
    length: u64,
    visit: &mut dyn FnMut(&[u8], &[u8]),
) -> Result<()> {
    let mut iterator = db.raw_iterator_opt(options);
    iterator.seek(start);
    let mut left = length;
    while left > 0 {
        let Some((key, value)) = iterator.item() else {
            break;
        };
        visit(key, value);
        left -= 1;
        if left > 0 {
            iterator.next();
        }
    }
    Ok(iterator.status()?)
}

/// RocksDB's own levels; each file of L0 is a run.
fn physical_levels(db: &DB) -> Vec<LevelShape> {
    let levels = db.get_column_family_metadata_with_options(&ColumnFamilyMetaDataOptions::new());
    let occupied = levels.iter().filter(|level| level.file_count() > 0);
    occupied
        .map(|level| LevelShape {
            level: u32::try_from(level.level()).unwrap_or(0),
            runs: if level.level() == 0 {
                level.file_count() as u32
            } else {
                1
            },
            files: level.file_count() as u32,
            bytes: level.size(),
            run_limit: None,
        })
        .collect()
}

/// The newest OPTIONS file of a directory.
pub fn options_files(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let is_options = |path: &PathBuf| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("OPTIONS-"))
    };
    entries
        .map(|entry| entry.path())
        .filter(is_options)
        .max()
        .into_iter()
        .collect()
}
