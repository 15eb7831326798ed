//! What is learned of compactions, and what limits promise.

mod scans;

use std::time::Duration;

use super::super::fit::dot;
use super::super::structure::Structure;
use super::{BESIDE_READS, COMPACTION, Cost, PRIOR, Scan, Seen};
use crate::layout::LogicalLevel;
use crate::observation::{Latency, LevelMission, Mission, OperationMix};
use crate::shape::{RunLimit, RunLimits};
use crate::testing::{numbered_files, small_shape};
use crate::tree::Tree;

/// A tree of two levels, the deepest with 20,000 bytes.
fn tree() -> Tree {
    let layout = small_shape().layout;
    let mut levels = vec![Vec::new(); usize::from(layout.num_levels())];
    levels[usize::from(layout.span(LogicalLevel(1)).1.0)] = numbered_files(10);
    levels[usize::from(layout.span(LogicalLevel(2)).1.0)] = numbered_files(200);
    Tree::new(levels).expect("runs")
}

fn mission(written: u64, compacted: u64) -> Mission {
    Mission {
        duration: Duration::from_secs(1),
        operations: OperationMix {
            writes: written,
            ..OperationMix::default()
        },
        put: Latency {
            mean: Duration::from_micros(10),
            ..Latency::default()
        },
        user_write_bytes: written,
        flush_write_bytes: written,
        compaction_write_bytes: compacted,
        ..Mission::default()
    }
}

#[test]
fn the_deepest_level_is_not_given_up_to_what_has_just_begun() {
    let (shape, tree) = (small_shape(), tree());
    let structure = Structure::of(&shape, &tree).expect("levels");
    let ten = RunLimits::uniform(RunLimit::clamped(10));
    let many_below = |one: u16| {
        let mut limits = ten.clone();
        limits.set(LogicalLevel(1), RunLimit::clamped(one));
        limits
    };
    let few_below = |one: u16| {
        let mut limits = RunLimits::uniform(RunLimit::ONE);
        limits.set(LogicalLevel(1), RunLimit::clamped(one));
        limits
    };
    // Nothing but writes, of 1,000 bytes; the data is written again in five missions.
    let mut writes = mission(4, 0);
    (writes.user_write_bytes, writes.flush_write_bytes) = (4_000, 4_000);
    writes.duration = Duration::from_micros(40);
    let gain = |hedges: bool, lasts: f64| {
        let mut cost = Cost::new(true).hedging(hedges);
        cost.learn(&structure, &tree, &writes, &ten, 0.0, None);
        cost.expect(lasts);
        let under = |limits: &RunLimits| cost.under(&structure, limits).expect("seen");
        under(&few_below(10)) - under(&many_below(10))
    };
    let mut cost = Cost::new(true).hedging(true);
    assert_eq!(cost.expected(&structure, &ten), None, "nothing was seen");
    cost.learn(&structure, &tree, &writes, &ten, 0.0, None);
    cost.expect(1.0);
    // Reads to come, of which these missions show nothing.
    let expected = |limits: &RunLimits| cost.expected(&structure, limits).expect("seen");
    let (few, many) = (few_below(10), many_below(10));
    assert!(expected(&many).takes < expected(&few).takes);
    let later = |limits: &RunLimits| cost.later(&structure, limits);
    assert!(later(&many) > later(&few));
    assert!(later(&many) > 0.0, "runs that reads will meet");
    // What many runs below spare.
    let (present, early, late) = (gain(false, 1.0), gain(true, 1.0), gain(true, 1_000.0));
    assert!(early < 0.9 * present, "{early} {present}");
    assert!(
        (late - present).abs() < 0.05 * present.abs(),
        "{late} {present}"
    );
}

