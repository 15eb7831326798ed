//! How much of the machine the users need.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What was asked of the machine in one interval.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Load {
    /// Time since the autopilot began, at the interval's end.
    pub at: Duration,
    /// Time of the day at the interval's end, UTC.
    pub time_of_day: Duration,
    /// Time since 1970 at the interval's end, by the system's clock, which may be set; 0 in
    /// journals that do not tell it.
    #[serde(default)]
    pub clock: Duration,
    /// The interval's length.
    pub interval: Duration,
    /// Gets.
    pub gets: u64,
    /// Range scans.
    pub scans: u64,
    /// Puts, merges and deletes.
    pub writes: u64,
    /// Uncompressed bytes of blocks that user reads brought into the block cache.
    pub cached_bytes: u64,
    /// Bytes that users wrote, and so the write-ahead log.
    pub logged_bytes: u64,
    /// Bytes that flushes wrote.
    pub flushed_bytes: u64,
    /// Bytes that compactions read and wrote.
    pub compacted_bytes: u64,
    /// Of these, what compactions into level 1 moved: merges of L0, and of what was set apart
    /// from it; 0 in journals that do not tell it.
    #[serde(default)]
    pub level1_compacted_bytes: u64,
    /// Bytes of L0 that compactions took; 0 in journals that do not tell it.
    #[serde(default)]
    pub level0_merged_bytes: u64,
    /// Microseconds that the compactions took which ended, summed over workers; 0 in
    /// journals that do not tell it.
    #[serde(default)]
    pub compacted_micros: u64,
    /// Share of the processors that users kept busy, 0 to 1; compactions left out.
    /// Absent where it cannot be told, and where the schedule
    /// [does not ask](super::Schedule::needs_processors).
    pub user_cpu: Option<f64>,
}

impl Load {
    /// This interval and a later one together. The share of the processors is the mean of those
    /// that were told, by their lengths.
    pub fn then(&self, later: &Load) -> Load {
        Load {
            at: later.at,
            time_of_day: later.time_of_day,
            clock: later.clock,
            interval: self.interval.saturating_add(later.interval),
            gets: self.gets.saturating_add(later.gets),
            scans: self.scans.saturating_add(later.scans),
            writes: self.writes.saturating_add(later.writes),
            cached_bytes: self.cached_bytes.saturating_add(later.cached_bytes),
            logged_bytes: self.logged_bytes.saturating_add(later.logged_bytes),
            flushed_bytes: self.flushed_bytes.saturating_add(later.flushed_bytes),
            compacted_bytes: self.compacted_bytes.saturating_add(later.compacted_bytes),
            level1_compacted_bytes: self
                .level1_compacted_bytes
                .saturating_add(later.level1_compacted_bytes),
            level0_merged_bytes: self
                .level0_merged_bytes
                .saturating_add(later.level0_merged_bytes),
            compacted_micros: self.compacted_micros.saturating_add(later.compacted_micros),
            user_cpu: self.mean_user_cpu(later),
        }
    }

    fn mean_user_cpu(&self, later: &Load) -> Option<f64> {
        let (Some(before), Some(after)) = (self.user_cpu, later.user_cpu) else {
            return self.user_cpu.or(later.user_cpu);
        };
        let lengths = [self.interval, later.interval].map(|it| it.as_secs_f64());
        let seconds = (lengths[0] + lengths[1]).max(1e-9);
        Some((before * lengths[0] + after * lengths[1]) / seconds)
    }

    /// Bytes that users wrote, by second.
    pub(crate) fn logged_per_second(&self) -> f64 {
        self.per_second(self.logged_bytes as f64)
    }

    /// An interval without length tells of no rate, and so of no load.
    fn per_second(&self, amount: f64) -> f64 {
        if self.interval.is_zero() {
            return 0.0;
        }
        amount / self.interval.as_secs_f64().max(1e-6)
    }
}

/// What the machine and the data are like.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Conditions {
    /// Bytes a second that the device reads and writes together.
    pub device_bytes_per_second: f64,
    /// Compressed over uncompressed bytes of a block, at most 1 (gamma).
    pub compressed_share: f64,
    /// Mean bytes of an entry, key and value.
    pub entry_bytes: f64,
    /// Compactions that may run at a time.
    pub workers: usize,
    /// All merges give way to whoever wants a processor or the device
    /// ([`PriorityOrder`](super::PriorityOrder)), at both, or would if they were not needed now.
    /// False in journals that do not tell it.
    #[serde(default)]
    pub merges_give_way: bool,
}

