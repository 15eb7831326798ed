//! What an arm left undone is charged to it.

use crate::arms::ArmName;
use crate::run::ArmRun;

/// Seconds that each run of a round still owes: those in which it came to rest with nobody
/// beside it. That is one quantity for all arms. Bytes are not, which each planner counts in its
/// own way, and the speed of compactions in a run is one that users held down.
///
/// Who did not come to rest in `patience` seconds owes more than these, and is charged them.
///
/// Where it was not timed, as in older files: debt bytes over the bytes that the arm's compactions
/// merged per second. An arm that did not compact is charged at the slowest speed of its round;
/// `None` if nobody compacted. What an arm does not tell cannot be charged to it.
pub fn debt_seconds(run: &ArmRun, round: &[&ArmRun], patience: Option<u64>) -> Option<f64> {
    let timed = run.totals.settle_seconds;
    let timed = timed.or(patience.map(|seconds| seconds as f64));
    if timed.is_some() {
        return timed;
    }
    let debt = run.debt_bytes().unwrap_or(0);
    if debt == 0 {
        return Some(0.0);
    }
    let own = run.totals.compaction_bytes_per_second();
    let others = round
        .iter()
        .filter_map(|other| other.totals.compaction_bytes_per_second());
    let speed = own.or_else(|| others.min_by(f64::total_cmp))?;
    Some(debt as f64 / speed)
}

/// Whether what a run owes was timed, within `patience` or longer, or its arm told it.
pub fn tells_debt(run: &ArmRun, patience: Option<u64>) -> bool {
    let timed = run.totals.settle_seconds.is_some() || patience.is_some();
    timed || run.debt_bytes().is_some()
}

/// The runs of `arm` in the given rounds, by round.
pub fn runs_of<'a>(arm: &ArmName, rounds: &[Vec<&'a ArmRun>]) -> Vec<&'a ArmRun> {
    rounds
        .iter()
        .flat_map(|round| round.iter().find(|run| run.arm == *arm).copied())
        .collect()
}