/// Of so many gets, half of which were timed, whose probes of level 1 went wrong so often.
fn probing(gets: u64, wrong: f64) -> Mission {
    let mut mission = reads_beside(0.0, 1.0);
    mission.operations.gets_found = gets;
    mission.get.count = gets / 2;
    let asked = gets as f64;
    mission.levels = vec![LevelMission {
        filter_useful: (asked * (1.0 - wrong)) as u64,
        filter_positive: (asked * wrong) as u64,
        ..LevelMission::default()
    }];
    mission
}

#[test]
fn a_rate_of_false_positives_counts_by_the_probes_that_were_looked_at() {
    let (shape, tree) = (small_shape(), tree());
    let structure = Structure::of(&shape, &tree).expect("levels");
    let limits = RunLimits::uniform(RunLimit::ONE);
    let after = |missions: &[Mission]| {
        let mut cost = Cost::new(true);
        for mission in missions {
            cost.learn(&structure, &tree, mission, &limits, 0.0, None);
        }
        cost.false_positives.first().copied()
    };
    assert_eq!(after(&[mission(10, 0)]), None, "nobody asked");
    let many = after(&[probing(2_000, 0.1)]).expect("probes");
    assert!((many - 0.04).abs() < 1e-9, "{many}");
    let some = after(&[probing(500, 0.1)]).expect("probes");
    assert!((some - (0.02 + 0.2 * 0.08)).abs() < 1e-9, "{some}");
    let few = after(&[probing(20, 0.5)]).expect("probes");
    assert!((0.02..0.026).contains(&few), "{few}");
    // One wrong probe in a hundred, all of them in every tenth mission.
    let missions: Vec<Mission> = (0..400)
        .map(|at| probing(200, if at % 10 == 0 { 0.1 } else { 0.0 }))
        .collect();
    let rate = after(&missions).expect("probes");
    assert!((0.005..0.02).contains(&rate), "{rate}");
}

/// Merges that give way take ten times as long, and are felt for what they move.
#[test]
fn how_long_merges_take_is_told_beside_the_users() {
    let (shape, tree) = (small_shape(), tree());
    let structure = Structure::of(&shape, &tree).expect("levels");
    let limits = RunLimits::uniform(RunLimit::ONE);
    let mut cost = Cost::new(true);
    let before = cost.compaction_seconds(1e9);
    let slow = |times: f64| {
        let mut mission = beside(0.1, mission(1_000, 1_000));
        mission.levels[0].compaction_time = Duration::from_secs_f64(0.1 * times);
        mission
    };
    for at in 0..120 {
        let times = if at < 100 { 1.0 } else { 10.0 };
        cost.learn(&structure, &tree, &slow(times), &limits, 0.0, None);
    }
    let after = cost.compaction_seconds(1e9) / before;
    assert!((9.0..10.5).contains(&after), "{after}");
    assert!(cost.byte < 4.0 * Cost::new(true).byte, "{}", cost.byte);
}

/// The same mission with so many seconds of merges, at the speed that the model begins with.
fn beside(merges: f64, mut mission: Mission) -> Mission {
    mission.levels = vec![LevelMission {
        compaction_time: Duration::from_secs_f64(merges),
        ..LevelMission::default()
    }];
    mission.compaction_write_bytes = (merges / Cost::new(true).byte) as u64;
    mission
}

/// Compactions that take half of their time from the user, and end in the mission
/// after the one that feels them.
fn felt(blurs: bool) -> f64 {
    let (shape, tree) = (small_shape(), tree());
    let structure = Structure::of(&shape, &tree).expect("levels");
    let limits = RunLimits::uniform(RunLimit::ONE);
    let mut cost = Cost::new(true).blurring(blurs);
    let mut ended = 0.0;
    for at in 0..400u32 {
        // Busy for five missions of ten.
        let busy = f64::from(u8::from(at % 10 < 5)) * 40e-6;
        let mut mission = mission(50_000, 50_000);
        mission.put.mean = Duration::from_secs_f64(12e-6 + 0.5 * busy);
        cost.learn(
            &structure,
            &tree,
            &beside(ended * 50_000.0, mission),
            &limits,
            0.0,
            None,
        );
        ended = busy;
    }
    cost.constants()[COMPACTION]
}

