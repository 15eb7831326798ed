//! What is kept of a run.

use serde::{Deserialize, Serialize};

use super::program::Program;
use crate::arms::ArmName;
use crate::drive::{LatencySummary, OpKind, Sample};
use crate::store::Counters;

/// One arm in one round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArmRun {
    /// The arm.
    pub arm: ArmName,
    /// The round, from 0.
    pub round: u32,
    /// The program that ran it, where it told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
    /// Digits that tell under which start of a machine it was made; absent in older files, and
    /// where the system does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
    /// When the sitting began in which it was made, in seconds since 1970: sittings differ in it.
    /// Absent in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sitting: Option<u64>,
    /// How the starting state was reached; not measured.
    pub load: LoadRecord,
    /// The sessions, the closing one last.
    pub sessions: Vec<SessionRecord>,
    /// Over all sessions.
    pub totals: Totals,
    /// The series.
    pub samples: Vec<Sample>,
}

/// The unmeasured part.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadRecord {
    /// Whether the load was copied from an earlier round.
    pub copied: bool,
    /// Seconds of the load.
    pub seconds: f64,
    /// Updates that brought the tree to this round's phase.
    pub phase_updates: u64,
    /// Whether background work ended before measuring began.
    pub settled: bool,
    /// Bytes of table files when measuring began.
    pub disk_bytes: u64,
}

/// One measured session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// Name.
    pub name: String,
    /// Whether operations had a due time: then its length is no figure of the arm.
    pub open: bool,
    /// Operations.
    pub operations: u64,
    /// Seconds from the first operation's start to the last one's end.
    pub seconds: f64,
    /// Latencies in microseconds, by kind.
    pub latencies: Vec<(OpKind, LatencySummary)>,
    /// Over all kinds.
    pub latency: LatencySummary,
    /// Bytes of keys and values written.
    pub user_bytes: u64,
    /// Answers checked, of scans each entry whose last version the thread knew. Older files
    /// count all entries of scans.
    pub verified: u64,
    /// Work of the store.
    pub counters: Counters,
    /// Bytes of all existing keys with their values at the end.
    pub live_bytes: u64,
    /// Bytes of table files at the end.
    pub disk_bytes: u64,
    /// Highest table file bytes over existing bytes.
    pub peak_space_amplification: f64,
}

/// Sums over all sessions; latencies over closed ones, since those of open sessions count from
/// the moment an operation was due. In older files they are over all sessions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Bytes of keys and values written.
    pub user_bytes: u64,
    /// Work of the store.
    pub counters: Counters,
    /// Writes.
    pub writes: LatencySummary,
    /// Point reads.
    pub point_reads: LatencySummary,
    /// Scans.
    pub scans: LatencySummary,
    /// Answers checked.
    pub verified: u64,
    /// Entries that one scan of everything found right at the end, which is not measured; absent
    /// in older files, whose stores were not read in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_at_end: Option<u64>,
    /// Highest table file bytes over existing bytes.
    pub peak_space_amplification: f64,
    /// The same at the end.
    pub end_space_amplification: f64,
    /// Bytes that the arm said it still wanted to merge after the closing session: see
    /// [`ArmRun::debt_bytes`].
    pub debt_bytes: Option<u64>,
    /// Seconds in which the arm then flushed, and merged what was due, with nobody beside it:
    /// what it owed. Absent where it did not come to rest in the time that it was given, and in
    /// older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle_seconds: Option<f64>,
    /// Resident bytes before the store was opened: the harness's own.
    pub baseline_resident_bytes: u64,
    /// Highest resident bytes.
    pub peak_resident_bytes: u64,
    /// Bytes that went to the device during the sessions.
    pub device_written_bytes: u64,
    /// Bytes that came from the device during the sessions.
    pub device_read_bytes: u64,
}

impl ArmRun {
    /// The sessions whose operations had no due time.
    pub fn closed_sessions(&self) -> impl Iterator<Item = &SessionRecord> {
        self.sessions.iter().filter(|session| !session.open)
    }

    /// Latencies of closed sessions, one for each session and kind.
    pub fn closed_latencies(
        &self,
        kinds: fn(OpKind) -> bool,
    ) -> impl Iterator<Item = &LatencySummary> {
        let latencies = self.closed_sessions().flat_map(|it| &it.latencies);
        let wanted = latencies.filter(move |(kind, _)| kinds(*kind));
        wanted.map(|(_, latency)| latency)
    }

    /// Bytes of all existing keys with their values when the first session had ended: what
    /// an arm is judged by as the size of the data.
    pub fn data_bytes(&self) -> Option<u64> {
        self.sessions.first().map(|it| it.live_bytes)
    }

    /// Bytes that the arm still wanted to merge after the closing session, where it tells
    /// them. RocksDB estimates none of its universal style, and answers 0.
    pub fn debt_bytes(&self) -> Option<u64> {
        let told = self.totals.debt_bytes;
        told.filter(|_| self.arm != ArmName::RocksdbUniversal)
    }

    /// Read amplification over all sessions: see [`SessionRecord::read_amplification`].
    pub fn read_amplification(&self) -> Option<f64> {
        let reads = self.sessions.iter().map(SessionRecord::reads).sum();
        per_read(&self.totals.counters, reads)
    }
}

impl SessionRecord {
    /// Operations that read: gets, scans, and reads that a write follows.
    pub fn reads(&self) -> u64 {
        let reads = self.latencies.iter().filter(|(kind, _)| kind.reads());
        reads.map(|(_, latency)| latency.count).sum()
    }

    /// Data blocks that users' reads took from files, per operation that read; `None`
    /// without such an operation, and where blocks were not counted. As
    /// [`Mission::read_amplification`](lissom::core::Mission::read_amplification), which
    /// counts blocks of all kinds, from a sample.
    pub fn read_amplification(&self) -> Option<f64> {
        per_read(&self.counters, self.reads())
    }
}

fn per_read(counters: &Counters, reads: u64) -> Option<f64> {
    let blocks = counters.data_blocks_read?;
    (reads > 0).then(|| blocks as f64 / reads as f64)
}

impl Totals {
    /// Bytes written to files per byte written by the user; `None` without writes.
    pub fn write_amplification(&self) -> Option<f64> {
        let written = self.counters.written_bytes() as f64;
        (self.user_bytes > 0).then(|| written / self.user_bytes as f64)
    }

    /// Input bytes that this arm's compactions merged per second and worker; `None` if
    /// it did not compact.
    pub fn compaction_bytes_per_second(&self) -> Option<f64> {
        let counters = &self.counters;
        let measured = counters.compaction_micros > 0 && counters.compaction_read_bytes > 0;
        measured.then(|| {
            counters.compaction_read_bytes as f64 / (counters.compaction_micros as f64 / 1e6)
        })
    }
}
