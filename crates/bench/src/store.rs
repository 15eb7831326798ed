//! What the harness asks of a store. Counters only ever grow; the harness takes
//! differences, so that loading is never in them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use rust_rocksdb::DBPinnableSlice;
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// A store under test.
pub trait Store: Send + Sync {
    /// Reads `key` into `value`; false if it does not exist.
    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool>;

    /// Writes `key`.
    fn put(&self, key: &[u8], value: &[u8]) -> Result<()>;

    /// Deletes `key`.
    fn delete(&self, key: &[u8]) -> Result<()>;

    /// Visits up to `length` entries from `start` on, in key order.
    fn scan(&self, start: &[u8], length: u64, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<()>;

    /// Work done since the store was opened.
    fn counters(&self) -> Counters;

    /// Input bytes of the largest compaction or piece that ended since the last call, or
    /// since the store was opened. A maximum has no difference: it is begun anew instead.
    fn take_largest_piece(&self) -> u64;

    /// [`Store::counters`] with the largest piece since the last call.
    fn take_counters(&self) -> Counters {
        Counters {
            largest_piece_bytes: self.take_largest_piece(),
            ..self.counters()
        }
    }

    /// The tree now.
    fn shape(&self) -> Shape;

    /// The users' load as the arm's schedule has counted it since the store was opened;
    /// `None` where the arm has no schedule.
    fn user_load(&self) -> Option<UserLoad> {
        None
    }

    /// Holds until nothing is left to flush or to compact, or `patience` has passed;
    /// false in the second case.
    fn settle(&self, patience: Duration) -> Result<bool>;

    /// Told before each session; only an arm with perfect knowledge may look.
    fn session_begins(&self, name: &str) -> Result<()> {
        let _ = name;
        Ok(())
    }

    /// Told when the process goes on after a stop (SIGCONT), in which its clock went on.
    fn resumed(&self) -> Result<()> {
        Ok(())
    }

    /// Ends all background work and closes the directory.
    fn close(self: Box<Self>) -> Result<()>;

    /// Files that record the settings in use, to be published with the results.
    fn settings_files(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// Puts what was found into `value`; false if nothing was.
pub(crate) fn take(found: Option<DBPinnableSlice<'_>>, value: &mut Vec<u8>) -> bool {
    let Some(found) = found else {
        return false;
    };
    value.clear();
    value.extend_from_slice(&found);
    true
}

/// Work done by a store; each number only grows, except the largest piece, which stores
/// leave 0 until somebody takes it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counters {
    /// Bytes written by flushes.
    pub flushed_bytes: u64,
    /// Bytes read by compactions.
    pub compaction_read_bytes: u64,
    /// Bytes written by compactions.
    pub compaction_written_bytes: u64,
    /// Microseconds that compactions ran, summed over workers.
    pub compaction_micros: u64,
    /// Compactions that ended; where work is cut into pieces, the pieces.
    pub compactions: u64,
    /// Input bytes of the largest compaction or piece in the time that is looked at: see
    /// [`Store::take_counters`].
    pub largest_piece_bytes: u64,
    /// Microseconds that RocksDB held writers back.
    pub stall_micros: u64,
    /// Blocks that the cache did not hold, of any kind; those that compactions read are
    /// among them.
    pub block_reads: u64,
    /// Data blocks that users' reads took from files, where the arm counts them: what came
    /// into the cache, which compactions pass by. Index and filter blocks are not in it,
    /// since a new file brings its own.
    pub data_blocks_read: Option<u64>,
    /// Point reads of a file that a filter avoided.
    pub filter_hits: u64,
    /// Full drains of a level, where the arm counts them.
    pub drains: Option<u64>,
    /// What the tuner did, where the arm has one.
    pub tuner: Option<TunerCounters>,
    /// Compaction pieces over their bound, by cause, where the arm has a bound.
    pub excesses: BTreeMap<String, u64>,
}

impl Counters {
    /// What happened since `earlier`; the largest piece is that of `self`.
    pub fn since(&self, earlier: &Self) -> Self {
        let excesses = self
            .excesses
            .iter()
            .map(|(cause, n)| {
                (
                    cause.clone(),
                    n - earlier.excesses.get(cause).unwrap_or(&0).min(n),
                )
            })
            .collect();
        Self {
            flushed_bytes: self.flushed_bytes - earlier.flushed_bytes,
            compaction_read_bytes: self.compaction_read_bytes - earlier.compaction_read_bytes,
            compaction_written_bytes: self.compaction_written_bytes
                - earlier.compaction_written_bytes,
            compaction_micros: self.compaction_micros - earlier.compaction_micros,
            compactions: self.compactions - earlier.compactions,
            largest_piece_bytes: self.largest_piece_bytes,
            stall_micros: self.stall_micros - earlier.stall_micros,
            block_reads: self.block_reads - earlier.block_reads,
            data_blocks_read: difference(self.data_blocks_read, earlier.data_blocks_read),
            filter_hits: self.filter_hits - earlier.filter_hits,
            drains: difference(self.drains, earlier.drains),
            tuner: self
                .tuner
                .map(|tuner| tuner.since(earlier.tuner.unwrap_or_default())),
            excesses,
        }
    }

    /// Bytes written to files by flushes and compactions.
    pub fn written_bytes(&self) -> u64 {
        self.flushed_bytes + self.compaction_written_bytes
    }

    /// The part that a sample keeps.
    pub fn background(&self) -> Background {
        Background {
            flushed_bytes: self.flushed_bytes,
            compaction_read_bytes: self.compaction_read_bytes,
            compaction_written_bytes: self.compaction_written_bytes,
            stall_micros: self.stall_micros,
        }
    }
}

/// Of what an arm may not count.
fn difference(late: Option<u64>, early: Option<u64>) -> Option<u64> {
    late.map(|late| late.saturating_sub(early.unwrap_or(0)))
}

/// Background work since the store was opened, and what writers felt of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Background {
    /// Bytes written by flushes.
    pub flushed_bytes: u64,
    /// Bytes read by compactions.
    pub compaction_read_bytes: u64,
    /// Bytes written by compactions.
    pub compaction_written_bytes: u64,
    /// Microseconds that RocksDB held writers back.
    pub stall_micros: u64,
}

impl Background {
    /// Bytes that flushes and compactions moved to and from files.
    pub fn moved_bytes(&self) -> u64 {
        self.flushed_bytes + self.compaction_read_bytes + self.compaction_written_bytes
    }
}

/// What an arm has counted of its users. The counts only grow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct UserLoad {
    /// Seconds in which it counted.
    pub seconds: f64,
    /// Point reads.
    pub gets: u64,
    /// Scans.
    pub scans: u64,
    /// Writes and deletes.
    pub writes: u64,
    /// Uncompressed bytes of blocks that reads brought into the cache.
    pub cached_bytes: u64,
    /// Bytes written by users, and so the write-ahead log.
    pub logged_bytes: u64,
    /// Compressed over uncompressed bytes of a block, as last estimated.
    pub compressed_share: f64,
    /// Mean bytes of an entry, as last estimated.
    pub entry_bytes: f64,
    /// Mean share of the processors that they kept busy, over all `seconds`; absent where the
    /// arm's schedule does not look at the processors.
    #[serde(default)]
    pub user_cpu: Option<f64>,
    /// Whether the arm's schedule held the load for high just then.
    #[serde(default)]
    pub high: bool,
    /// Whether L0 had to wait just then, if it was due.
    #[serde(default)]
    pub waits: bool,
    /// Whether L0 was to be merged by itself only just then, if it was due.
    #[serde(default)]
    pub apart: bool,
    /// Whether what lies below L0 had to wait just then, or to go on at a pace, if anything
    /// was due.
    #[serde(default)]
    pub deep_delayed: bool,
    /// Whether L0 had come to its bound just then, from which on nothing waits.
    #[serde(default)]
    pub at_bound: bool,
}