#[test]
fn compactions_that_end_late_are_felt_no_less() {
    let (blurred, alone) = (felt(true), felt(false));
    assert!(
        (blurred - 0.5).abs() < (alone - 0.5).abs(),
        "{blurred} {alone}"
    );
    assert!(alone < 0.4, "{alone}");
}

/// Gets of 100 us and nothing else, beside so many seconds of merges; the mission takes so many
/// times as long as they.
fn reads_beside(merges: f64, times_as_long: f64) -> Mission {
    let gets = 10_000u32;
    let get = 100e-6;
    let mission = Mission {
        duration: Duration::from_secs_f64(f64::from(gets) * get * times_as_long),
        operations: OperationMix {
            gets_found: u64::from(gets),
            ..OperationMix::default()
        },
        get: Latency {
            mean: Duration::from_secs_f64(get),
            ..Latency::default()
        },
        ..Mission::default()
    };
    beside(merges, mission)
}

/// Constants after a load of so many missions with merges that it does not feel, and these.
fn after_load(load: u32, then: &[Mission]) -> Cost {
    let (shape, tree) = (small_shape(), tree());
    let structure = Structure::of(&shape, &tree).expect("levels");
    let limits = RunLimits::uniform(RunLimit::ONE);
    let mut cost = Cost::new(true);
    for number in 0..load {
        let load = beside(f64::from(number % 3), mission(50_000, 50_000));
        cost.learn(&structure, &tree, &load, &limits, 0.0, None);
    }
    cost.begin_anew();
    for mission in then {
        cost.learn(&structure, &tree, mission, &limits, 0.0, None);
    }
    cost
}

#[test]
fn a_load_that_feels_no_merges_says_nothing_of_reads_beside_them() {
    let constants = after_load(100, &[]).constants();
    assert!(constants[COMPACTION] < 0.1, "{constants:?}");
    assert_eq!(constants[BESIDE_READS], PRIOR[BESIDE_READS]);
    let reads = after_load(100, &[reads_beside(0.0, 1.0)]);
    let nothing = Scan {
        reads: 0.0,
        passed: 0.0,
    };
    let (_, felt) = reads
        .of_runs(LogicalLevel(1), 1.0, |_| nothing)
        .expect("seen");
    assert!(felt > 0.4 * reads.byte, "{felt}");
}

#[test]
fn merges_while_nobody_is_there_are_not_taken_for_cheap() {
    // Ten times as many seconds of merges as users were there for.
    let idle = after_load(0, &[reads_beside(10.0, 100.0), reads_beside(0.0, 1.0)]);
    let learned = idle.constants()[BESIDE_READS];
    assert!(learned > 0.8 * PRIOR[BESIDE_READS], "{learned}");
    // Beside a user who is always there the same tell that they cost nothing.
    let felt = after_load(0, &[reads_beside(10.0, 1.0), reads_beside(0.0, 1.0)]);
    let learned = felt.constants()[BESIDE_READS];
    assert!(learned < 0.5 * PRIOR[BESIDE_READS], "{learned}");
}

/// They are told by what they move: their time, in which they wait for readers, would explain all
/// that reads take.
#[test]
fn merges_that_give_way_are_not_taken_for_dear() {
    let after = |missions: u32, times_as_long: f64| {
        let alone = reads_beside(0.2, 1.0);
        let mut hindered = alone.clone();
        let time = &mut hindered.levels[0].compaction_time;
        *time = time.mul_f64(times_as_long);
        let missions = std::iter::repeat_n(alone, missions as usize);
        let then = std::iter::repeat_n(hindered, 10);
        let cost = after_load(0, &missions.chain(then).collect::<Vec<_>>());
        (cost.byte, cost.constants()[BESIDE_READS])
    };
    let (alone, hindered) = (after(50, 1.0), after(50, 5.0));
    assert!(hindered.0 < 2.0 * alone.0, "{hindered:?} {alone:?}");
    let off = hindered.1 / alone.1;
    assert!((0.5..2.0).contains(&off), "{hindered:?} {alone:?}");
    // A device that has never been faster is slow.
    let slow = after(0, 5.0).0 / after(0, 1.0).0;
    assert!((4.0..6.0).contains(&slow), "{slow}");
}

