//! What every arm gets alike: memory, threads, triggers, I/O.

use std::collections::BTreeMap;

use lissom::core::schedule::{LoadModel, ScheduleKind};
use lissom::core::tuner::{Allowance, EXPLORATION, MAX_WRITE_AMPLIFICATION, Policy};
use lissom::core::{LogicalLevel, Shape};
use serde::{Deserialize, Deserializer, Serialize};

use super::settings_of;
use crate::error::{BenchError, Result};

/// Resources and settings that all arms share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Resources {
    /// Bytes of a write buffer. Default: 2 MiB.
    pub write_buffer_size: usize,
    /// Write buffers in memory. Default: 2.
    pub max_write_buffer_number: i32,
    /// Bytes of the cache for data, index and filter blocks, beside the write buffers.
    /// Default: 32 MiB.
    pub block_cache_size: usize,
    /// Bits of the Bloom filter for each key. Default: 8.
    pub filter_bits_per_key: f64,
    /// Workers of Lissom's arms. RocksDB may run one compaction more than that in every
    /// arm, Lissom's and stock ones alike, beside its flushes. Default: 2.
    pub background_compactions: i32,
    /// Whether merges of Lissom's arms give way to whoever wants a processor. Default: true;
    /// false in results that do not tell it.
    #[serde(default)]
    pub idle_cpu_priority: bool,
    /// The same of whoever wants the device. Default: false, also in results that do not tell
    /// it, of which those that tell of the processors followed them.
    #[serde(default)]
    pub idle_io_priority: bool,
    /// Most threads of one compaction. Default: 1.
    pub max_subcompactions: u32,
    /// L0 files at which compaction starts. Default: 4.
    pub level0_file_num_compaction_trigger: i32,
    /// L0 files at which writes are slowed down. Default: 20.
    pub level0_slowdown_writes_trigger: i32,
    /// L0 files at which writes stop. Default: 36.
    pub level0_stop_writes_trigger: i32,
    /// Ratio of the capacities of neighbouring levels. Default: 10.
    pub size_ratio: u32,
    /// Whether the ratio of Lissom's arms follows the data, `size_ratio` being the most of
    /// it; stock arms keep RocksDB's own way of doing so. Default: true; false in results
    /// that do not tell it.
    #[serde(default)]
    pub level_compaction_dynamic_level_bytes: bool,
    /// Smallest target size of a table file in bytes, for Lissom's arms and
    /// rocksdb-leveled-tuned; the other stock arms keep the library's default of
    /// 64 MiB. Default: 4 MiB, of which level 1 holds no more than 25.
    pub target_file_size_base: u64,
    /// Table files that Lissom's arms keep at most, by making them larger. Default: 5,000.
    pub max_files: u64,
    /// Operations after which a mission of Lissom's arms ends, if a second has not
    /// passed before. Default: 50,000.
    pub mission_operations: u64,
    /// Share of the missions that `learned` may spend on trials, from 0 to 1. Default: 0.1.
    pub exploration: f64,
    /// Bytes that flushes and compactions may have written for each that users wrote when
    /// `learned` begins a merge for the reads' sake; none begins with 0. `inf` means no bound.
    /// Default: 30; no bound in results that do not tell it.
    #[serde(
        default,
        deserialize_with = "finite",
        skip_serializing_if = "Option::is_none"
    )]
    pub max_write_amplification: Option<f64>,
    /// Milliseconds between two looks of a schedule of Lissom's at the load. Default: 1,000.
    pub schedule_interval_millis: u64,
    /// What the device reads and writes together, bytes a second, for the schedules of all
    /// arms. Default: absent; measured once for the whole benchmark where an arm has a
    /// schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_bytes_per_second: Option<u64>,
    /// What schedules hold for a full machine; they go by the device and the processors
    /// when absent. [`RunPlan::offer`](crate::RunPlan::offer) sets it. Default: absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_load: Option<FullLoads>,
    /// Bytes of files that are deleted in a second, in all arms; 0 deletes all at once. Stock arms
    /// have RocksDB's own manager, which takes files of over 64 MiB in pieces. Default: absent,
    /// 256 MiB in Lissom's arms and all at once in stock ones; all at once in results of programs
    /// before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete_rate_bytes_per_second: Option<u64>,
    /// Whether reads, flushes and compactions bypass the page cache. Default: true.
    pub direct_io: bool,
    /// Compression of all levels. Default: none.
    pub compression: Compression,
    /// The texts of the OPTIONS files of the arms `rocksdb-options-NAME`, by name. Default: none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub options_files: BTreeMap<String, String>,
}

