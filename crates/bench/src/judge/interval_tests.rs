//! Judgements over the intervals of a session.

use super::*;
use crate::drive::{LatencySummary, Sample};
use crate::run::SessionRecord;
use crate::store::{Counters, LevelShape, UserLoad};
use crate::workload::{Session, Workload, parse_workload};

const OVERLOAD: &str = r#"
name = "overload"
about = "For tests."
entries = 1000
[[session]]
name = "calm"
seconds = 4.0
rate = { constant = { per_second = 10 } }
mix = { update = 1 }
[[session]]
name = "overload"
seconds = 9.0
rate = { periodic = { high = 100, low = 10, seconds = 4, low_seconds = 5 } }
mix = { update = 1 }
"#;

fn workload() -> Workload {
    parse_workload(OVERLOAD, "f").unwrap()
}

fn session(number: usize) -> Session {
    workload().sessions[number].clone()
}

/// A second of a session that ended `at` seconds after the run's start.
pub(super) fn second(session: usize, at: u32, done: f64, p99: f64) -> Sample {
    Sample {
        at: f64::from(at),
        seconds: 1.0,
        session,
        operations_per_second: done,
        latency: LatencySummary {
            count: done as u64,
            p99,
            ..LatencySummary::default()
        },
        ..Sample::default()
    }
}

fn record(name: &str) -> SessionRecord {
    SessionRecord {
        name: name.into(),
        open: true,
        operations: 100,
        seconds: 9.0,
        latencies: Vec::new(),
        latency: LatencySummary {
            p99: 700.0,
            ..LatencySummary::default()
        },
        user_bytes: 1000,
        verified: 1,
        counters: Counters {
            flushed_bytes: 1000,
            compaction_written_bytes: 3000,
            stall_micros: 2_500_000,
            ..Counters::default()
        },
        live_bytes: 1000,
        disk_bytes: 1000,
        peak_space_amplification: 1.0,
    }
}

pub(super) fn run_of(samples: Vec<Sample>) -> ArmRun {
    ArmRun {
        arm: "fixed-4@dlc".parse().unwrap(),
        round: 0,
        program: None,
        boot: None,
        sitting: None,
        load: Default::default(),
        sessions: vec![record("calm"), record("overload")],
        totals: Default::default(),
        samples,
    }
}

/// The second session's seconds by operations and p99, behind four calm ones of 100 µs.
fn overloaded(seconds: &[(f64, f64)]) -> ArmRun {
    let calm = (1..=4).map(|at| second(0, at, 10.0, 100.0));
    let load = seconds.iter().zip(5..);
    let load = load.map(|((done, p99), at)| second(1, at, *done, *p99));
    run_of(calm.chain(load).collect())
}

#[test]
fn dips_are_seen_against_what_was_offered() {
    let mut run = overloaded(&[
        (100.0, 1.0),
        (50.0, 1.0),
        (100.0, 1.0),
        (100.0, 1.0),
        (10.0, 1.0),
        (10.0, 1.0),
        (10.0, 1.0),
        (10.0, 1.0),
        (10.0, 1.0),
        // Due before and done late: no second of the offered load.
        (1.0, 1.0),
        (1.0, 1.0),
    ]);
    run.samples[6].debt_bytes = Some(77);
    run.samples.last_mut().unwrap().debt_bytes = Some(33);
    run.sessions[1].seconds = 11.0;
    let seen = judge_offered(&run, 1, &session(1), 1000, 4).unwrap();
    assert!((seen.dips - 1.0 / 9.0).abs() < 1e-9, "{seen:?}");
    assert_eq!((seen.slowest, seen.most_debt), (0.5, Some(77.0)));
    assert_eq!(seen.end_debt, Some(33.0), "the last second is not whole");
    assert!((seen.late - 2.0).abs() < 1e-9, "{seen:?}");
    let variation = seen.variation.expect("four intervals at the highest rate");
    assert!((variation - 25.0 / 87.5).abs() < 1e-9, "{seen:?}");
    assert_eq!((seen.latency.p99, seen.stall_seconds), (700.0, 2.5));
    assert_eq!(seen.write_amplification, Some(4.0));
    assert_eq!(seen.schedule, None, "it told of no load");
}

