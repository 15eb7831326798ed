//! What an agent sees of its level, and what a mission cost.

use crate::layout::LogicalLevel;
use crate::observation::{LevelMission, Mission};
use crate::tuner::Question;

/// Numbers in a state.
pub(super) const SIZE: usize = 9;

/// Weight of the level's own time against that of everything (alpha).
const OWN: f64 = 0.5;

/// What users feel of a second of compaction that runs beside them: least squares over 45
/// sessions of the hull of `five-sessions` (commit 1d551c5), within 0.27 and 0.55 for
/// mixes of 10 to 90 % updates. In the paper operations wait for compactions, which are
/// felt whole.
const FELT: f64 = 0.44;

/// Bytes of an I/O, where bytes are counted.
const IO_BYTES: f64 = 4096.0;

/// The level's limit, capacity, fill, read and write I/Os, and the workload's shares of
/// reads and, among them, of gets of absent keys and of scans, and of deletes (RusKey,
/// section 5.1; fill and the last three shares are added). All of the order of 1.
pub(super) fn of_level(seen: &Question<'_>, level: LogicalLevel) -> Vec<f32> {
    let mission = seen.mission;
    let operations = mission.operations.total().max(1) as f64;
    let own = own(mission, level);
    let capacity = seen.shape.capacity(level) as f64;
    let bytes: u64 = seen
        .tree
        .runs_of(&seen.shape.layout, level)
        .into_iter()
        .map(|run| seen.tree.bytes(run))
        .sum();
    let written = (own.compaction_read_bytes + own.compaction_write_bytes) as f64 / IO_BYTES;
    let share = |count: u64| count as f64 / operations;
    let state: [f64; SIZE] = [
        f64::from(seen.limits.get(level).get()) / f64::from(seen.shape.size_ratio),
        capacity.ln() / 40.0,
        (bytes as f64 / capacity).min(3.0),
        (own.read_ios as f64 / operations).min(4.0),
        (written / operations).min(8.0) / 2.0,
        mission.operations.read_share().unwrap_or(0.0),
        share(mission.operations.gets_absent),
        share(mission.operations.scans),
        share(mission.operations.deletes),
    ];
    state.map(|number| number as f32).to_vec()
}

fn own(mission: &Mission, level: LogicalLevel) -> LevelMission {
    mission
        .levels
        .get(usize::from(level.0).wrapping_sub(1))
        .copied()
        .unwrap_or_default()
}

/// Seconds of an operation: alpha times the level's own, the rest the whole tree's
/// (RusKey, section 5.1, where it is called the reward). Counted is what users waited for
/// reads and writes, and what they felt of compactions: a share while those run beside
/// them, or, where they do not keep up, the time in which writers were held back, if that
/// is more. The mean of writes is without it. `None` without operations, and where a kind that
/// is not rare went untimed: its operations would look free.
pub(super) fn cost(mission: &Mission, level: LogicalLevel) -> Option<f64> {
    let operations = mission.operations.total();
    if operations == 0 || !mission.is_timed() {
        return None;
    }
    let kinds = mission.kinds();
    let [gets, scans, writes] = kinds.map(|(count, it)| count * it.mean.as_secs_f64());
    let reads = gets + scans;
    let ios: u64 = mission.levels.iter().map(|level| level.read_ios).sum();
    let own = own(mission, level);
    let own_reads = reads * own.read_ios as f64 / ios.max(1) as f64;
    let compaction = mission.compaction_seconds();
    let felt = (FELT * compaction).max(mission.stall.as_secs_f64());
    let own_share = own.compaction_time.as_secs_f64() / compaction.max(1e-9);
    let own_time = own_reads + felt * own_share.min(1.0);
    let all_time = reads + writes + felt;
    let cost = (OWN * own_time + (1.0 - OWN) * all_time) / operations as f64;
    cost.is_finite().then_some(cost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::{Latency, OperationMix};
    use crate::shape::{RunLimit, RunLimits};
    use crate::testing::small_shape;
    use crate::tree::Tree;
    use std::time::Duration;

    /// 40 gets of present keys, 10 of absent ones, 5 scans, 25 writes and 20 deletes.
    #[test]
    fn every_kind_of_operation_is_in_the_state() {
        let mission = Mission {
            operations: OperationMix {
                gets_found: 40,
                gets_absent: 10,
                scans: 5,
                scan_entries: 50,
                writes: 25,
                deletes: 20,
            },
            ..Mission::default()
        };
        let seen = Question {
            shape: &small_shape(),
            tree: &Tree::default(),
            limits: &RunLimits::uniform(RunLimit::clamped(5)),
            refused: &[],
            mission: &mission,
        };
        let state = of_level(&seen, LogicalLevel(1));
        assert_eq!((state.len(), state[0]), (SIZE, 0.5));
        let shares = [0.55, 0.1, 0.05, 0.2].map(|share: f64| share as f32);
        assert_eq!(state[SIZE - 4..], shares);
    }

    /// 10 gets of 1 ms, half of their I/Os in level 1; 10 writes of 1.5 ms, and 5 ms of
    /// stalls beside them; compactions of 20 ms, 5 of them into level 1.
    #[test]
    fn cost_by_hand() {
        let level = |millis, read_ios| LevelMission {
            compaction_time: Duration::from_millis(millis),
            read_ios,
            ..LevelMission::default()
        };
        let mean = |micros| Latency {
            mean: Duration::from_micros(micros),
            ..Latency::default()
        };
        let mission = Mission {
            operations: OperationMix {
                gets_found: 10,
                writes: 10,
                ..OperationMix::default()
            },
            get: mean(1_000),
            put: mean(1_500),
            stall: Duration::from_millis(5),
            levels: vec![level(5, 8), level(15, 8)],
            ..Mission::default()
        };
        // Own: 5 ms and a quarter of what is felt; all: 10 + 15 ms and that; 20 operations.
        let expected = |felt: f64| (0.5 * (0.005 + 0.25 * felt) + 0.5 * (0.025 + felt)) / 20.0;
        let got = cost(&mission, LogicalLevel(1)).expect("operations");
        assert!((got - expected(FELT * 0.020)).abs() < 1e-12, "{got}");
        let stopped = Mission {
            stall: Duration::from_millis(30),
            ..mission
        };
        let got = cost(&stopped, LogicalLevel(1)).expect("operations");
        assert!((got - expected(0.030)).abs() < 1e-12, "{got}");
        assert_eq!(cost(&Mission::default(), LogicalLevel(1)), None);
    }

    #[test]
    fn gets_of_which_none_was_timed_are_not_free() {
        let of_gets = |gets_found| {
            let mut mission = Mission {
                operations: OperationMix {
                    gets_found,
                    writes: 50,
                    ..OperationMix::default()
                },
                ..Mission::default()
            };
            mission.put.mean = Duration::from_micros(10);
            cost(&mission, LogicalLevel(1))
        };
        assert_eq!(of_gets(50), None);
        assert!(of_gets(1).is_some(), "they are rare");
    }
}