impl Default for Conditions {
    /// DLC's disk, entries as its sysbench has them, and one worker.
    fn default() -> Conditions {
        Conditions {
            device_bytes_per_second: 350e6,
            compressed_share: 1.0,
            entry_bytes: 200.0,
            workers: 1,
            merges_give_way: false,
        }
    }
}

/// The load at which the machine is held to be full: what compactions need beside it is
/// missing to somebody. Schedules call a load high or low by its share of this.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FullLoad {
    /// Bytes a second that users move then, by the schedule's own [`LoadModel`]. What the
    /// device does when absent, as in DLC, where the device is scarce: on a machine whose
    /// cores run out first no load would ever be high.
    pub bytes_per_second: Option<f64>,
    /// Share of the processors that users keep busy then, above 0 and at most 1.
    pub cpu: f64,
}

impl Default for FullLoad {
    /// The device, or all processors.
    fn default() -> FullLoad {
        FullLoad {
            bytes_per_second: None,
            cpu: 1.0,
        }
    }
}

impl FullLoad {
    /// Where so many processors are shared with compactions that may keep `workers` of them
    /// busy: users have the rest, and half of them at least.
    pub fn beside(workers: usize, processors: usize) -> FullLoad {
        let taken = workers as f64 / processors.max(1) as f64;
        FullLoad {
            cpu: (1.0 - taken).max(0.5),
            ..FullLoad::default()
        }
    }

    /// A load's share of this one; above 1 when users ask for more.
    pub fn share(&self, model: LoadModel, load: &Load, conditions: &Conditions) -> f64 {
        let device = self.share_of_bytes(model.client(load, conditions), conditions);
        match model {
            LoadModel::Scarcest => device.max(load.user_cpu.unwrap_or(0.0) / self.cpu),
            _ => device,
        }
    }

    /// The share that so many bytes a second are.
    pub(super) fn share_of_bytes(&self, client: f64, conditions: &Conditions) -> f64 {
        let device = conditions.device_bytes_per_second;
        client / self.bytes_per_second.unwrap_or(device).max(1.0)
    }
}

/// A way to tell the users' bandwidth from what is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadModel {
    /// What user reads added to the block cache (DLC, equation 6), and the
    /// write-ahead log's bytes, which DLC leaves out, its log having had a disk of
    /// its own:
    /// client = (gamma * cached bytes + logged bytes) / interval.
    CacheAdditions,
    /// Every operation moves one entry (SILK), a scan like any other read:
    /// client = (gets + scans + writes) * entry / interval.
    Operations,
    /// Every read costs so many bytes (DLC, equation 5; its weight of a get, 16,000,
    /// has no unit in the text, and is read as bytes here, a quarter of its blocks; a
    /// scan costs as much):
    /// client = 16,000 * (gets + scans) / interval.
    Weighted,
    /// As [`LoadModel::CacheAdditions`], or the processors, whichever is scarcer: on
    /// a fast disk the cores run out first.
    Scarcest,
}

/// Bytes of a read in [`LoadModel::Weighted`].
const WEIGHT: f64 = 16_000.0;

impl LoadModel {
    /// The users' share of the device, bytes a second.
    pub fn client(self, load: &Load, conditions: &Conditions) -> f64 {
        let (gets, scans, writes) = (load.gets as f64, load.scans as f64, load.writes as f64);
        let gamma = conditions.compressed_share.clamp(0.0, 1.0);
        load.per_second(match self {
            LoadModel::CacheAdditions | LoadModel::Scarcest => {
                gamma * load.cached_bytes as f64 + load.logged_bytes as f64
            }
            LoadModel::Operations => (gets + scans + writes) * conditions.entry_bytes,
            LoadModel::Weighted => WEIGHT * (gets + scans),
        })
    }

    /// The users' part of what the machine can do; above 1 when they ask for more.
    pub fn pressure(self, load: &Load, conditions: &Conditions) -> f64 {
        FullLoad::default().share(self, load, conditions)
    }
}
