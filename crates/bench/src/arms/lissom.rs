//! Lissom, with fixed limits, a policy, or an oracle's schedule.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lissom::autopilot::Glance;
use lissom::core::schedule::{DeepOrder, Level0Order, Phase};
use lissom::core::tuner::Policy;
use lissom::core::{Excess, LogicalLevel, RunLimits};
use lissom::{Db, Settings};
use rust_rocksdb::properties;
use rust_rocksdb::statistics::StatsLevel;

use super::listener::CompactionLog;
use super::name::ArmName;
use super::resources::{Compression, Resources};
use super::rocksdb::options_files;
use super::tickers;
use crate::error::{BenchError, Place, Result};
use crate::store::{Counters, LevelShape, Shape, Store, TunerCounters, UserLoad, take};

/// The column family that is measured.
const FAMILY: &str = "default";

/// An open Lissom.
pub struct LissomStore {
    db: Db,
    log: CompactionLog,
    /// Policies by session, for an oracle.
    schedule: Vec<(String, Policy)>,
    /// Whether its compactions follow a schedule that looks at the load.
    scheduled: bool,
    /// Whether its run limits are held once the load has ended.
    frozen: bool,
    path: PathBuf,
}

impl LissomStore {
    /// Opens `path` as the arm `arm`.
    pub fn open(path: &Path, arm: &ArmName, resources: &Resources) -> Result<Self> {
        let schedule = schedule(arm)?;
        // An oracle loads with the limits of its first session.
        let policy = match schedule.first() {
            Some((_, first)) => first.clone(),
            None => parse(&decider(arm))?,
        };
        let mut settings = settings_of(policy, resources);
        adjust(&mut settings, arm, resources);
        let store = Self::with_settings(path, settings).place(format!("arm {arm}"))?;
        Ok(Self {
            schedule,
            scheduled: arm.is_scheduled(),
            frozen: matches!(arm.shape(), ArmName::Frozen(_)),
            ..store
        })
    }

    /// Opens `path` with settings of the caller's.
    ///
    /// # Errors
    /// Lissom's.
    pub(crate) fn with_settings(path: &Path, settings: Settings) -> lissom::Result<Self> {
        let log = CompactionLog::default();
        let listener = log.clone();
        let db = Db::opening(path, settings)
            .customise(move |_, options| options.add_event_listener(listener.clone()))
            .open()?;
        Ok(Self {
            db,
            log,
            schedule: Vec::new(),
            scheduled: false,
            frozen: false,
            path: path.to_path_buf(),
        })
    }

    /// Lissom itself.
    pub(crate) fn db(&self) -> &Db {
        &self.db
    }

    /// The bytes that flushes and compactions read and wrote, without RocksDB's
    /// statistics: RocksDB's own work from its events, the autopilot's from itself.
    pub(crate) fn bytes(&self) -> Counters {
        let mut counters = Counters::default();
        self.log.add_bytes_to(&mut counters);
        if let Some(glance) = self.db.autopilot().glance(FAMILY) {
            counters.compaction_read_bytes += glance.pieces.read_bytes;
            counters.compaction_written_bytes += glance.pieces.write_bytes;
        }
        counters
    }
}

/// What an arm has otherwise than all others.
fn adjust(settings: &mut Settings, arm: &ArmName, resources: &Resources) {
    match arm {
        ArmName::Switch(transition, _) => settings.transition = *transition,
        ArmName::Scheduled(_, schedule) => {
            settings.schedule = *schedule;
            settings.full_load_bytes_per_second = resources.full_load_of(*schedule);
        }
        ArmName::NormalPriority(arm) => {
            settings.idle_cpu_priority = false;
            settings.idle_io_priority = false;
            adjust(settings, arm, resources);
        }
        _ => {}
    }
}

/// The policy that chooses the run limits.
fn decider(arm: &ArmName) -> String {
    match arm.shape() {
        ArmName::Frozen(policy) => policy.clone(),
        arm => arm.to_string(),
    }
}

