//! Nights of reads: what is merged for their sake, and what that teaches of writes, which is
//! nothing.

use super::machine::{tree, uniform};
use super::*;
use crate::observation::{Latency, LevelMission, OperationMix};

/// A mission that writes a hundred bytes and has five times as many rewritten.
fn writes() -> Mission {
    let mean = Duration::from_micros(10);
    Mission {
        duration: mean * 100,
        operations: OperationMix {
            writes: 100,
            ..OperationMix::default()
        },
        put: Latency {
            mean,
            ..Latency::default()
        },
        user_write_bytes: 100,
        flush_write_bytes: 100,
        compaction_write_bytes: 500,
        ..Mission::default()
    }
}

/// One that only reads.
fn reads() -> Mission {
    let mean = Duration::from_micros(100);
    Mission {
        duration: mean * 10_000,
        operations: OperationMix {
            gets_found: 10_000,
            ..OperationMix::default()
        },
        get: Latency {
            mean,
            ..Latency::default()
        },
        ..Mission::default()
    }
}

/// The same in which a merge of level 2 for the reads' sake wrote so many bytes.
fn merging(bytes: u64, mission: Mission) -> Mission {
    let mut levels = vec![LevelMission::default(); 2];
    levels[1].compaction_write_bytes = bytes;
    levels[1].for_reads_write_bytes = bytes;
    Mission {
        compaction_write_bytes: mission.compaction_write_bytes + bytes,
        levels,
        ..mission
    }
}

/// The answer to a mission, where level 2 has so many runs.
fn ask(tuner: &mut Learned, runs: f64, mission: &Mission) -> Trial {
    tuner.ask(&Question {
        shape: &small_shape(),
        tree: &tree(&[0.0, runs]),
        limits: &uniform(5),
        refused: &[],
        mission,
    })
}

/// What the model believes to be rewritten, over what the structure foretells, after writes, a
/// night of so many missions of reads in which level 2 is merged, and a mission of these writes.
fn rewrites_after(night: u32, then: &Mission) -> f64 {
    let mut tuner = Learned::new(0.0);
    for _ in 0..100 {
        ask(&mut tuner, 3.0, &writes());
    }
    let level = LogicalLevel(2);
    let wants = |trial: &Trial| trial.consolidate.iter().any(|it| it.level == level);
    let asked = (0..night).filter(|_| wants(&ask(&mut tuner, 3.0, &reads())));
    assert_eq!(asked.count() > 0, night > 0);
    if night > 0 {
        ask(&mut tuner, 1.0, &merging(20_200, reads()));
    }
    ask(&mut tuner, 1.0, then);
    let state = tuner.state();
    state["cost"]["rewrites"].as_f64().expect("a number")
}

#[test]
fn a_night_of_reads_that_merges_the_deepest_level_makes_writes_no_cheaper() {
    let day = rewrites_after(0, &writes());
    assert!((0.5..2.0).contains(&day), "{day}");
    assert_eq!(rewrites_after(10, &writes()), day);
}

/// The last piece of the night's merge ends when writes have begun.
#[test]
fn nor_does_a_merge_for_the_reads_sake_beside_writes_make_them_dearer() {
    let day = rewrites_after(0, &writes());
    assert_eq!(rewrites_after(10, &merging(10_000, writes())), day);
}

/// Writes are rewritten five times.
#[test]
fn a_night_of_reads_merges_nothing_that_users_have_not_paid_for() {
    let night = |max_write_amplification: Option<f64>| {
        let allowance = Allowance {
            exploration: 0.0,
            max_write_amplification,
        };
        let mut tuner = Learned::with(allowance, Learning::default());
        let day = (0..100).map(|_| writes());
        let missions = day.chain((0..10).map(|_| reads()));
        let trials: Vec<Trial> = missions.map(|it| ask(&mut tuner, 3.0, &it)).collect();
        let merges = trials.iter().any(|it| !it.consolidate.is_empty());
        let waits: usize = trials.iter().map(|it| it.waits.len()).sum();
        (merges, waits)
    };
    for enough in [None, Some(30.0)] {
        assert_eq!(night(enough), (true, 0), "{enough:?}");
    }
    for too_little in [0.0, 4.0] {
        assert_eq!(night(Some(too_little)), (false, 1), "{too_little}");
    }
}