#[test]
fn what_a_schedule_did_is_told_in_shares_of_the_intervals() {
    let mut run = overloaded(&[(100.0, 1.0); 10]);
    for (at, sample) in run.samples.iter_mut().enumerate() {
        sample.user_load = Some(UserLoad {
            // Four seconds come before this session.
            high: at < 4 + 6,
            waits: at < 4 + 5,
            apart: at == 4 + 5,
            deep_delayed: at < 4 + 2,
            ..UserLoad::default()
        });
        // It is due from the fourth second on.
        sample.levels = vec![LevelShape {
            files: if at < 4 + 3 { 3 } else { 4 },
            ..LevelShape::default()
        }];
        let runs = if at < 4 + 3 { 1 } else { at as u32 - 4 };
        sample.levels.push(LevelShape {
            level: 1,
            runs,
            ..LevelShape::default()
        });
    }
    let share = |seconds: f64| seconds / 9.0;
    let scheduled = |trigger| {
        let seen = judge_offered(&run, 1, &session(1), 1000, trigger);
        let seen = seen.unwrap();
        assert_eq!((seen.level1.median, seen.level1.most), (4.0, 8));
        seen.schedule.unwrap()
    };
    let expected = Scheduled {
        high: share(6.0),
        waits: share(2.0),
        apart: share(1.0),
        deep_delayed: share(2.0),
    };
    assert_eq!(scheduled(4), expected);
    assert_eq!(scheduled(3).waits, share(5.0));
    let nothing = scheduled(20);
    assert_eq!(
        (nothing.waits, nothing.apart),
        (0.0, 0.0),
        "nothing was due"
    );
}

#[test]
fn merges_of_level_0_are_told_by_falls() {
    let mut run = overloaded(&[(100.0, 1.0); 10]);
    // Two merges, the first of which takes two seconds.
    for (sample, files) in run.samples[4..]
        .iter_mut()
        .zip([3, 4, 2, 1, 2, 2, 5, 0, 1, 9])
    {
        sample.levels = vec![LevelShape {
            files,
            ..LevelShape::default()
        }];
    }
    let seen = judge_offered(&run, 1, &session(1), 1000, 4).unwrap();
    let seen = seen.level0;
    assert_eq!((seen.most, seen.merges), (5, 2), "the last is not whole");
    assert!((seen.mean - 20.0 / 9.0).abs() < 1e-9, "{seen:?}");
}

#[test]
fn a_long_session_is_told_in_parts() {
    let long = OVERLOAD.replace("seconds = 4.0", "seconds = 800.0");
    let long = parse_workload(&long, "f").unwrap().sessions[0].clone();
    // It fades in its last quarter, in which every second interval is slow.
    let fading = (1..=801).map(|at| {
        let slow = at > 600 && at % 2 == 0;
        let (done, p99) = if slow { (5.0, 900.0) } else { (10.0, 100.0) };
        Sample {
            debt_bytes: Some(u64::from(at)),
            ..second(0, at, done, p99)
        }
    });
    let run = run_of(fading.collect());
    let borders = parts_of(&long, 1000);
    let judge = |between: &(f64, f64)| judge_part(&run, 0, &long, *between);
    let seen: Vec<Part> = borders.iter().filter_map(judge).collect();
    let quarters = [(0.0, 200.0), (200.0, 400.0), (400.0, 600.0), (600.0, 800.0)];
    assert_eq!(borders, quarters);
    let dips: Vec<_> = seen.iter().map(|it| it.dips).collect();
    assert_eq!(dips, [0.0, 0.0, 0.0, 0.5]);
    assert_eq!((seen[2].slowest, seen[3].slowest), (1.0, 0.5));
    let of = |of: fn(&Part) -> Option<f64>| [0, 2, 3].map(|at: usize| of(&seen[at]));
    assert_eq!(of(|it| it.worst_p99), [100.0, 100.0, 900.0].map(Some));
    assert_eq!(of(|it| it.median_p99), [100.0, 100.0, 500.0].map(Some));
    assert_eq!(of(|it| it.most_debt), [200.0, 600.0, 800.0].map(Some));
    assert_eq!(judge_part(&run, 0, &long, (900.0, 950.0)), None);
    assert_eq!(parts_of(&session(1), 1000), [], "it is short");
    let closed = workload().closed().sessions[1].clone();
    assert_eq!(parts_of(&closed, 1000), []);
}

