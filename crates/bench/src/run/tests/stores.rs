//! Stock RocksDB and Lissom, end to end.

use super::*;

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
        assert!(totals.settle_seconds > Some(0.0) && totals.verified_at_end > Some(0));
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
    let mut other = job(&plan, &Machine::default(), &plan.arms[0], 1).unwrap();
    other.program = Some(Program {
        version: "0.1.0".into(),
        commit: None,
        dirty: false,
        sources: None,
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

/// Rounds that shared the load of a learner would all begin with what it learned from that one.
#[test]
fn an_arm_that_learns_from_its_load_loads_in_each_round() {
    let out = tempfile::tempdir().unwrap();
    let mut plan = plan(&["fixed-2", "thresholds-40-60"], out.path());
    plan.workload = plan.workload.sized(Some(3000), 1.0).unwrap();
    plan.rounds = 2;
    plan.keep_load = true;
    plan.resources.write_buffer_size = 64 << 10;
    plan.resources.target_file_size_base = 64 << 10;
    let results = run(&plan, &mut Silent).unwrap();
    assert_eq!(results.failures, []);
    let copied = |arm: &ArmName| {
        let own = results.runs.iter().filter(|run| run.arm == *arm);
        own.map(|run| run.load.copied).collect::<Vec<bool>>()
    };
    assert_eq!(copied(&plan.arms[0]), [false, true]);
    assert_eq!(copied(&plan.arms[1]), [false, false]);
    let loads = std::fs::read_dir(out.path().join("loads")).unwrap();
    assert_eq!(loads.count(), 1);
}

/// All arms of a tree begin with one load, made without a schedule, and go by one figure of the
/// device.
#[test]
fn schedules_begin_with_the_same_tree_and_the_same_device() {
    let out = tempfile::tempdir().unwrap();
    let mut plan = plan(&["fixed-2@look-ahead", "fixed-2@dlc-part"], out.path());
    plan.workload = plan.workload.sized(Some(3000), 1.0).unwrap();
    plan.rounds = 1;
    plan.keep_load = true;
    plan.resources.write_buffer_size = 64 << 10;
    plan.resources.target_file_size_base = 64 << 10;
    let results = run(&plan, &mut Silent).unwrap();
    assert_eq!(results.failures, []);
    let copied: Vec<bool> = results.runs.iter().map(|run| run.load.copied).collect();
    assert_eq!(copied, [false, true]);
    let device = results.machine.device_bytes_per_second;
    assert!(device.is_some_and(|rate| rate > 0));
    let loads = std::fs::read_dir(out.path().join("loads")).unwrap();
    let loads: Vec<_> = loads.map(|load| load.unwrap().path()).collect();
    let [load] = &loads[..] else {
        panic!("{loads:?}");
    };
    let state = std::fs::read_to_string(load.join("LISSOM")).unwrap();
    assert!(!state.contains("rhythm"), "a schedule has learned: {state}");
    let again = run(&plan, &mut Silent).unwrap();
    assert_eq!(again.machine.device_bytes_per_second, device, "once");
    let resources = job(&plan, &again.machine, &plan.arms[0], 0)
        .unwrap()
        .resources;
    assert_eq!(resources.device_bytes_per_second, device);
    let mut elsewhere = again;
    elsewhere.machine.processor = "Another".into();
    elsewhere.save(out.path()).unwrap();
    run(&plan, &mut Silent).expect("nothing is left to be measured here");
    plan.rounds = 2;
    let refusal = run(&plan, &mut Silent).unwrap_err().to_string();
    assert!(refusal.contains("(Another)"), "{refusal}");
}

/// Where schedules are compared, stock RocksDB begins as they do: with cold caches, since it
/// is opened anew, too.
#[test]
fn all_arms_are_opened_anew_where_one_has_to_be() {
    let out = tempfile::tempdir().unwrap();
    let anew = |arms: &[&str]| {
        let plan = plan(arms, out.path());
        let jobs = plan.arms.iter();
        let jobs = jobs.map(|arm| job(&plan, &Machine::default(), arm, 0).unwrap().opens_anew);
        jobs.collect::<Vec<_>>()
    };
    assert_eq!(anew(&["rocksdb-leveled", "fixed-1@eager"]), [true, true]);
    assert_eq!(anew(&["rocksdb-leveled", "fixed-1"]), [false, false]);
    let mut plan = plan(&["rocksdb-leveled", "fixed-1@eager"], out.path());
    plan.workload = plan.workload.sized(Some(3000), 1.0).unwrap();
    plan.rounds = 1;
    let results = run(&plan, &mut Silent).unwrap();
    assert_eq!(results.failures, []);
    for run in &results.runs {
        assert!(run.load.settled && run.totals.verified > 0, "{}", run.arm);
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
        let tuner = run.totals.counters.tuner;
        assert_eq!(tuner.and_then(|it| it.skipped), Some(0), "none learns");
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
