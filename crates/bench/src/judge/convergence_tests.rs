use super::*;
use crate::drive::Sample;
use crate::run::{LoadRecord, RunPlan, SessionRecord, Totals};
use crate::store::{Counters, LevelShape, TunerCounters};
use crate::workload::load_workload;

fn arm(name: &str) -> ArmName {
    name.parse().unwrap()
}

/// A second of a session, in which so many operations ended, with a run limit at its end.
fn second(session: usize, at: usize, operations: f64, limit: u32) -> Sample {
    Sample {
        at: at as f64,
        seconds: 1.0,
        session,
        operations_per_second: operations,
        levels: vec![LevelShape {
            level: 1,
            run_limit: Some(limit),
            ..LevelShape::default()
        }],
        ..Sample::default()
    }
}

/// Sessions `a` and `b` of a thousand operations each; operations and limit by second.
fn run(name: &str, round: u32, seconds: [&[(f64, u32)]; 2]) -> ArmRun {
    let (mut at, mut samples, mut sessions) = (0, Vec::new(), Vec::new());
    for (number, (name, seconds)) in ["a", "b"].into_iter().zip(seconds).enumerate() {
        for (operations, limit) in seconds {
            at += 1;
            samples.push(second(number, at, *operations, *limit));
        }
        sessions.push(session(name, seconds.len()));
    }
    ArmRun {
        arm: arm(name),
        round,
        program: None,
        boot: None,
        sitting: None,
        load: LoadRecord::default(),
        sessions,
        totals: Totals {
            peak_space_amplification: 1.0,
            ..Totals::default()
        },
        samples,
    }
}

/// Two missions a second.
fn session(name: &str, seconds: usize) -> SessionRecord {
    SessionRecord {
        name: name.into(),
        open: false,
        operations: 1_000,
        seconds: seconds as f64,
        latencies: Vec::new(),
        latency: Default::default(),
        user_bytes: 0,
        verified: 0,
        counters: Counters {
            tuner: Some(TunerCounters {
                asked: 2 * seconds as u64,
                ..TunerCounters::default()
            }),
            ..Counters::default()
        },
        live_bytes: 1,
        disk_bytes: 1,
        peak_space_amplification: 1.0,
    }
}

fn judged(arms: &[&str], runs: &[ArmRun]) -> Vec<Convergence> {
    let workload = load_workload("update-only").unwrap();
    let arms = arms.iter().map(|name| arm(name)).collect();
    let plan = RunPlan::new(workload, arms, "unused".into()).unwrap();
    judge(&plan.parameters(), runs).convergence
}

#[test]
fn missions_until_near_and_until_the_limits_rest() {
    let quick: &[(f64, u32)] = &[(200.0, 1); 5];
    let slow: &[(f64, u32)] = &[(100.0, 10); 10];
    // In b it begins slowly, changes its limit twice, and is as fast from the third second on.
    let learns: &[(f64, u32)] = &[
        (100.0, 3),
        (100.0, 4),
        (200.0, 4),
        (200.0, 4),
        (200.0, 4),
        (200.0, 4),
    ];
    let never: &[(f64, u32)] = &[(125.0, 4); 8];
    let runs = |rounds: &[&[(f64, u32)]]| -> Vec<ArmRun> {
        let rounds = rounds.iter().enumerate();
        rounds
            .flat_map(|(round, learned)| {
                let round = round as u32;
                [
                    run("fixed-1", round, [slow, quick]),
                    run("fixed-10", round, [quick, slow]),
                    run("learned", round, [quick, *learned]),
                ]
            })
            .collect()
    };
    let arms = ["fixed-1", "fixed-10", "learned"];
    let found = judged(&arms, &runs(&[learns, learns, never]));
    assert_eq!(found.len(), 2, "static arms follow nothing");
    let (a, b) = (&found[0], &found[1]);
    assert_eq!((a.session.as_str(), &a.best), ("a", &arm("fixed-10")));
    assert_eq!(a.near.as_ref().unwrap().values, [0.0; 3]);
    assert_eq!(a.rested.values, [0.0; 3]);
    assert_eq!((b.session.as_str(), &b.best), ("b", &arm("fixed-1")));
    assert_eq!(b.missions.values, [12.0, 12.0, 16.0]);
    assert_eq!(
        b.near.as_ref().unwrap().values,
        [4.0; 2],
        "not in the third"
    );
    assert!(!a.tells, "it was near from the first mission on");
    assert!(b.tells);
    // From 1 to 3 with the session, then to 4; in the third round to 4 at once.
    assert_eq!(b.rested.values, [4.0, 4.0, 2.0]);
    let found = judged(&arms, &runs(&[never]));
    assert_eq!(found[1].near, None);
}

#[test]
fn who_was_near_without_learning_tells_nothing() {
    let quick: &[(f64, u32)] = &[(200.0, 1); 5];
    let slow: &[(f64, u32)] = &[(100.0, 10); 10];
    // As long as the best in all, after a slow first second.
    let learns: &[(f64, u32)] = &[(100.0, 10), (250.0, 1), (250.0, 1), (200.0, 1), (200.0, 1)];
    let arms = ["fixed-1", "learned", "learned-frozen"];
    let tells = |held: &[(f64, u32)]| {
        let runs = [
            run("fixed-1", 0, [quick, quick]),
            run("learned", 0, [quick, learns]),
            run("learned-frozen", 0, [quick, held]),
        ];
        let found = judged(&arms, &runs);
        found.iter().map(|it| it.tells).collect::<Vec<bool>>()
    };
    // The learner in a and b, then itself held.
    assert_eq!(tells(slow), [false, true, false, true]);
    assert_eq!(tells(quick), [false; 4], "who stood still did as well");
}

#[test]
fn without_samples_or_counts_nothing_is_told() {
    let arms = ["fixed-1", "learned"];
    let whole: &[(f64, u32)] = &[(200.0, 1); 5];
    let mut runs = arms.map(|name| run(name, 0, [whole, whole]));
    assert_eq!(judged(&arms, &runs).len(), 2);
    for session in &mut runs[1].sessions {
        session.counters.tuner = None;
    }
    assert!(judged(&arms, &runs).is_empty());
    runs = arms.map(|name| run(name, 0, [whole, whole]));
    runs[0].samples.clear();
    assert!(judged(&arms, &runs).is_empty());
}
