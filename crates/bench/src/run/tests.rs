use std::path::Path;
use std::time::Duration;

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

/// Notes which arms begin.
#[derive(Default)]
struct Noted(Vec<String>);

impl Watcher for Noted {
    fn arm_begins(&mut self, arm: &ArmName, round: u32, _: usize, _: usize) {
        self.0.push(format!("{round} {arm}"));
    }
    fn progress(&mut self, _: &Progress) {}
    fn arm_ended(&mut self, _: &ArmRun) {}
}

#[test]
fn each_round_holds_all_arms_in_rotated_order() {
    let out = tempfile::tempdir().unwrap();
    let mut noted = Noted::default();
    let results = run(
        &plan(&["mock-a", "mock-b", "mock-c"], out.path()),
        &mut noted,
    )
    .unwrap();
    let expected = [
        "0 mock-a", "0 mock-b", "0 mock-c", "1 mock-b", "1 mock-c", "1 mock-a", "2 mock-c",
        "2 mock-a", "2 mock-b",
    ];
    assert_eq!(noted.0, expected);
    assert_eq!(results.verdict.unwrap().complete_rounds, 3);
}

#[test]
fn a_run_resumes_and_accumulates_rounds() {
    let out = tempfile::tempdir().unwrap();
    let mut plan = plan(&["mock-a", "mock-b"], out.path());
    plan.rounds = 1;
    let first = run(&plan, &mut Silent).unwrap();
    // As if the run had been interrupted in the second arm.
    let mut cut = first.clone();
    cut.runs.pop();
    cut.save(out.path()).unwrap();
    plan.rounds = 2;
    let mut noted = Noted::default();
    let results = run(&plan, &mut noted).unwrap();
    assert_eq!(noted.0, ["0 mock-b", "1 mock-b", "1 mock-a"]);
    assert_eq!(
        results.runs[0], first.runs[0],
        "what was done is kept as it was"
    );
    assert_eq!(Results::read(out.path()).unwrap(), results);
    // A judgement by other rules, as of an older program, is not believed.
    let mut other = results.clone();
    if let Some(verdict) = &mut other.verdict {
        verdict.complete_rounds = 99;
    }
    other.save(out.path()).unwrap();
    assert_eq!(Results::read(out.path()).unwrap(), results);
    let mut noted = Noted::default();
    run(&plan, &mut noted).unwrap();
    assert!(noted.0.is_empty());
}

#[test]
fn a_run_stops_before_an_arm_that_would_end_too_late_and_goes_on() {
    let out = tempfile::tempdir().unwrap();
    let mut plan = plan(&["mock-a", "mock-b"], out.path());
    plan.rounds = 2;
    plan.until = Some(Duration::ZERO);
    let stopped = run(&plan, &mut Silent).unwrap();
    assert_eq!((stopped.runs.len(), stopped.failures.len()), (0, 0));
    assert_eq!(plan.left(&stopped).len(), 4);
    plan.until = Some(Duration::from_secs(3600));
    let whole = run(&plan, &mut Silent).unwrap();
    assert_eq!(plan.left(&whole), []);
    // As if the last arm, of which it is known that it takes an hour, had been left.
    let mut cut = whole.clone();
    let last = cut.runs.pop().unwrap();
    for run in &mut cut.runs {
        run.load.seconds = 3600.0;
    }
    cut.save(out.path()).unwrap();
    let stopped = run(&plan, &mut Silent).unwrap();
    assert_eq!(stopped.runs, cut.runs);
    assert_eq!(plan.left(&stopped), [(last.round, last.arm)]);
    plan.until = None;
    assert_eq!(run(&plan, &mut Silent).unwrap().runs.len(), 4);
}

#[test]
fn a_load_of_other_data_is_not_taken_for_this_ones() {
    let out = tempfile::tempdir().unwrap();
    let plan = plan(&["mock-a"], out.path());
    let of = |change: &dyn Fn(&mut RunPlan)| {
        let mut plan = plan.clone();
        change(&mut plan);
        kept_load(&plan, &plan.arms[0]).unwrap()
    };
    let kept = of(&|_| ());
    assert_eq!(
        of(&|plan| plan.rounds += 1),
        kept,
        "every round loads alike"
    );
    assert_ne!(of(&|plan| plan.workload.entries += 1), kept);
    assert_ne!(of(&|plan| plan.seed += 1), kept);
    assert_ne!(of(&|plan| plan.resources.size_ratio += 1), kept);
}

