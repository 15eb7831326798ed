//! RocksDB's options for a column family that the autopilot drives.
//!
//! The style is level, with targets that never score, and RocksDB's own
//! compaction of L0 starts where writes slow down: it is the emergency brake.
//! The autopilot acts earlier, through `CompactFiles`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lissom_core::schedule::ScheduleKind;
use lissom_core::{Layout, LogicalLevel, PhysicalLevel, filters};
use rust_rocksdb::{
    BlockBasedOptions, Cache, DBCompactionStyle, DBCompressionType, Options, WriteBufferManager,
    statistics::StatsLevel,
};

use crate::block_cache::block_cache;
use crate::error::{Error, Result};
use crate::events::{Events, Listener};
use crate::ffi::commit_gate::CommitGate;
use crate::ffi::deletions::Deletions;
use crate::ffi::filter::LevelBloom;
use crate::ffi::flush_threads;
use crate::ffi::guards::GuardTable;
use crate::open_files::{MOST_TABLE_SHARD_BITS, max_open_files, table_shard_bits};
use crate::rate_limit::RateLimit;
use crate::requirements;
use crate::settings::{Compression, Settings};

/// Bytes that no level holds, and no work that waits: RocksDB scores no level, and holds nobody
/// back for what is to be merged.
pub(crate) const NEVER_FULL: u64 = 1 << 60;

/// How long a compaction of RocksDB's own waits for an ingestion before it commits. One
/// that waits behind stopped writers waits for the compaction.
const LONGEST_HOLD: Duration = Duration::from_secs(1);

/// RocksDB's own log, `LOG`, is never cut by default. A compaction writes up to some tens of KB into
/// it, all its files with their properties, on the disk whose end stops the writes.
const LOG_BYTES: usize = 64 << 20;
const LOG_FILES: usize = 8;

/// An iterator that ends leaves two jobs to the threads for flushes, which may take seconds where it
/// was held for long; a flush waits for neither.
const SPARE_FLUSH_THREADS: u32 = 2;

/// Bytes per second to which RocksDB slows writers down, its own default. Without it that is the
/// rate of the limiter, which a schedule makes and which is without end at first: no slowdown.
const DELAYED_WRITE_RATE: u64 = 16 << 20;

/// What the options of one column family and the autopilot share.
#[derive(Clone)]
pub(crate) struct Hooks {
    pub(crate) settings: Settings,
    pub(crate) bloom: LevelBloom,
    pub(crate) guards: GuardTable,
}

/// Makes options and keeps what ties them to the autopilot.
///
/// [`Db::open`](crate::Db::open) does this by itself. An application that opens
/// RocksDB with its own hands takes its options from here, and gives the
/// preparation to [`Autopilot::attach`](crate::Autopilot::attach).
///
/// ```no_run
/// use std::sync::Arc;
/// use lissom::{Autopilot, Preparation, RocksDb, Settings};
/// use rust_rocksdb::ColumnFamilyDescriptor;
///
/// let mut preparation = Preparation::new(&Settings::default())?;
/// let options = preparation.options("default", &Settings::default())?;
/// let family = ColumnFamilyDescriptor::new("default", options.clone());
/// let db = Arc::new(RocksDb::open_cf_descriptors(&options, "data", [family])?);
/// let autopilot = Autopilot::attach(db.clone(), preparation)?;
/// db.put(b"key", b"value")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Preparation {
    pub(crate) settings: Settings,
    pub(crate) events: Arc<Events>,
    pub(crate) hooks: BTreeMap<String, Hooks>,
    pub(crate) rate_limit: Option<Arc<RateLimit>>,
    pub(crate) commits: CommitGate,
    pub(crate) cache: Cache,
    write_buffers: WriteBufferManager,
    /// Absent where files are deleted at once.
    deletions: Option<Deletions>,
}

impl Preparation {
    /// A preparation; the settings of the database as a whole (memory, workers,
    /// rate limit, direct I/O, missions, journal) are those given here.
    ///
    /// # Errors
    /// A setting outside its range.
    pub fn new(settings: &Settings) -> Result<Preparation> {
        settings.check()?;
        let bytes = |bytes: u64| {
            usize::try_from(bytes).map_err(|_| {
                Error::fix(format!(
                    "{bytes} bytes are more than this machine addresses: lower memory_budget_bytes"
                ))
            })
        };
        let budget = bytes(settings.memory_budget_bytes)?;
        let cache = block_cache(budget, settings.target_file_size_base);
        let write_buffers = WriteBufferManager::new_write_buffer_manager_with_cache(
            bytes(settings.write_buffer_bytes())?,
            false,
            cache.clone(),
        );
        let bound = settings.rate_limit_bytes_per_second;
        let limited = bound.is_some() || settings.schedule != ScheduleKind::Eager;
        let rate_limit = limited
            .then(|| RateLimit::new(bound).map(Arc::new))
            .transpose()?;
        Ok(Preparation {
            settings: settings.clone(),
            events: Arc::default(),
            hooks: BTreeMap::new(),
            rate_limit,
            commits: CommitGate::new(LONGEST_HOLD)?,
            cache,
            write_buffers,
            deletions: deletions(settings.delete_rate_bytes_per_second)?,
        })
    }