/// Missions without a merge tell nothing of how fast merges are, however many they are.
#[test]
fn what_one_merge_took_is_told_once() {
    let then = |missions: usize| {
        let mut slow = reads_beside(0.2, 1.0);
        let time = &mut slow.levels[0].compaction_time;
        *time = time.mul_f64(5.0);
        let before = std::iter::repeat_n(reads_beside(0.2, 1.0), 50).chain([slow]);
        let after = std::iter::repeat_n(reads_beside(0.0, 1.0), missions);
        let cost = after_load(0, &before.chain(after).collect::<Vec<_>>());
        (cost.byte, cost.timed)
    };
    assert_eq!(then(0), then(5_000));
    assert_eq!(then(0).1, 51);
}

/// What was learned before anybody counted is not thrown away for one merge.
#[test]
fn the_speed_that_an_older_program_learned_counts() {
    let cost = after_load(0, &vec![reads_beside(0.2, 1.0); 50]);
    let mut kept = serde_json::to_value(&cost).expect("JSON");
    kept.as_object_mut().expect("fields").remove("timed");
    let older: Cost = serde_json::from_value(kept).expect("a cost");
    assert_eq!((older.timed, older.byte), (super::many(), cost.byte));
}

#[test]
fn a_lump_of_merges_is_spread_over_the_missions_that_it_is_for() {
    let (shape, tree) = (small_shape(), tree());
    let structure = Structure::of(&shape, &tree).expect("levels");
    let limits = RunLimits::uniform(RunLimit::ONE);
    let cost = Cost::new(true);
    let (writes, byte) = (10_000u32, 8e-9);
    let even = f64::from(writes) * structure.under(&limits).rewrites * byte;
    // Writes of a byte and 10 us, which feel half of each second of merges: one client.
    let evened = |merges: f64| {
        let took = 10e-6 + 0.5 * merges / f64::from(writes);
        let mut seen = mission(u64::from(writes), 0);
        seen.put.mean = Duration::from_secs_f64(took);
        seen.duration = Duration::from_secs_f64(took * f64::from(writes));
        cost.evened(&structure, &tree, &beside(merges, seen), &limits, took)
    };
    let at_even_rate = evened(even);
    for merges in [0.0, 0.5 * even, 2.0 * even, 0.05] {
        let found = evened(merges);
        let off = (found / at_even_rate - 1.0).abs();
        assert!(off < 1e-3, "{merges}: {found} {at_even_rate}");
    }
}

/// A tree of two levels, the first with so many runs of 1,000 bytes.
fn tree_of_runs(runs: u64) -> Tree {
    let layout = small_shape().layout;
    let mut levels = vec![Vec::new(); usize::from(layout.num_levels())];
    let (_, last) = layout.span(LogicalLevel(1));
    for run in 0..runs {
        let mut files = numbered_files(10);
        for file in &mut files {
            file.number += 10_000 * (run + 1);
        }
        levels[usize::from(last.0) - run as usize] = files;
    }
    levels[usize::from(layout.span(LogicalLevel(2)).1.0)] = numbered_files(200);
    Tree::new(levels).expect("runs")
}