fn schedule(arm: &ArmName) -> Result<Vec<(String, Policy)>> {
    let parts = arm.schedule().unwrap_or_default();
    let policy = |(session, arm): &(String, ArmName)| {
        parse(&arm.to_string()).map(|policy| (session.clone(), policy))
    };
    parts.iter().map(policy).collect()
}

fn parse(policy: &str) -> Result<Policy> {
    policy.parse().place(format!("arm {policy}"))
}

/// The shared resources in Lissom's words, with the filters that the policy needs.
pub(crate) fn settings_of(policy: Policy, resources: &Resources) -> Settings {
    let buffer = resources.write_buffer_size as u64;
    let own = Settings::default();
    let rate = resources.delete_rate_bytes_per_second;
    Settings {
        delete_rate_bytes_per_second: rate.unwrap_or(own.delete_rate_bytes_per_second),
        filters: policy.filters().unwrap_or_default(),
        policy,
        size_ratio: resources.size_ratio,
        level_compaction_dynamic_level_bytes: resources.level_compaction_dynamic_level_bytes,
        write_buffer_size: buffer,
        max_write_buffer_number: resources.max_write_buffer_number as u32,
        memory_budget_bytes: resources.memory_budget_bytes(),
        level0_file_num_compaction_trigger: resources.level0_file_num_compaction_trigger as u32,
        level0_slowdown_writes_trigger: resources.level0_slowdown_writes_trigger as u32,
        level0_stop_writes_trigger: resources.level0_stop_writes_trigger as u32,
        target_file_size_base: resources.target_file_size_base,
        max_files: resources.max_files,
        mission_operations: resources.mission_operations,
        exploration: resources.exploration,
        max_write_amplification: resources.max_write_amplification,
        bloom_bits_per_key: resources.filter_bits_per_key,
        compression: vec![compression(resources.compression)],
        workers: resources.background_compactions as usize,
        idle_cpu_priority: resources.idle_cpu_priority,
        idle_io_priority: resources.idle_io_priority,
        max_subcompactions: resources.max_subcompactions,
        // As in the stock arms, whose counters come from it.
        statistics: StatsLevel::ExceptHistogramOrTimers,
        schedule_interval: Duration::from_millis(resources.schedule_interval_millis),
        device_bytes_per_second: resources.device_bytes_per_second,
        use_direct_reads: resources.direct_io,
        use_direct_io_for_flush_and_compaction: resources.direct_io,
        ..own
    }
}

fn compression(compression: Compression) -> lissom::Compression {
    match compression {
        Compression::None => lissom::Compression::None,
        Compression::Lz4 => lissom::Compression::Lz4,
        Compression::Zstd => lissom::Compression::Zstd,
    }
}

impl From<lissom::Error> for BenchError {
    fn from(error: lissom::Error) -> Self {
        Self::new(error.to_string())
    }
}