#[test]
fn other_parameters_are_refused_by_name() {
    let out = tempfile::tempdir().unwrap();
    let mut base = plan(&["mock-a"], out.path());
    base.rounds = 1;
    run(&base, &mut Silent).unwrap();
    let refused = |change: &dyn Fn(&mut RunPlan), word: &str| {
        let mut plan = base.clone();
        change(&mut plan);
        let error = run(&plan, &mut Silent).unwrap_err().to_string();
        assert!(error.contains(word) && error.contains("--out"), "{error}");
    };
    refused(&|plan| plan.seed = 9, "--seed");
    refused(&|plan| plan.threads = 2, "--threads");
    refused(&|plan| plan.space_bound = 2.0, "--space-bound");
    refused(&|plan| plan.arms.push("mock-b".parse().unwrap()), "arms");
    refused(&|plan| plan.resources.size_ratio = 4, "resources");
    refused(
        &|plan| plan.workload = plan.workload.sized(None, 2.0).unwrap(),
        "workload",
    );
    std::fs::write(out.path().join(RESULTS_FILE), "{}").unwrap();
    assert!(
        run(&base, &mut Silent)
            .unwrap_err()
            .to_string()
            .contains("no results file")
    );
}

#[test]
fn a_failed_arm_ends_neither_the_run_nor_the_others() {
    let out = tempfile::tempdir().unwrap();
    let plan = plan(&["mock-fails", "mock-stale", "mock-good"], out.path());
    let results = run(&plan, &mut Silent).unwrap();
    assert_eq!(results.runs.len(), 3, "one good run in each round");
    assert_eq!(results.failures.len(), 6);
    assert!(
        results
            .failures
            .iter()
            .any(|f| f.sentence.contains("wrong answer"))
    );
    let verdict = results.verdict.unwrap();
    assert_eq!(verdict.complete_rounds, 0);
    assert!(verdict.cautions[0].contains("Not a comparison: 0 complete rounds"));
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

#[test]
fn a_child_tells_the_same_story() {
    let out = tempfile::tempdir().unwrap();
    let plan = plan(&["mock-good"], out.path());
    let job = job(&plan, &plan.arms[0], 0).unwrap();
    let mut lines = Vec::new();
    let program = Program {
        version: "0.1.0".into(),
        commit: Some("0123456789abcdef".into()),
        dirty: true,
    };
    let job = serde_json::to_vec(&job).unwrap();
    run_arm_child(job.as_slice(), &mut lines, Some(program.clone())).unwrap();
    let events: Vec<Event> = String::from_utf8(lines)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (last, before) = events.split_last().unwrap();
    assert!(
        before
            .iter()
            .all(|event| matches!(event, Event::Progress(_)))
            && !before.is_empty()
    );
    let Event::Done(run) = last else {
        panic!("{last:?}")
    };
    assert_eq!(run.sessions.len(), plan.workload.sessions.len() + 1);
    assert_eq!(run.program.as_ref(), Some(&program));
    let mut lines = Vec::new();
    run_arm_child("nonsense".as_bytes(), &mut lines, None).unwrap();
    assert!(String::from_utf8(lines).unwrap().contains("failed"));
}

#[test]
fn programs_are_told_apart() {
    let program = |commit: Option<&str>, dirty| Program {
        version: "0.1.0".into(),
        commit: commit.map(str::to_owned),
        dirty,
    };
    let known = program(Some("0123456789abcdef0123"), false);
    assert_eq!(known.to_string(), "lissom 0.1.0, commit 0123456789ab");
    let dirty = program(Some("0123"), true);
    assert_eq!(dirty.to_string(), "lissom 0.1.0, commit 0123, dirty");
    let unknown = program(None, false);
    assert_eq!(unknown.to_string(), "lissom 0.1.0, commit unknown");

    let out = tempfile::tempdir().unwrap();
    let plan = plan(&["mock-a"], out.path());
    let mut results = run(&plan, &mut Silent).unwrap();
    assert!(results.programs().is_empty(), "nobody told");
    let said = |results: &Results| judge(&results.parameters, &results.runs).cautions.join(" ");
    assert!(!said(&results).contains("different programs"));
    results.runs[0].program = Some(known.clone());
    results.runs[1].program = Some(dirty.clone());
    results.runs[2].program = Some(known.clone());
    assert_eq!(results.programs(), [&known, &dirty]);
    let cautions = said(&results);
    assert!(
        cautions.contains("commit 0123456789ab; lissom"),
        "{cautions}"
    );
    assert!(cautions.contains("commit 0123, dirty was built from sources"));
    results.save(out.path()).unwrap();
    assert_eq!(Results::read(out.path()).unwrap().runs, results.runs);
}

#[test]
fn a_child_that_dies_is_a_failure_with_a_sentence() {
    let out = tempfile::tempdir().unwrap();
    let mut plan = plan(&["mock-good"], out.path());
    plan.launcher = Launcher::Child {
        program: "/bin/false".into(),
        arguments: Vec::new(),
    };
    let results = run(&plan, &mut Silent).unwrap();
    assert!(results.runs.is_empty());
    assert!(
        results.failures[0]
            .sentence
            .contains("ended without a result")
    );
}

/// Stock RocksDB, end to end: counters, settings, kept loads, and verified answers.
#[test]
fn stock_rocksdb_runs_a_small_workload() {
    let out = tempfile::tempdir().unwrap();
    let mut plan = plan(&["rocksdb-leveled-tuned", "rocksdb-universal"], out.path());
    plan.workload = plan.workload.sized(Some(3000), 1.0).unwrap();
    plan.rounds = 2;
    plan.threads = 2;
    plan.keep_load = true;
    plan.resources.write_buffer_size = 64 << 10;
    let results = run(&plan, &mut Silent).unwrap();
    assert_eq!(results.failures, []);
    assert_eq!(results.runs.len(), 4);
    for run in &results.runs {
        let totals = &run.totals;
        assert_eq!(run.load.copied, run.round == 1);
        assert!(run.load.settled && run.load.disk_bytes > 2_000_000);
        assert!(totals.verified > 0 && totals.user_bytes > 1_000_000);
        assert!(totals.counters.flushed_bytes > totals.user_bytes / 2);
        assert!(totals.write_amplification().unwrap() > 0.5);
        assert!(totals.peak_space_amplification > 0.9);
        assert!(run.samples.iter().any(|sample| !sample.levels.is_empty()));
        let settings = out
            .path()
            .join("settings")
            .join(run.arm.file_name())
            .join("OPTIONS");
        assert!(
            std::fs::read_to_string(settings)
                .unwrap()
                .contains("write_buffer_size=65536")
        );
    }
    assert!(!out.path().join("database").exists());
    let mut other = job(&plan, &plan.arms[0], 1).unwrap();
    other.program = Some(Program {
        version: "0.1.0".into(),
        commit: None,
        dirty: false,
    });
    let copied = |job: &Job| job.run(&mut |_| ()).unwrap().load.copied;
    assert!(!copied(&other), "another program loads anew");
}

/// RocksDB counts the blocks that compactions read together with those of users, but for
/// what comes into the cache.
#[test]
fn what_compactions_read_is_no_read_amplification() {
    let out = tempfile::tempdir().unwrap();
    let mut plan = plan(&["rocksdb-leveled-tuned", "fixed-2"], out.path());
    let workload = load_workload("update-only").unwrap();
    plan.workload = workload.sized(Some(3000), 2.0).unwrap();
    plan.rounds = 1;
    plan.resources.write_buffer_size = 64 << 10;
    plan.resources.target_file_size_base = 64 << 10;
    let results = run(&plan, &mut Silent).unwrap();
    assert_eq!(results.failures, []);
    for run in &results.runs {
        let (updates, closing) = (&run.sessions[0], &run.sessions[1]);
        assert!(updates.counters.compaction_read_bytes > 0 && updates.counters.block_reads > 0);
        assert_eq!(updates.counters.data_blocks_read, Some(0), "{}", run.arm);
        assert_eq!(updates.read_amplification(), None, "nothing was read");
        let amplification = closing.read_amplification().unwrap();
        assert!((0.01..100.0).contains(&amplification), "{amplification}");
        assert!(run.read_amplification() == Some(amplification));
    }
}

/// Lissom, end to end, with a switch of limits in mid-run.
#[test]
fn lissom_runs_a_small_workload() {
    let out = tempfile::tempdir().unwrap();
    let sessions = plan(&["mock-a"], out.path()).workload.measured_sessions();
    let limit = |i: usize| if i.is_multiple_of(2) { 4 } else { 1 };
    let parts: Vec<String> = sessions
        .iter()
        .enumerate()
        .map(|(i, session)| format!("{}=fixed-{}", session.name, limit(i)))
        .collect();
    let oracle = format!("oracle:{}", parts.join(","));
    let mut plan = plan(&["fixed-4", "thresholds-30-70", &oracle], out.path());
    plan.workload = plan.workload.sized(Some(3000), 1.0).unwrap();
    plan.rounds = 1;
    plan.resources.write_buffer_size = 64 << 10;
    plan.resources.target_file_size_base = 64 << 10;
    let results = run(&plan, &mut Silent).unwrap();
    assert_eq!(results.failures, []);
    for run in &results.runs {
        assert!(run.totals.verified > 0 && run.totals.counters.compactions > 0);
        assert!(run.totals.counters.drains.is_some());
        let largest = run.sessions.iter();
        let largest = largest.map(|it| it.counters.largest_piece_bytes).max();
        assert_eq!(Some(run.totals.counters.largest_piece_bytes), largest);
        assert!(largest > Some(0));
        let settings = out.path().join("settings").join(run.arm.file_name());
        assert!(settings.join("OPTIONS").exists());
    }
    let limits = |run: &ArmRun| -> std::collections::BTreeSet<u32> {
        run.samples
            .iter()
            .flat_map(|s| s.levels.iter().filter_map(|l| l.run_limit))
            .collect()
    };
    assert_eq!(limits(&results.runs[0]), [4].into());
    assert_eq!(
        limits(&results.runs[2]),
        [1, 4].into(),
        "the oracle switches"
    );
}