/// Level 1 is there with one run, with four, and with all that limits of another time have left; gets take
/// what the model says of each.
#[test]
fn what_limits_cost_is_told_alike_by_whatever_tree_there_is() {
    let shape = small_shape();
    let evened = |runs: u64, limit: u16| {
        let tree = tree_of_runs(runs);
        let structure = Structure::of(&shape, &tree).expect("levels");
        let cost = Cost::new(true);
        let mut seen = reads_beside(0.0, 1.0);
        let now = Seen::of(&seen).expect("timed");
        let took = dot(&cost.met(&now, &structure, &tree), &PRIOR);
        seen.get.mean = Duration::from_secs_f64(took);
        let limits = RunLimits::uniform(RunLimit::clamped(limit));
        let model = dot(
            &cost.foretold(&now, &structure, &structure.under(&limits), false),
            &PRIOR,
        );
        (cost.evened(&structure, &tree, &seen, &limits, took), model)
    };
    for limit in [1, 4, 10] {
        for runs in [1, 4, 9] {
            let (told, model) = evened(runs, limit);
            assert!(
                (told / model - 1.0).abs() < 1e-6,
                "{limit}, {runs}: {told} {model}"
            );
        }
    }
    assert!(evened(4, 10).0 > evened(4, 1).0, "more runs take longer");
}

#[test]
fn merges_in_lumps_count_like_merges_at_an_even_rate() {
    let (shape, tree) = (small_shape(), tree());
    let structure = Structure::of(&shape, &tree).expect("levels");
    let limits = RunLimits::uniform(RunLimit::ONE);
    let each = (100.0 * structure.under(&limits).rewrites) as u64;
    let mut cost = Cost::new(true);
    for mission_number in 0..1_000u64 {
        // All of it in one mission of forty.
        let lump = u64::from(mission_number % 40 == 39) * 40 * each;
        cost.learn(&structure, &tree, &mission(100, lump), &limits, 0.0, None);
    }
    assert!((0.8..1.25).contains(&cost.rewrites), "{}", cost.rewrites);
}

/// Compactions that go on by twos, sixes and so on, each beside so many writers who wait so much of
/// the time.
#[test]
fn compactions_at_once_are_as_many_as_go_on_or_as_a_stall_of_all_shows() {
    let (shape, tree) = (small_shape(), tree());
    let structure = Structure::of(&shape, &tree).expect("levels");
    let limits = RunLimits::uniform(RunLimit::ONE);
    let after = |at_once: f64, clients: u32, stalled: f64| {
        let mut mission = mission(1_000_000, 1_000);
        mission.stall = mission.duration.mul_f64(stalled * f64::from(clients));
        mission.put.mean = mission
            .duration
            .mul_f64(f64::from(clients) * (1.0 - stalled) * 1e-6);
        mission.levels = vec![LevelMission {
            compaction_time: mission.duration.mul_f64(at_once),
            ..LevelMission::default()
        }];
        let mut cost = Cost::new(true);
        for _ in 0..200 {
            cost.learn(&structure, &tree, &mission, &limits, 0.0, None);
        }
        cost.workers
    };
    let is_near = |workers: f64, expected: f64| (workers - expected).abs() < 0.05 * expected;
    assert!(is_near(after(6.0, 1, 0.0), 6.0), "they go on");
    assert_eq!(after(1.0, 1, 0.1), 2.0, "nothing asks for more");
    assert!(is_near(after(1.0, 1, 0.5), 1.0), "more are asked for");
    assert_eq!(after(1.0, 16, 0.1), 2.0, "sixteen wait a tenth each");
    assert!(is_near(after(1.0, 16, 0.5), 1.0));
}

#[test]
fn a_merge_that_is_told_in_one_lump_is_not_many_workers() {
    let (shape, tree) = (small_shape(), tree());
    let structure = Structure::of(&shape, &tree).expect("levels");
    let limits = RunLimits::uniform(RunLimit::ONE);
    let mut cost = Cost::new(true);
    for at in 0..200 {
        let mut mission = mission(1_000, 1_000);
        mission.levels = vec![LevelMission {
            compaction_time: Duration::from_secs(if at % 20 == 0 { 20 } else { 0 }),
            ..LevelMission::default()
        }];
        cost.learn(&structure, &tree, &mission, &limits, 0.0, None);
    }
    assert_eq!(cost.workers, 2.0);
}
