//! Everything that a decision may see, frozen at one instant.

use std::collections::BTreeSet;
use std::ops::AddAssign;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::layout::PhysicalLevel;
use crate::schedule::{DeepOrder, Level0Order};
use crate::shape::Shape;
use crate::state::{DrainId, TreeState};
use crate::tree::Tree;

/// A compaction that runs now.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct InFlight {
    /// Its input files.
    pub files: BTreeSet<u64>,
    /// The shallowest level that it reads.
    pub top: PhysicalLevel,
    /// The level that it writes.
    pub output: PhysicalLevel,
    /// Smallest and largest key of its inputs.
    pub range: (Key, Key),
    /// The drain that it belongs to.
    pub drain: Option<DrainId>,
    /// RocksDB or the application runs it: it takes none of the workers.
    #[serde(default)]
    pub foreign: bool,
}

/// One column family at one instant.
#[derive(Clone, Debug)]
pub struct Observation {
    /// The dimensions of the tree.
    pub shape: Shape,
    /// The manifest.
    pub tree: Tree,
    /// The planner's memory.
    pub state: TreeState,
    /// Compactions that run now, RocksDB's own included.
    pub in_flight: Vec<InFlight>,
    /// Files that could not be read; plans leave them alone.
    pub unreadable: BTreeSet<u64>,
    /// Compactions that may run at once, foreign ones not counted.
    pub workers: usize,
    /// Pieces of drains of other column families that run now or wait for a worker. The workers
    /// are the database's.
    pub drains_elsewhere: usize,
    /// What the schedule lets L0 do.
    pub level0: Level0Order,
    /// It is merged because it has come to its bound, whatever the load is.
    pub at_bound: bool,
    /// What the schedule lets run below L0.
    pub deep: DeepOrder,
    /// The limits in force are held: none is changed, nor do waiting ones take their
    /// place.
    pub pinned: bool,
    /// Drains may begin: each is made durable before its first piece. All else needs no
    /// memory, and is planned without.
    pub drains_begin: bool,
    /// What could move is rewritten: RocksDB moves nothing under a compaction filter.
    pub moves_rewrite: bool,
}

impl Observation {
    /// A tree that nobody else touches: nothing runs, every file can be read, the schedule
    /// lets everything run, no limit is held, drains may begin, and moves cost nothing.
    pub fn quiet(shape: Shape, tree: Tree, state: TreeState, workers: usize) -> Self {
        Self {
            shape,
            tree,
            state,
            in_flight: Vec::new(),
            unreadable: BTreeSet::new(),
            workers,
            drains_elsewhere: 0,
            level0: Level0Order::default(),
            at_bound: false,
            deep: DeepOrder::default(),
            pinned: false,
            drains_begin: true,
            moves_rewrite: false,
        }
    }
}

/// Kinds with no larger share of the operations may go untimed: one read in many is timed, and
/// of few none may be.
pub(crate) const RARE: f64 = 0.02;

/// How many operations of each kind a mission had.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct OperationMix {
    /// Gets that found their key.
    pub gets_found: u64,
    /// Gets of absent keys.
    pub gets_absent: u64,
    /// Range scans (seeks).
    pub scans: u64,
    /// Entries that the scans returned.
    pub scan_entries: u64,
    /// Puts and merges.
    pub writes: u64,
    /// Deletes of any kind.
    pub deletes: u64,
}

impl AddAssign<&OperationMix> for OperationMix {
    fn add_assign(&mut self, more: &OperationMix) {
        self.gets_found += more.gets_found;
        self.gets_absent += more.gets_absent;
        self.scans += more.scans;
        self.scan_entries += more.scan_entries;
        self.writes += more.writes;
        self.deletes += more.deletes;
    }
}

impl OperationMix {
    /// Gets of absent keys, gets of present keys, scans, writes and deletes.
    pub fn counts(&self) -> [u64; 5] {
        [
            self.gets_absent,
            self.gets_found,
            self.scans,
            self.writes,
            self.deletes,
        ]
    }

    /// All operations.
    pub fn total(&self) -> u64 {
        self.reads() + self.writes + self.deletes
    }

    /// Gets and scans.
    pub fn reads(&self) -> u64 {
        self.gets_found + self.gets_absent + self.scans
    }

    /// Reads among all operations (gamma), `None` without operations.
    pub fn read_share(&self) -> Option<f64> {
        (self.total() > 0).then(|| self.reads() as f64 / self.total() as f64)
    }
}

/// Latency of one kind of operation over a mission.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Latency {
    /// Operations that the mean is of: one read in many is timed, and every entry that is
    /// written. Quantiles are those of a sample of calls.
    pub count: u64,
    /// Mean, that of reads to the width of a bucket; that of an entry where a batch writes
    /// many. A write that was held back counts with no time, for [`Mission::stall`] has it.
    /// Zero in journals that do not tell it.
    #[serde(default)]
    pub mean: Duration,
    /// Median.
    pub p50: Duration,
    /// 99th percentile.
    pub p99: Duration,
}