    /// Options for one column family with its own settings, the database's
    /// options included. Merge operators, compaction filters and prefix
    /// extractors may be set on them; what Lissom set must stay.
    ///
    /// The column family is opened with the options of the last call: one with other
    /// settings replaces what ties it to the autopilot.
    ///
    /// # Errors
    /// A setting outside its range; a zero byte in the name.
    pub fn options(&mut self, family: &str, settings: &Settings) -> Result<Options> {
        self.options_with(family, settings, &|_, _| ())
    }

    /// As [`Preparation::options`]; `customise` sees RocksDB's options before
    /// Lissom puts its own on top.
    pub(crate) fn options_with(
        &mut self,
        family: &str,
        settings: &Settings,
        customise: &dyn Fn(&str, &mut Options),
    ) -> Result<Options> {
        settings.check()?;
        if family.contains('\0') {
            return Err(Error::fix(format!(
                "{family:?} cannot name a column family: RocksDB takes no zero byte in a name, so \
                 leave it out"
            )));
        }
        let hooks = self.hooks_of(family, settings)?;
        let mut options = Options::default();
        self.set_database(&mut options)?;
        set_memory(&mut options, settings, &self.cache);
        customise(family, &mut options);
        requirements::check_customised(family, &mut options)?;
        follow_customised(&mut options)?;
        if let Some(deletions) = &self.deletions {
            deletions.install(&mut options)?;
        }
        set_tree(&mut options, settings);
        hooks.bloom.install(&mut options)?;
        hooks.guards.install(&mut options)?;
        self.hooks.insert(family.to_owned(), hooks);
        Ok(options)
    }

    /// The same objects for every copy of one column family's options: the
    /// autopilot steers one filter policy and one guard table.
    fn hooks_of(&self, family: &str, settings: &Settings) -> Result<Hooks> {
        match self.hooks.get(family) {
            Some(hooks) if hooks.settings == *settings => Ok(hooks.clone()),
            _ => Ok(Hooks {
                settings: settings.clone(),
                bloom: level_bloom(settings)?,
                guards: GuardTable::new(usize::from(Layout::V1.num_levels()))?,
            }),
        }
    }

    fn set_database(&self, options: &mut Options) -> Result<()> {
        let settings = &self.settings;
        options.create_if_missing(settings.create_if_missing);
        options.set_max_background_jobs(int(settings.max_background_jobs() as u64));
        options.set_max_subcompactions(settings.max_subcompactions);
        options.set_max_open_files(max_open_files()?);
        // Or whoever ends an iterator deletes the files that were merged away beneath it, and
        // returns after tens of milliseconds.
        options.set_avoid_unnecessary_blocking_io(true);
        options.set_max_log_file_size(LOG_BYTES);
        options.set_keep_log_file_num(LOG_FILES);
        options.set_use_direct_reads(settings.use_direct_reads);
        options.set_use_direct_io_for_flush_and_compaction(
            settings.use_direct_io_for_flush_and_compaction,
        );
        options.set_compaction_readahead_size(settings.compaction_readahead_size as usize);
        options.set_writable_file_max_buffer_size(settings.writable_file_max_buffer_size);
        // Even at DisableAll a statistics object costs every operation something.
        if !matches!(settings.statistics, StatsLevel::DisableAll) {
            options.enable_statistics();
            options.set_statistics_level(settings.statistics);
        }
        options.set_write_buffer_manager(&self.write_buffers);
        options.add_event_listener(Listener(self.events.clone()));
        self.commits.install(options)?;
        if let Some(limit) = &self.rate_limit {
            limit.limiter.install(options)?;
            if limit.bounded_to().is_none() {
                options.set_delayed_write_rate(DELAYED_WRITE_RATE);
            }
        }
        Ok(())
    }
}

/// `None` where all is deleted at once, which is what RocksDB does by itself.
fn deletions(bytes_per_second: u64) -> Result<Option<Deletions>> {
    let paced = (bytes_per_second > 0).then(|| Deletions::new(bytes_per_second));
    Ok(paced.transpose()?)
}

/// Sets what follows from numbers that an application may have given.
fn follow_customised(options: &mut Options) -> Result<()> {
    flush_threads::spare(options, SPARE_FLUSH_THREADS)?;
    // One of the application's own stays.
    if options.get_table_cache_numshardbits() == MOST_TABLE_SHARD_BITS {
        let bits = table_shard_bits(options.get_max_open_files());
        options.set_table_cache_num_shard_bits(bits);
    }
    Ok(())
}