/// In every other second of the second quarter nothing ends, nor in all of the last one.
#[test]
fn seconds_in_which_nothing_ends_make_no_part_faster() {
    let long = OVERLOAD.replace("seconds = 4.0", "seconds = 800.0");
    let long = parse_workload(&long, "f").unwrap().sessions[0].clone();
    let stalled = |at: u32| at > 600 || (at > 200 && at <= 400 && at.is_multiple_of(2));
    let seconds = (1..=801).map(|at| {
        let (done, p99) = if stalled(at) {
            (0.0, 0.0)
        } else {
            (10.0, 300.0)
        };
        second(0, at, done, p99)
    });
    let run = run_of(seconds.collect());
    let borders = parts_of(&long, 1000);
    let judge = |between: &(f64, f64)| judge_part(&run, 0, &long, *between);
    let seen: Vec<Part> = borders.iter().filter_map(judge).collect();
    let medians: Vec<_> = seen.iter().map(|it| it.median_p99).collect();
    assert_eq!(medians, [Some(300.0), Some(300.0), Some(300.0), None]);
    assert_eq!((seen[1].dips, seen[3].dips), (0.5, 1.0));
    assert_eq!(seen[3].worst_p99, None);
    assert_eq!(seen[0].most_debt, None, "nobody told it");
}

#[test]
fn a_closed_loop_is_offered_nothing() {
    let run = overloaded(&[(1.0, 1.0), (1.0, 1.0)]);
    let closed = workload().closed().sessions[1].clone();
    assert_eq!(judge_offered(&run, 1, &closed, 1000, 4), None);
    let empty = run_of(Vec::new());
    assert_eq!(judge_offered(&empty, 1, &session(1), 1000, 4), None);
}

#[test]
fn an_overload_follows_its_own_low_rate() {
    let sessions = workload().offering(777.0).unwrap().sessions;
    let rates = overload_of(&sessions, 1).unwrap();
    assert_eq!((rates.seconds, rates.low_phase()), (4.0, 5.0));
    assert_eq!(overload_of(&sessions, 0), None);
    assert_eq!(overload_of(&sessions[1..], 0), None);
    let mut other = sessions;
    other[0].rate = other[0].rate.times(2.0);
    assert_eq!(overload_of(&other, 1), None);
}

/// Four seconds of an overload, then some of a low load by their p99, and one that is not
/// whole.
fn overloaded_and_back(low: &[f64]) -> ArmRun {
    let high = [(90.0, 500.0), (90.0, 900.0), (30.0, 9e6), (90.0, 800.0)];
    let low = low.iter().map(|p99| (10.0, *p99));
    let last = (1.0, 1.0);
    let seconds: Vec<_> = high.into_iter().chain(low).chain([last]).collect();
    overloaded(&seconds)
}

#[test]
fn latencies_are_back_when_they_stay_calm() {
    let rates = overload_of(&workload().sessions, 1).unwrap();
    let judged = |unrest: &[f64], calm: usize, rest: &[f64]| {
        let calm = vec![190.0; calm];
        let low = [unrest, &calm[..], rest].concat();
        judge_overload(&overloaded_and_back(&low), 1, &rates).unwrap()
    };
    let seen = judged(&[800.0, 150.0, 300.0], 10, &[]);
    assert_eq!((seen.carried, seen.worst_share), (75.0, 0.4));
    assert_eq!(seen.worst_of_offer, 30.0 / rates.high);
    assert_eq!((seen.worst_p99, seen.calm_p99), (9e6, 100.0));
    assert_eq!(seen.back_after, Some(3.0), "calm for a second is not back");
    assert_eq!(judged(&[], 10, &[]).back_after, Some(0.0));
    let later = [900.0, 190.0, 190.0];
    assert_eq!(judged(&[], 10, &later).back_after, Some(0.0), "a blip");
    assert_eq!(judged(&[], 9, &later).back_after, None);
    assert_eq!(judged(&[900.0], 9, &[]).back_after, None);
}

