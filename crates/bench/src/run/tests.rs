//! Plans that are run, most of them over mocks.

mod children;
mod rounds;
mod stores;

use std::path::Path;

use super::*;
use crate::drive::OpKind;
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
fn sums_of_latencies_hold_closed_sessions_alone() {
    let out = tempfile::tempdir().unwrap();
    let mut plan = plan(&["mock-a"], out.path());
    plan.rounds = 1;
    let mut sessions = plan.workload.sessions.iter_mut();
    let bursts = sessions.find(|it| it.name == "ingest-bursts");
    bursts.unwrap().rate = Rate::Constant { per_second: 1e5 };
    let mixed = run(&plan, &mut Silent).unwrap().runs.remove(0);
    let writes = |open: bool| -> u64 {
        let sessions = mixed.sessions.iter().filter(|it| it.open == open);
        let latencies = sessions.flat_map(|it| &it.latencies);
        let writes = latencies.filter(|(kind, _)| kind.writes());
        writes.map(|(_, latency)| latency.count).sum()
    };
    assert!(writes(true) > 0);
    assert_eq!(mixed.totals.writes.count, writes(false));
    let closed = mixed.closed_latencies(OpKind::writes);
    assert_eq!(closed.map(|it| it.count).sum::<u64>(), writes(false));
}

#[test]
fn an_entry_that_was_lost_voids_the_run_whether_a_session_asks_for_it_or_not() {
    let out = tempfile::tempdir().unwrap();
    let mut plan = plan(&["mock-forgets", "mock-good"], out.path());
    plan.rounds = 1;
    let results = run(&plan, &mut Silent).unwrap();
    let [failure] = &results.failures[..] else {
        panic!("{:?}", results.failures)
    };
    let sentence = &failure.sentence;
    assert!(sentence.contains("entries are missing"), "{sentence}");
    let [good] = &results.runs[..] else {
        panic!("one good run: {}", results.runs.len())
    };
    let live_bytes = good.sessions.last().unwrap().live_bytes;
    assert_eq!(
        good.totals.verified_at_end,
        Some(live_bytes / plan.workload.entry_bytes() as u64)
    );
}

#[test]
fn what_an_arm_owes_is_timed_where_it_comes_to_rest() {
    let out = tempfile::tempdir().unwrap();
    let mut plan = plan(&["mock-good", "mock-restless"], out.path());
    plan.rounds = 1;
    let results = run(&plan, &mut Silent).unwrap();
    let timed = results.runs.iter().map(|run| run.totals.settle_seconds);
    let timed: Vec<bool> = timed.map(|it| it.is_some()).collect();
    assert_eq!(timed, [true, false]);
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