/// What one logical level did during a mission. L0 and the landing level count as
/// level 1; what flushes write into L0 stands in [`Mission::flush_write_bytes`] alone.
///
/// Reads by users are told in blocks and in bytes; merges in bytes. RocksDB counts no
/// I/Os of a merge, neither by level nor by job: it reads inputs ahead by
/// `compaction_readahead_size`, and writes outputs through buffers of
/// `writable_file_max_buffer_size`. In I/Os of one size they follow from the bytes
/// ([`LevelMission::compaction_read_ios`], [`LevelMission::compaction_write_ios`]).
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct LevelMission {
    /// Bytes that compactions read from the level.
    pub compaction_read_bytes: u64,
    /// Bytes that compactions wrote into it.
    pub compaction_write_bytes: u64,
    /// Bytes that merges of the level [for the reads' sake](crate::plan::Reason::Consolidate)
    /// wrote, into it or into the next one. Zero in journals that do not tell it.
    #[serde(default)]
    pub for_reads_write_bytes: u64,
    /// Time that compactions into it took.
    pub compaction_time: Duration,
    /// Blocks of any kind that user operations missed in the block cache and read from
    /// files, scaled up from a sample; also those that a scan read ahead.
    pub read_ios: u64,
    /// Bytes of those blocks as they lie in files, scaled up from a sample. RocksDB counts
    /// bytes for an operation as a whole, and not those that it reads ahead: each block
    /// counts with the mean of the blocks that its operation read one by one, and those of
    /// one that did nothing but read ahead with none. Zero in journals that do not tell it.
    #[serde(default)]
    pub read_bytes: u64,
    /// Filter probes that ruled a file out, scaled up from a sample.
    pub filter_useful: u64,
    /// Filter probes that passed, scaled up from a sample.
    pub filter_positive: u64,
    /// Passed probes whose file held the key, scaled up from a sample.
    pub filter_true_positive: u64,
}

impl LevelMission {
    /// What compactions read from the level, in I/Os of `io_bytes` bytes, rounded up: the
    /// unit of RusKey's cost model is a page.
    pub fn compaction_read_ios(&self, io_bytes: u64) -> u64 {
        self.compaction_read_bytes.div_ceil(io_bytes.max(1))
    }

    /// What compactions wrote into the level, in I/Os of `io_bytes` bytes, rounded up.
    pub fn compaction_write_ios(&self, io_bytes: u64) -> u64 {
        self.compaction_write_bytes.div_ceil(io_bytes.max(1))
    }

    /// False positives of the level's filters, scaled up from a sample.
    pub fn filter_false_positive(&self) -> u64 {
        self.filter_positive
            .saturating_sub(self.filter_true_positive)
    }
}

/// Statistics of one mission: some 50,000 operations or a second.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Mission {
    /// Counts from 1 in each session of the autopilot.
    pub number: u64,
    /// How long it took.
    pub duration: Duration,
    /// What the operations were.
    pub operations: OperationMix,
    /// Latency of gets.
    pub get: Latency,
    /// Latency of puts, deletes and batches.
    pub put: Latency,
    /// Latency of scans, from placing the iterator to the last entry; what was done with
    /// the entries is not in it. Journals of older stores tell of placing alone.
    pub seek: Latency,
    /// Entries that the scans returned whose latency is told. Absent in journals that do not tell
    /// it, and where all scans are alike: then it is those of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed_scan_entries: Option<u64>,
    /// By logical level, level 1 first, down to the deepest that did anything. L0 and the
    /// landing level count as level 1.
    pub levels: Vec<LevelMission>,
    /// Bytes that users wrote. Zero where they are not known for the column family, as
    /// of an attached autopilot that drives several.
    pub user_write_bytes: u64,
    /// Bytes that flushes wrote.
    pub flush_write_bytes: u64,
    /// Bytes that compactions wrote.
    pub compaction_write_bytes: u64,
    /// Time that writers were held back, of all of them together.
    pub stall: Duration,
    /// How long the tuner took since the mission before that ended: for its answer to that
    /// one, and for what it told and took up; zero where nobody looked, as in the simulator.
    #[serde(default, skip_serializing_if = "Duration::is_zero")]
    pub tuner_time: Duration,
}

impl Mission {
    /// (flushed + compacted) / written by users; `None` without writes, and where nobody
    /// knows how much they wrote.
    pub fn write_amplification(&self) -> Option<f64> {
        let written = self.flush_write_bytes + self.compaction_write_bytes;
        (self.user_write_bytes > 0).then(|| written as f64 / self.user_write_bytes as f64)
    }

    /// Gets, scans and writes, in this order: how many there were, and their latency.
    pub fn kinds(&self) -> [(f64, &Latency); 3] {
        let mix = &self.operations;
        [
            (mix.gets_found as f64 + mix.gets_absent as f64, &self.get),
            (mix.scans as f64, &self.seek),
            (mix.writes as f64 + mix.deletes as f64, &self.put),
        ]
    }

