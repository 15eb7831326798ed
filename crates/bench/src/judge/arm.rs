//! One arm over all complete rounds.

use serde::{Deserialize, Serialize};

use super::debt::{debt_seconds, runs_of, tells_debt};
use super::figure::{Figure, Standing};
use crate::arms::ArmName;
use crate::drive::{LatencySummary, OpKind};
use crate::run::{ArmRun, Parameters, SessionRecord, Totals};

/// An arm's figures. Times are in seconds, latencies in microseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArmVerdict {
    /// The arm.
    pub arm: ArmName,
    /// Whether it belongs to the hull: static, and never over the space bound.
    pub in_hull: bool,
    /// Whether it was over the space bound in any round.
    pub over_space_bound: bool,
    /// Whether it may be better than others: not with knowledge of the sessions
    /// beforehand, not with more space than all are given, and of several settings of the
    /// thresholds only the one with the lowest median total.
    pub is_rival: bool,
    /// Time of all closed sessions with the closing one, and the debt.
    pub total_seconds: Figure,
    /// The debt's part of it; absent of an arm that does not tell its debt.
    pub debt_seconds: Option<Figure>,
    /// By session.
    pub sessions: Vec<SessionVerdict>,
    /// Bytes written to files per byte written by the user.
    pub write_amplification: Option<Figure>,
    /// Data blocks that users' reads took from files, per get or scan.
    pub read_amplification: Option<Figure>,
    /// Highest bytes on disk over existing bytes.
    pub peak_space_amplification: Figure,
    /// The same at the end.
    pub end_space_amplification: Figure,
    /// 99.9th percentile of writes in closed sessions, of those that read nothing; of what counts
    /// from the moment due, sessions tell for themselves.
    pub write_p999: Option<Figure>,
    /// The same of point reads.
    pub read_p999: Option<Figure>,
    /// The same of scans.
    pub scan_p999: Option<Figure>,
    /// Longest write of a closed session: the longest stall that a writer saw there.
    pub longest_write: Option<Figure>,
    /// Longest operation of any kind in closed sessions.
    pub longest_operation: Figure,
    /// Seconds that RocksDB held writers back.
    pub stall_seconds: Figure,
    /// Input bytes of the largest compaction or piece.
    pub largest_piece_bytes: Figure,
    /// Highest resident bytes without the harness's own.
    pub memory_bytes: Figure,
    /// Bytes that went to the device.
    pub device_written_bytes: Figure,
    /// Against the best static arm's total; none for that arm itself, none for an arm over
    /// the space bound, and none while there are too few rounds.
    pub standing: Option<Standing>,
}

/// An arm's figures in one session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionVerdict {
    /// Name.
    pub name: String,
    /// Whether operations had a due time; such a session is judged by latency.
    pub open: bool,
    /// Seconds.
    pub seconds: Figure,
    /// Operations per second.
    pub operations_per_second: Figure,
    /// 99.9th percentile over all kinds.
    pub p999: Figure,
    /// Longest operation.
    pub longest: Figure,
    /// Bytes written to files per byte written by the user.
    pub write_amplification: Option<Figure>,
    /// Data blocks that users' reads took from files, per get or scan.
    pub read_amplification: Option<Figure>,
    /// Highest bytes on disk over existing bytes.
    pub peak_space_amplification: Figure,
    /// Whether no rival is [ahead](Figure::is_ahead_of) of it in the session. Not while there
    /// are too few rounds, and never of an arm that is nobody's rival.
    pub best: bool,
}

impl SessionVerdict {
    /// The figure by which the session is judged: the 99.9th percentile where a rate is
    /// offered, else the seconds.
    pub fn judged(&self) -> &Figure {
        if self.open { &self.p999 } else { &self.seconds }
    }
}