/// What a tuner did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TunerCounters {
    /// Missions after which it was asked.
    pub asked: u64,
    /// Answers that changed the run limits.
    pub changed: u64,
    /// Gradient steps, or other updates of what it knows.
    pub steps: u64,
    /// Answers for which it learned nothing though it could have, to keep to a share of the
    /// time, where they were counted.
    #[serde(default)]
    pub skipped: Option<u64>,
    /// Microseconds that it took.
    pub micros: u64,
}

impl TunerCounters {
    fn since(self, earlier: Self) -> Self {
        Self {
            asked: self.asked - earlier.asked,
            changed: self.changed - earlier.changed,
            // A change of policy brings a tuner that has taken none, and left none out.
            steps: self.steps.saturating_sub(earlier.steps),
            skipped: difference(self.skipped, earlier.skipped),
            micros: self.micros - earlier.micros,
        }
    }
}

/// The tree at one instant.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Shape {
    /// Occupied levels, newest data first.
    pub levels: Vec<LevelShape>,
    /// Bytes that the arm's own planner still wants to merge, where it tells them.
    pub debt_bytes: Option<u64>,
}

/// One level: a logical one where the arm has such, else one of RocksDB's.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LevelShape {
    /// Number of the level.
    pub level: u32,
    /// Sorted runs.
    pub runs: u32,
    /// Files.
    pub files: u32,
    /// Bytes.
    pub bytes: u64,
    /// Most runs that the policy wants here, where the arm has a policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_limit: Option<u32>,
}