    /// Whether some of each kind of operation were timed, but for kinds that are rare. Of writes
    /// that were all held back the stall is the time.
    pub fn is_timed(&self) -> bool {
        let rare = RARE * self.operations.total() as f64;
        let kinds = self.kinds();
        let [gets, scans, writes] = kinds.map(|(count, it)| count <= rare || !it.mean.is_zero());
        gets && scans && (writes || !self.stall.is_zero())
    }

    /// Seconds that users waited for their operations, time that writers were held back
    /// included; rare kinds of which none was timed count nothing. `None` where that is all,
    /// and where it is only a part ([`Mission::is_timed`]).
    pub fn waited(&self) -> Option<f64> {
        let kinds = self.kinds().into_iter();
        let timed = kinds.map(|(count, it)| count * it.mean.as_secs_f64());
        let waited = timed.sum::<f64>() + self.stall.as_secs_f64();
        (waited > 0.0 && self.is_timed()).then_some(waited)
    }

    /// Time that compactions took, all levels together, seconds.
    pub fn compaction_seconds(&self) -> f64 {
        let levels = self.levels.iter();
        levels
            .map(|level| level.compaction_time.as_secs_f64())
            .sum()
    }

    /// Block reads per read operation. `None` without reads, and where none of them was
    /// looked at, as of an autopilot that is attached, which sees none.
    pub fn read_amplification(&self) -> Option<f64> {
        let ios: u64 = self.levels.iter().map(|level| level.read_ios).sum();
        let reads = self.operations.reads();
        let looked_at = self.get.count + self.seek.count > 0;
        (reads > 0 && looked_at).then(|| ios as f64 / reads as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_that_nobody_looked_at_have_no_amplification() {
        let mut mission = Mission {
            operations: OperationMix {
                gets_found: 90,
                scans: 10,
                ..OperationMix::default()
            },
            ..Mission::default()
        };
        assert_eq!(mission.read_amplification(), None);
        mission.seek.count = 1;
        assert_eq!(mission.read_amplification(), Some(0.0), "all in the cache");
        mission.levels = vec![LevelMission {
            read_ios: 250,
            ..LevelMission::default()
        }];
        assert_eq!(mission.read_amplification(), Some(2.5));
        mission.operations = OperationMix::default();
        assert_eq!(mission.read_amplification(), None);
    }

    /// Gets of 10 ms in all, writes of 2 ms, and three scans that nobody timed.
    fn few_scans() -> Mission {
        let mean = |micros| Latency {
            mean: Duration::from_micros(micros),
            ..Latency::default()
        };
        Mission {
            operations: OperationMix {
                gets_found: 60,
                gets_absent: 40,
                scans: 3,
                writes: 150,
                deletes: 50,
                ..OperationMix::default()
            },
            get: mean(100),
            put: mean(10),
            ..Mission::default()
        }
    }

    fn took(mission: &Mission, seconds: f64) {
        let waited = mission.waited().expect("it is known");
        assert!((waited - seconds).abs() < 1e-9, "{waited}");
    }

    #[test]
    fn users_wait_for_what_was_timed_and_for_stalls() {
        let mut mission = few_scans();
        took(&mission, 12e-3);
        mission.stall = Duration::from_millis(1);
        took(&mission, 13e-3);
        assert_eq!(Mission::default().waited(), None);
    }

    #[test]
    fn nobody_knows_what_users_waited_where_a_kind_that_is_not_rare_went_untimed() {
        let mut mission = few_scans();
        mission.operations.scans = 7;
        assert_eq!(mission.waited(), None);
        mission.seek.mean = Duration::from_millis(1);
        took(&mission, 19e-3);
        mission.get.mean = Duration::ZERO;
        assert_eq!(mission.waited(), None);
    }

    #[test]
    fn writes_that_were_all_held_back_took_the_stall() {
        let mut mission = few_scans();
        mission.put.mean = Duration::ZERO;
        assert_eq!(mission.waited(), None);
        mission.stall = Duration::from_millis(5);
        took(&mission, 15e-3);
    }

    #[test]
    fn merges_are_told_in_ios_of_one_size() {
        let level = LevelMission {
            compaction_read_bytes: 8_193,
            compaction_write_bytes: 8_192,
            ..LevelMission::default()
        };
        assert_eq!(level.compaction_read_ios(4_096), 3);
        assert_eq!(level.compaction_write_ios(4_096), 2);
        assert_eq!(level.compaction_write_ios(0), 8_192, "a byte at the least");
    }

    /// As a store wrote it that counted neither bytes of reads nor those of merges for them.
    #[test]
    fn a_level_of_an_older_journal_reads_back() {
        let level = r#"{"compaction_read_bytes":1,"compaction_write_bytes":2,
            "compaction_time":{"secs":0,"nanos":3},"read_ios":4,"filter_useful":5,
            "filter_positive":6,"filter_true_positive":6}"#;
        let level: LevelMission = serde_json::from_str(level).expect("it reads back");
        assert_eq!((level.read_ios, level.read_bytes), (4, 0));
        assert_eq!(level.for_reads_write_bytes, 0);
    }
}