/// Judges `arm` by its runs in complete rounds; `None` if there are none.
pub fn judge_arm(
    arm: &ArmName,
    rounds: &[Vec<&ArmRun>],
    parameters: &Parameters,
) -> Option<ArmVerdict> {
    let (space_bound, patience) = (parameters.space_bound, parameters.settle_seconds);
    let runs = runs_of(arm, rounds);
    let over = |figure: &dyn Fn(&Totals) -> f64| Figure::of(runs.iter().map(|r| figure(&r.totals)));
    let debts: Vec<f64> = rounds
        .iter()
        .zip(&runs)
        // Where nobody compacted there is no speed; a caution says so.
        .map(|(round, run)| debt_seconds(run, round, patience).unwrap_or(0.0))
        .collect();
    let totals = runs
        .iter()
        .zip(&debts)
        .map(|(run, debt)| closed_seconds(run) + debt);
    let tells_debt = runs.iter().all(|run| tells_debt(run, patience));
    let peak = over(&|t| t.peak_space_amplification)?;
    let over_space_bound = peak.max > space_bound;
    Some(ArmVerdict {
        arm: arm.clone(),
        in_hull: arm.is_static() && !over_space_bound,
        over_space_bound,
        is_rival: !knows_sessions(arm, &parameters.arms) && !over_space_bound,
        total_seconds: Figure::of(totals)?,
        debt_seconds: Figure::of(debts.iter().copied()).filter(|_| tells_debt),
        sessions: judge_sessions(&runs),
        write_amplification: Figure::of(runs.iter().filter_map(|r| r.totals.write_amplification())),
        read_amplification: Figure::of(runs.iter().filter_map(|r| r.read_amplification())),
        peak_space_amplification: peak,
        end_space_amplification: over(&|t| t.end_space_amplification)?,
        write_p999: tail(&runs, OpKind::writes_alone, |t| &t.writes),
        read_p999: tail(&runs, OpKind::reads_a_point, |t| &t.point_reads),
        scan_p999: tail(&runs, |kind| kind == OpKind::Scan, |t| &t.scans),
        longest_write: longest_write(&runs),
        longest_operation: Figure::of(runs.iter().map(|run| longest_operation(run)))?,
        stall_seconds: over(&|t| t.counters.stall_micros as f64 / 1e6)?,
        largest_piece_bytes: over(&|t| t.counters.largest_piece_bytes as f64)?,
        memory_bytes: over(&|t| {
            t.peak_resident_bytes
                .saturating_sub(t.baseline_resident_bytes) as f64
        })?,
        device_written_bytes: over(&|t| t.device_written_bytes as f64)?,
        standing: None,
    })
}

/// Whether `arm` knows the sessions beforehand. Where all of them do they are rivals, as in a
/// comparison of transitions; oracles never are.
fn knows_sessions(arm: &ArmName, all: &[ArmName]) -> bool {
    let knows = |arm: &ArmName| arm.schedule().is_some();
    arm.is_oracle() || (knows(arm) && !all.iter().all(knows))
}

/// The 99.9th percentile of closed sessions over rounds, where they have such operations. Older
/// files count open sessions and read-modify-writes in, and no percentile can be taken out of such
/// a sum again.
fn tail(
    runs: &[&ArmRun],
    kinds: fn(OpKind) -> bool,
    group: fn(&Totals) -> &LatencySummary,
) -> Option<Figure> {
    let closed_alone = |run: &&ArmRun| {
        let closed: u64 = run.closed_latencies(kinds).map(|it| it.count).sum();
        group(&run.totals).count == closed
    };
    if !runs.iter().all(closed_alone) {
        return None;
    }
    let groups = runs
        .iter()
        .map(|run| group(&run.totals))
        .filter(|group| group.count > 0);
    Figure::of(groups.map(|group| group.p999))
}

fn longest_write(runs: &[&ArmRun]) -> Option<Figure> {
    let of_run = |run: &&ArmRun| {
        let longest = run.closed_latencies(OpKind::writes_alone).map(|it| it.max);
        longest.max_by(f64::total_cmp)
    };
    Figure::of(runs.iter().filter_map(of_run))
}

fn longest_operation(run: &ArmRun) -> f64 {
    let longest = run.closed_sessions().map(|session| session.latency.max);
    longest.fold(0.0, f64::max)
}

/// Time of all sessions whose length is the arm's own doing.
pub fn closed_seconds(run: &ArmRun) -> f64 {
    run.closed_sessions().map(|session| session.seconds).sum()
}

fn judge_sessions(runs: &[&ArmRun]) -> Vec<SessionVerdict> {
    let count = runs.first().map_or(0, |run| run.sessions.len());
    (0..count).filter_map(|i| judge_session(runs, i)).collect()
}

fn judge_session(runs: &[&ArmRun], i: usize) -> Option<SessionVerdict> {
    let records: Vec<&SessionRecord> = runs.iter().filter_map(|run| run.sessions.get(i)).collect();
    let over =
        |figure: &dyn Fn(&SessionRecord) -> f64| Figure::of(records.iter().map(|r| figure(r)));
    let written = records.iter().filter(|r| r.user_bytes > 0);
    Some(SessionVerdict {
        name: records.first()?.name.clone(),
        open: records.first()?.open,
        seconds: over(&|r| r.seconds)?,
        operations_per_second: over(&|r| r.operations as f64 / r.seconds.max(1e-9))?,
        p999: over(&|r| r.latency.p999)?,
        longest: over(&|r| r.latency.max)?,
        write_amplification: Figure::of(
            written.map(|r| r.counters.written_bytes() as f64 / r.user_bytes as f64),
        ),
        read_amplification: Figure::of(records.iter().filter_map(|r| r.read_amplification())),
        peak_space_amplification: over(&|r| r.peak_space_amplification)?,
        best: false,
    })
}