/// Filter policy with the same bits for every level; missions adjust them.
fn level_bloom(settings: &Settings) -> Result<LevelBloom> {
    let layout = Layout::V1;
    let levels = usize::from(layout.levels);
    let by_logical = filters::bits_per_key(
        settings.filters,
        settings.bloom_bits_per_key,
        &vec![0; levels],
        &vec![0; levels],
    );
    let bits: Vec<f64> = (0..layout.num_levels())
        .map(|level| by_logical[logical_index(PhysicalLevel(level))])
        .collect();
    Ok(LevelBloom::new(&bits)?)
}

/// Logical level - 1; L0 and the landing level count as level 1.
pub(crate) fn logical_index(physical: PhysicalLevel) -> usize {
    let level = Layout::V1
        .logical(physical)
        .map_or(LogicalLevel(1), |(level, _)| level);
    usize::from(level.0) - 1
}

/// The format of table files: RocksDB reads it from 8.6 on.
pub(crate) const TABLE_FORMAT: i32 = 6;

fn set_memory(options: &mut Options, settings: &Settings, cache: &Cache) {
    options.set_write_buffer_size(settings.write_buffer_size as usize);
    options.set_max_write_buffer_number(int(u64::from(settings.max_write_buffer_number)));
    let mut table = BlockBasedOptions::default();
    table.set_block_cache(cache);
    table.set_block_size(settings.block_size as usize);
    table.set_cache_index_and_filter_blocks(true);
    table.set_cache_index_and_filter_blocks_with_high_priority(true);
    table.set_pin_l0_filter_and_index_blocks_in_cache(true);
    table.set_format_version(TABLE_FORMAT);
    options.set_block_based_table_factory(&table);
}

fn set_tree(options: &mut Options, settings: &Settings) {
    options.set_compaction_style(DBCompactionStyle::Level);
    options.set_num_levels(int(u64::from(Layout::V1.num_levels())));
    options.set_level_compaction_dynamic_level_bytes(false);
    options.set_max_bytes_for_level_base(NEVER_FULL);
    options.set_max_bytes_for_level_multiplier(1.0);
    options.set_max_compaction_bytes(NEVER_FULL);
    options.set_target_file_size_base(settings.target_file_size_base);
    options.set_ttl(0);
    options.set_periodic_compaction_seconds(0);
    set_stalls(options, settings);
    set_compression(options, &settings.compression);
}

/// When RocksDB takes L0 itself, and when it holds writes back: for L0 alone.
fn set_stalls(options: &mut Options, settings: &Settings) {
    let slowdown = int(u64::from(settings.level0_slowdown_writes_trigger));
    options.set_level_zero_file_num_compaction_trigger(slowdown);
    options.set_level_zero_slowdown_writes_trigger(slowdown);
    options.set_level_zero_stop_writes_trigger(int(u64::from(settings.level0_stop_writes_trigger)));
    // Out of reach and not 0: without a soft limit RocksDB takes compactions for late at all
    // times, and slows down writes of low priority.
    options.set_soft_pending_compaction_bytes_limit(NEVER_FULL as usize);
    options.set_hard_pending_compaction_bytes_limit(NEVER_FULL as usize);
}

fn set_compression(options: &mut Options, levels: &[Compression]) {
    let (all, by_level) = compressions(levels);
    options.set_compression_type(all.rocksdb());
    if !by_level.is_empty() {
        let types: Vec<DBCompressionType> =
            by_level.into_iter().map(Compression::rocksdb).collect();
        options.set_compression_per_level(&types);
    }
}

/// Of L0, and of each of RocksDB's levels only where they differ: with `compression_per_level`
/// RocksDB compares the compression of both levels before it moves a file for free.
fn compressions(levels: &[Compression]) -> (Compression, Vec<Compression>) {
    let of = |index: usize| {
        let last = levels.last().copied().unwrap_or_default();
        levels.get(index).copied().unwrap_or(last)
    };
    let differ = levels.windows(2).any(|pair| pair[0] != pair[1]);
    let all = (0..Layout::V1.num_levels()).filter(|_| differ);
    let by_level = all.map(|level| of(logical_index(PhysicalLevel(level))));
    (of(0), by_level.collect())
}

/// The same as SetOptions takes it.
pub(crate) fn compression_options(levels: &[Compression]) -> [(&'static str, String); 2] {
    let (all, by_level) = compressions(levels);
    let words: Vec<&str> = by_level.into_iter().map(Compression::option).collect();
    [
        ("compression", all.option().to_owned()),
        ("compression_per_level", words.join(":")),
    ]
}

/// RocksDB takes many counts as C integers; settings are checked to be small.
fn int(value: u64) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}