/// Bytes a second that users move when the machine is full, as load models see them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FullLoads {
    /// Blocks that reads brought into the cache, and what was written.
    pub cache_additions: u64,
    /// An entry for each operation.
    pub operations: u64,
}

/// Compression of table files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compression {
    /// None.
    #[default]
    None,
    /// LZ4.
    Lz4,
    /// Zstandard.
    Zstd,
}

/// TOML has a word for infinity, and JSON and TOML alike leave out what is absent.
fn finite<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Option<f64>, D::Error> {
    let bound = Option::<f64>::deserialize(from)?;
    Ok(bound.filter(|bound| *bound != f64::INFINITY))
}

impl Default for Resources {
    fn default() -> Self {
        Self {
            write_buffer_size: 2 << 20,
            max_write_buffer_number: 2,
            block_cache_size: 32 << 20,
            filter_bits_per_key: 8.0,
            background_compactions: 2,
            idle_cpu_priority: true,
            idle_io_priority: false,
            max_subcompactions: 1,
            level0_file_num_compaction_trigger: 4,
            level0_slowdown_writes_trigger: 20,
            level0_stop_writes_trigger: 36,
            size_ratio: 10,
            level_compaction_dynamic_level_bytes: true,
            target_file_size_base: 4 << 20,
            max_files: 5_000,
            mission_operations: 50_000,
            exploration: EXPLORATION,
            max_write_amplification: Some(MAX_WRITE_AMPLIFICATION),
            schedule_interval_millis: 1_000,
            device_bytes_per_second: None,
            full_load: None,
            delete_rate_bytes_per_second: None,
            direct_io: true,
            compression: Compression::None,
            options_files: BTreeMap::new(),
        }
    }
}

impl Resources {
    /// The same with one field changed, written as `name=value`; the error says which
    /// names there are, or what the field holds. [`Resources::check`] is the caller's.
    pub fn with(&self, assignment: &str) -> Result<Self> {
        let wrong = |error: toml::de::Error| {
            BenchError::new(format!("resource {assignment}: {}", error.message()))
        };
        let mut table = toml::Table::try_from(self).expect("resources are plain fields");
        table.extend(assignment.parse::<toml::Table>().map_err(wrong)?);
        table.try_into().map_err(wrong)
    }

