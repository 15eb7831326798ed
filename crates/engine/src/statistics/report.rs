//! What [`Db::statistics`](crate::Db::statistics) answers.

use std::collections::BTreeMap;
use std::time::Duration;

use lissom_core::journal::TreeSummary;
use lissom_core::{Excess, Mission, RunLimits};

/// Statistics of a database since it was opened or attached to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Statistics {
    /// By column family.
    pub families: BTreeMap<String, FamilyStatistics>,
    /// Time that RocksDB held writers back, summed over writers. Without RocksDB's
    /// statistics: the time of all writes through [`Db`](crate::Db) meanwhile.
    pub stall: Duration,
    /// Bytes that users wrote, keys and values of all column families. Under
    /// [`Autopilot::attach`](crate::Autopilot::attach) by RocksDB's count, which is of
    /// whole batches, with what their records need beside that; zero without RocksDB's
    /// statistics.
    pub user_write_bytes: u64,
}

impl Statistics {
    /// (flushed + compacted) / written by users, of all column families that there are;
    /// `None` without writes. Under attach what users wrote to families that have been
    /// released stays among what is divided by.
    pub fn write_amplification(&self) -> Option<f64> {
        let totals = self.families.values().map(|family| &family.total);
        let written: u64 = totals
            .map(|total| total.flush_write_bytes + total.compaction_write_bytes)
            .sum();
        (self.user_write_bytes > 0).then(|| written as f64 / self.user_write_bytes as f64)
    }
}

/// Statistics of one column family.
#[derive(Clone, PartialEq, Debug)]
pub struct FamilyStatistics {
    /// The policy's name.
    pub policy: String,
    /// The run limits in force.
    pub limits: RunLimits,
    /// Whether the limits are pinned.
    pub pinned: bool,
    /// The tree when the autopilot last looked.
    pub tree: TreeSummary,
    /// The last mission that ended. In what is told by level, L0 and the landing level
    /// count as level 1.
    pub mission: Option<Mission>,
    /// Everything since the open, in the form of one mission; its number counts
    /// the missions that ended.
    pub total: Mission,
    /// Bytes in the tree over bytes in its oldest run, an upper bound of the
    /// space amplification. Absent without a run.
    pub space_amplification: Option<f64>,
    /// The longest single write while RocksDB held writers back. Always zero
    /// for writes that bypass this crate, as under
    /// [`Autopilot::attach`](crate::Autopilot::attach).
    pub longest_stall: Duration,
    /// Compactions that the autopilot ran.
    pub pieces: Pieces,
    /// What the tuner did.
    pub tuner: TunerWork,
    /// Bytes that the planner still wants to merge: what is in flight, what begun drains
    /// have left and will rewrite where they lead, and L0 when it is over its trigger.
    pub debt_bytes: u64,
    /// Drains that ended.
    pub drains: u64,
    /// Memory of filters.
    pub filters: FilterMemory,
}

/// What a tuner did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TunerWork {
    /// Missions after which it was asked. A mission goes on while it owes time: at most half
    /// a percent of the missions' time is a tuner's.
    pub asked: u64,
    /// Answers that changed the limits: none while those are pinned.
    pub changed: u64,
    /// Gradient steps, or other updates of what it knows.
    pub steps: u64,
    /// Answers for which it learned nothing though it could have, to keep to a share of the
    /// time.
    pub skipped: u64,
    /// Time that it took: for its answers, and for what it told and took up.
    pub took: Duration,
}

/// The autopilot's compactions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pieces {
    /// Merges that succeeded.
    pub merged: u64,
    /// Moves that succeeded, with those of L0 that RocksDB merged, since others had been flushed
    /// over the files: of these the bytes alone count as those of merges.
    pub moved: u64,
    /// Plans that met a changed tree and were planned again.
    pub stale: u64,
    /// Cancelled ones.
    pub cancelled: u64,
    /// Failed ones.
    pub failed: u64,
    /// Those that took other files than planned, or rewrote what they should
    /// have moved, unless that lay in L0.
    pub mismatched: u64,
    /// Input bytes of the largest merge.
    pub largest_bytes: u64,
    /// The same since [`Autopilot::take_largest_merge`](crate::Autopilot::take_largest_merge).
    pub(crate) largest_since_taken: u64,
    /// Bytes read by merges, planned as such or not.
    pub read_bytes: u64,
    /// Bytes written by them.
    pub write_bytes: u64,
    /// Time that planned merges took, summed over workers.
    pub time: Duration,
    /// Merges over the bound of a piece, by cause.
    pub excesses: BTreeMap<Excess, u64>,
}

/// Filters of a column family, from its files.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FilterMemory {
    /// Bits per key that new files of each logical level get, level 1 first.
    pub bits_per_key: Vec<f64>,
    /// Bytes of all filters, as the files themselves say; moved and adopted
    /// files keep the filters they were written with.
    pub bytes: u64,
}
