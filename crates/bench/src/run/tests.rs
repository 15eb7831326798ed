//! Plans that are run, most of them over mocks.

mod children;
mod rounds;
mod stores;

use std::path::Path;

use super::*;
use crate::workload::{Rate, load_workload};

fn plan(arms: &[&str], out: &Path) -> RunPlan {
    let mut workload = load_workload("mixed-sessions")
        .unwrap()
        .sized(Some(2000), 0.5)
        .unwrap();
    // Offered rates would make the test wait.
    workload
        .sessions
        .iter_mut()
        .for_each(|session| session.rate = Rate::Closed);
    let arms = arms.iter().map(|name| name.parse().unwrap()).collect();
    let mut plan = RunPlan::new(workload, arms, out.to_path_buf()).unwrap();
    plan.launcher = Launcher::InProcess;
    plan.sample_millis = 50;
    plan.settle_seconds = 20;
    plan
}

#[test]
fn senseless_plans_are_refused() {
    let out = tempfile::tempdir().unwrap();
    let refused = |change: &dyn Fn(&mut RunPlan), word: &str| {
        let mut plan = plan(&["mock-a"], out.path());
        change(&mut plan);
        let error = plan.check().unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    };
    refused(&|plan| plan.arms.clear(), "--arm");
    refused(&|plan| plan.arms.push("mock-a".parse().unwrap()), "twice");
    refused(&|plan| plan.rounds = 0, "--rounds");
    refused(&|plan| plan.threads = 0, "--threads");
    refused(
        &|plan| plan.arms.push("oracle:ingest=fixed-1".parse().unwrap()),
        "\"short-scans\"",
    );
    let sessions = plan(&["mock-a"], out.path()).workload.measured_sessions();
    let lazily = sessions
        .iter()
        .map(|it| format!("{}=lazy-leveling", it.name));
    let oracle = format!("oracle:{}", lazily.collect::<Vec<_>>().join(","));
    plan(&[&oracle], out.path()).check().unwrap();
}

#[test]
fn the_largest_piece_is_that_of_the_sessions_and_not_of_the_load() {
    let out = tempfile::tempdir().unwrap();
    let first = |plan: &RunPlan| run(plan, &mut Silent).unwrap().runs.remove(0);
    let mut plan = plan(&["mock-a"], out.path());
    plan.rounds = 1;
    let mixed = first(&plan);
    let largest: Vec<u64> = mixed
        .sessions
        .iter()
        .map(|session| session.counters.largest_piece_bytes)
        .collect();
    let (closing, before) = largest.split_last().unwrap();
    assert_eq!(*closing, 0, "it only reads");
    assert!(before[0] > 0);
    let totals = &mixed.totals.counters;
    assert_eq!(Some(&totals.largest_piece_bytes), before.iter().max());

    plan.out = out.path().join("reads");
    plan.workload = load_workload("ycsb-c")
        .unwrap()
        .sized(Some(1000), 1.0)
        .unwrap();
    assert_eq!(first(&plan).totals.counters.largest_piece_bytes, 0);
}

#[test]
fn the_demo_is_a_changing_workload_in_small_beside_static_arms() {
    let plan = demo_plan("unused".into()).unwrap();
    plan.check().unwrap();
    let arms: Vec<String> = plan.arms.iter().map(ToString::to_string).collect();
    for arm in [
        "learned",
        "thresholds-30-70",
        "fixed-1",
        "fixed-10",
        "rocksdb-leveled",
        "rocksdb-universal",
    ] {
        assert!(arms.iter().any(|name| name == arm), "{arm}");
    }
    assert_eq!(plan.rounds, LEAST_ROUNDS, "it is a comparison");

    let sessions = &plan.workload.sessions;
    let has = |wanted: &dyn Fn(&crate::workload::Session) -> bool| sessions.iter().any(wanted);
    assert!(sessions.len() >= 8);
    assert!(has(&|it| it.mix.scan > 50.0) && has(&|it| it.mix.get_absent > 50.0));
    assert!(
        has(&|it| it.mix.put > 50.0 && it.rate.highest() > Some(10_000.0)),
        "bursts"
    );
    assert!(has(&|it| it.mix.delete > 50.0));
    assert!(
        has(&|it| it.rate.highest() < Some(1_000.0) && it.is_open()),
        "a quiet phase"
    );

    // 18 runs over 50,000 entries took 103 s on two cores, and it should be about two
    // minutes. What is offered takes its time on any machine.
    let runs = plan.arms.len() as u64 * u64::from(plan.rounds);
    assert!((800_000..=1_500_000).contains(&(runs * plan.workload.entries)));
    let offered: f64 = sessions
        .iter()
        .filter_map(|session| session.offered_seconds(plan.workload.entries))
        .sum();
    assert!(offered * (runs as f64) < 60.0, "{offered}");
}