    /// Checks every field; the error names it.
    pub fn check(&self) -> Result<()> {
        let triggers = [
            1,
            self.level0_file_num_compaction_trigger,
            self.level0_slowdown_writes_trigger,
            self.level0_stop_writes_trigger,
        ];
        let rules = [
            (
                self.write_buffer_size >= 64 << 10,
                "write_buffer_size must be at least 64 KiB",
            ),
            (
                self.max_write_buffer_number >= 2,
                "max_write_buffer_number must be at least 2",
            ),
            (
                self.block_cache_size >= 64 << 10,
                "block_cache_size must be at least 64 KiB",
            ),
            (
                (0.0..=100.0).contains(&self.filter_bits_per_key),
                "filter_bits_per_key must lie in 0..=100",
            ),
            (
                self.background_compactions >= 1,
                "background_compactions must be at least 1",
            ),
            (
                self.target_file_size_base >= 64 << 10,
                "target_file_size_base must be at least 64 KiB",
            ),
            (self.max_files >= 100, "max_files must be at least 100"),
            (
                self.mission_operations >= 1,
                "mission_operations must be at least 1",
            ),
            (
                (0.0..=1.0).contains(&self.exploration),
                "exploration must lie in 0..=1",
            ),
            (
                self.max_write_amplification.is_none_or(|it| it >= 0.0),
                "max_write_amplification must be at least 0, or inf for no bound",
            ),
            (
                self.delete_rate_bytes_per_second
                    .is_none_or(|it| it == 0 || it >= 1 << 20),
                "delete_rate_bytes_per_second must be 0 or at least 1048576",
            ),
            (
                (100..=60_000).contains(&self.schedule_interval_millis),
                "schedule_interval_millis must lie in 100..=60000",
            ),
            (
                self.device_bytes_per_second.is_none_or(|it| it >= 1 << 20),
                "device_bytes_per_second must be at least 1048576",
            ),
            (
                self.max_subcompactions >= 1,
                "max_subcompactions must be at least 1",
            ),
            (
                triggers.is_sorted(),
                "the L0 triggers must be at least 1 and must not fall from compaction to slowdown to stop",
            ),
            (
                (2..=100).contains(&self.size_ratio),
                "size_ratio must lie in 2..=100",
            ),
        ];
        match rules.iter().find(|(holds, _)| !holds) {
            Some((_, rule)) => Err(BenchError::new(format!("resources: {rule}"))),
            None => Ok(()),
        }
    }

    /// What `learned` is allowed.
    pub fn allowance(&self) -> Allowance {
        Allowance {
            exploration: self.exploration,
            max_write_amplification: self.max_write_amplification,
        }
    }

    /// What a schedule is told of a full machine, by the load model that it goes by.
    pub fn full_load_of(&self, schedule: ScheduleKind) -> Option<u64> {
        let full = self.full_load?;
        Some(match schedule.load_model()? {
            LoadModel::Operations => full.operations,
            LoadModel::CacheAdditions | LoadModel::Weighted | LoadModel::Scarcest => {
                full.cache_additions
            }
        })
    }

    /// Bytes of the one cache that holds data, index and filter blocks, and to which
    /// write buffers are charged. The same in every arm.
    pub fn memory_budget_bytes(&self) -> u64 {
        self.block_cache_size as u64 + self.write_buffer_bytes() as u64
    }

    /// Bytes that write buffers may take.
    pub fn write_buffer_bytes(&self) -> usize {
        self.write_buffer_size
            .saturating_mul(self.max_write_buffer_number as usize)
    }

    /// The `max_background_jobs` of every arm. Lissom's leave one compaction to RocksDB's
    /// emergency brake, and stock arms get as many jobs, so that nobody may run more.
    pub fn max_background_jobs(&self) -> i32 {
        let jobs = settings_of(Policy::LazyLeveling, self).max_background_jobs();
        i32::try_from(jobs).unwrap_or(i32::MAX)
    }

    /// Bytes of L0 at its compaction trigger.
    pub fn level0_bytes(&self) -> u64 {
        self.write_buffer_size as u64 * self.level0_file_num_compaction_trigger as u64
    }

    /// Bytes that must be written for one full drain of the last level but one, in a
    /// tree of Lissom's over `data_bytes`: that level's capacity.
    pub fn drain_bytes(&self, data_bytes: u64) -> u64 {
        let deepest = self
            .shape()
            .level_for(data_bytes)
            .map_or(1, |level| level.0);
        let fitted = self.shape().fitted_to(data_bytes, None);
        fitted.capacity(LogicalLevel(deepest - 1))
    }

    /// The size ratio of a tree of Lissom's over `data_bytes`.
    pub fn fitted_size_ratio(&self, data_bytes: u64) -> u32 {
        self.shape().fitted_to(data_bytes, None).size_ratio
    }

    fn shape(&self) -> Shape {
        settings_of(Policy::LazyLeveling, self).shape()
    }
}