#[test]
fn what_was_slow_before_an_overload_is_calm_after_it() {
    let rates = overload_of(&workload().sessions, 1).unwrap();
    let mut run = overloaded_and_back(&[300.0; 10]);
    let judged = |run: &ArmRun| judge_overload(run, 1, &rates).unwrap();
    let seen = judged(&run);
    assert_eq!((seen.back_after, seen.calm_over), (None, 0.0));
    run.samples[1].latency.p99 = 350.0;
    let seen = judged(&run);
    assert_eq!((seen.back_after, seen.calm_p99), (Some(0.0), 100.0));
    // The fourth second of the calm session is its last, and not whole.
    assert_eq!(seen.calm_over, 1.0 / 3.0);
    // A second without any operation is no calm one, and has no low latency.
    run.samples[0].latency = LatencySummary::default();
    let seen = judged(&run);
    assert_eq!((seen.calm_p99, seen.calm_over), (225.0, 1.0 / 3.0));
}

#[test]
fn an_overload_is_told_with_what_pushed_back() {
    let rates = overload_of(&workload().sessions, 1).unwrap();
    let mut run = overloaded_and_back(&[90.0; 10]);
    let seen = judge_overload(&run, 1, &rates).unwrap();
    assert_eq!((seen.most_level0_files, seen.stall_seconds), (0, 2.5));
    assert_eq!(seen.at_bound_seconds, None, "nobody told");
    for (at, sample) in run.samples.iter_mut().enumerate() {
        sample.user_load = Some(UserLoad {
            // Four seconds come before this session.
            at_bound: (4 + 2..4 + 5).contains(&at),
            ..UserLoad::default()
        });
    }
    run.samples[7].levels = vec![LevelShape {
        files: 61,
        ..LevelShape::default()
    }];
    let seen = judge_overload(&run, 1, &rates).unwrap();
    assert_eq!(seen.most_level0_files, 61);
    assert_eq!(seen.at_bound_seconds, Some(3.0));
}

#[test]
fn a_second_in_which_nothing_ends_is_not_calm() {
    let rates = overload_of(&workload().sessions, 1).unwrap();
    let mut seconds = vec![(90.0, 500.0); 4];
    seconds.push((0.0, 0.0));
    seconds.extend([(10.0, 90.0); 10]);
    seconds.push((1.0, 1.0));
    let seen = judge_overload(&overloaded(&seconds), 1, &rates).unwrap();
    assert_eq!(seen.back_after, Some(1.0));
    let nothing_after = overloaded(&[(90.0, 1.0), (90.0, 1.0)]);
    assert_eq!(judge_overload(&nothing_after, 1, &rates), None);
}

#[test]
fn reads_are_told_apart_by_the_files_of_level_0() {
    let with = |at: u32, files: u32, mean: f64| Sample {
        levels: vec![LevelShape {
            level: u32::from(files == 0),
            files: files.max(1),
            ..LevelShape::default()
        }],
        point_reads: LatencySummary {
            count: u64::from(at),
            mean,
            ..LatencySummary::default()
        },
        ..second(0, at, 1.0, 1.0)
    };
    let mut samples = vec![
        with(1, 0, 10.0),
        with(3, 9, 30.0),
        with(2, 25, 100.0),
        with(4, 27, 40.0),
        with(9, 50, 1.0),
    ];
    // Compactions move bytes in the third interval, and no more from then on.
    for sample in &mut samples[2..] {
        sample.background.compaction_read_bytes = 7;
    }
    let seen = reads_by_level0_files(&run_of(samples), 0);
    let reads = |intervals, mean| Reads {
        intervals,
        point_reads: Some(mean),
        scans: None,
    };
    let few = ReadsByFiles {
        files: 0,
        all: reads(2, 25.0),
        quiet: reads(1, 30.0),
    };
    let many = ReadsByFiles {
        files: 20,
        all: reads(2, 60.0),
        quiet: reads(1, 40.0),
    };
    assert_eq!(seen, [few, many], "the last interval is not whole");
}