impl Store for LissomStore {
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
        self.db.scan(start, length as usize, visit)?;
        Ok(())
    }

    fn counters(&self) -> Counters {
        let property = self
            .db
            .rocksdb()
            .property_value(properties::OPTIONS_STATISTICS);
        let mut counters = tickers::parse(&property.ok().flatten().unwrap_or_default());
        self.log.add_to(&mut counters);
        if let Some(glance) = self.db.autopilot().glance(FAMILY) {
            add_autopilot(&mut counters, glance);
        }
        counters
    }

    /// The listener hears of the brake's, the autopilot tells its own.
    fn take_largest_piece(&self) -> u64 {
        let own = self.db.autopilot().take_largest_merge(FAMILY);
        own.max(self.log.take_largest())
    }

    fn shape(&self) -> Shape {
        let Some(glance) = self.db.autopilot().glance(FAMILY) else {
            return Shape::default();
        };
        let tree = &glance.tree;
        let mut levels = Vec::new();
        if tree.level0_files > 0 {
            let files = tree.level0_files as u32;
            levels.push(LevelShape {
                level: 0,
                runs: files,
                files,
                bytes: tree.level0_bytes,
                run_limit: None,
            });
        }
        for run in &tree.runs {
            // What RocksDB's brake left on the landing level is merged into level 1 next.
            let level = run.level.unwrap_or(LogicalLevel(1));
            add_run(
                &mut levels,
                level,
                run.bytes,
                run.files as u32,
                &glance.limits,
            );
        }
        levels.sort_by_key(|level| level.level);
        Shape {
            levels,
            debt_bytes: Some(glance.debt_bytes),
        }
    }

    fn user_load(&self) -> Option<UserLoad> {
        self.scheduled.then(|| {
            let report = self.db.autopilot().schedule();
            UserLoad {
                seconds: report.load.interval.as_secs_f64(),
                gets: report.load.gets,
                scans: report.load.scans,
                writes: report.load.writes,
                cached_bytes: report.load.cached_bytes,
                logged_bytes: report.load.logged_bytes,
                compressed_share: report.conditions.compressed_share,
                entry_bytes: report.conditions.entry_bytes,
                user_cpu: report.load.user_cpu,
                high: report.order.phase == Phase::High,
                waits: report.order.level0 == Level0Order::Wait,
                apart: report.order.level0 == Level0Order::MergeApart,
                deep_delayed: report.order.deep != DeepOrder::All,
                at_bound: report.order.at_bound,
            }
        })
    }

    fn settle(&self, patience: Duration) -> Result<bool> {
        self.db.rocksdb().flush()?;
        Ok(self.db.autopilot().wait_until_idle(patience))
    }

    fn session_begins(&self, name: &str) -> Result<()> {
        if let Some((_, policy)) = self.schedule.iter().find(|(session, _)| session == name) {
            self.db.set_policy(FAMILY, policy)?;
        }
        if self.frozen {
            self.db.pin()?;
        }
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.db.autopilot().stop();
        Ok(())
    }

    fn settings_files(&self) -> Vec<PathBuf> {
        options_files(&self.path)
    }
}

/// Why a piece may be over its bound.
pub(crate) const EXCESSES: [Excess; 3] = [
    Excess::NoCommonCuts,
    Excess::SharedBoundaries,
    Excess::Level0,
];

/// The cause as counters and tables name it.
pub(crate) fn excess_name(cause: Excess) -> String {
    format!("{cause:?}")
}

/// Adds the autopilot's own compactions: the listener hears RocksDB's alone, which here
/// are those of its emergency brake.
fn add_autopilot(counters: &mut Counters, glance: Glance) {
    let pieces = glance.pieces;
    counters.compactions += pieces.merged;
    counters.compaction_micros += pieces.time.as_micros() as u64;
    counters.drains = Some(glance.drains);
    counters.tuner = Some(TunerCounters {
        asked: glance.tuner.asked,
        changed: glance.tuner.changed,
        steps: glance.tuner.steps,
        skipped: Some(glance.tuner.skipped),
        micros: glance.tuner.took.as_micros() as u64,
    });
    let excesses = pieces.excesses.into_iter();
    counters.excesses = excesses.map(|(cause, n)| (excess_name(cause), n)).collect();
}

fn add_run(
    levels: &mut Vec<LevelShape>,
    level: LogicalLevel,
    bytes: u64,
    files: u32,
    limits: &RunLimits,
) {
    let number = u32::from(level.0);
    let found = levels.iter().position(|shape| shape.level == number);
    let at = found.unwrap_or_else(|| {
        let run_limit = Some(u32::from(limits.get(level).get()));
        levels.push(LevelShape {
            level: number,
            run_limit,
            ..LevelShape::default()
        });
        levels.len() - 1
    });
    levels[at].runs += 1;
    levels[at].files += files;
    levels[at].bytes += bytes;
}
