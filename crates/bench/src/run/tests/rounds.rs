//! Rounds, and runs that go on with what is there.

use std::collections::BTreeSet;
use std::time::Duration;

use super::*;
use crate::generate::{DataShape, Partition};

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
fn each_round_holds_all_arms_and_every_second_has_them_backwards() {
    let out = tempfile::tempdir().unwrap();
    let mut noted = Noted::default();
    let results = run(
        &plan(&["mock-a", "mock-b", "mock-c"], out.path()),
        &mut noted,
    )
    .unwrap();
    let expected = [
        "0 mock-a", "0 mock-b", "0 mock-c", "1 mock-c", "1 mock-b", "1 mock-a", "2 mock-b",
        "2 mock-c", "2 mock-a",
    ];
    assert_eq!(noted.0, expected);
    assert_eq!(results.verdict.unwrap().complete_rounds, 3);
}

#[test]
fn no_arm_runs_before_another_in_both_of_two_rounds() {
    let out = tempfile::tempdir().unwrap();
    for arms in 1..8 {
        let names: Vec<String> = (0..arms).map(|arm| format!("mock-{arm}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let plan = plan(&names, out.path());
        let backwards = |round| {
            plan.order(round)
                .into_iter()
                .rev()
                .collect::<Vec<ArmName>>()
        };
        let mut first = BTreeSet::new();
        for round in [0, 2, 4] {
            assert_eq!(plan.order(round + 1), backwards(round), "{arms} arms");
            first.insert(plan.order(round).remove(0).to_string());
        }
        assert_eq!(first.len(), arms.min(3), "others begin: {first:?}");
    }
}

#[test]
fn two_runs_do_not_write_one_directory() {
    let out = tempfile::tempdir().unwrap();
    let plan = plan(&["mock-a"], out.path());
    let held = hold(out.path()).unwrap();
    let refused = run(&plan, &mut Silent).unwrap_err().to_string();
    let sentence = format!("another run writes {}: wait for it", out.path().display());
    assert!(refused.starts_with(&sentence), "{refused}");
    assert!(!out.path().join(RESULTS_FILE).exists());
    drop(held);
    run(&plan, &mut Silent).unwrap();
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
fn a_round_of_two_sittings_is_told() {
    let out = tempfile::tempdir().unwrap();
    let mut plan = plan(&["mock-a", "mock-b"], out.path());
    plan.rounds = 1;
    let told = |results: &Results| {
        let cautions = judge(&results.parameters, &results.runs).cautions;
        cautions.into_iter().find(|it| it.contains("sittings"))
    };
    let mut cut = run(&plan, &mut Silent).unwrap();
    assert_eq!(told(&cut), None);
    assert_eq!(cut.runs[0].sitting, cut.runs[1].sitting);
    // As if the first arm had run three hours before, and the second were left.
    cut.runs.pop();
    cut.runs[0].sitting = cut.runs[0].sitting.map(|begun| begun - 3 * 3600);
    cut.save(out.path()).unwrap();
    let mut whole = run(&plan, &mut Silent).unwrap();
    let caution = told(&whole).expect("a caution");
    let words = "Round 1 was measured in 2 sittings that began 3.0 hours apart";
    assert!(caution.starts_with(words), "{caution}");
    whole.runs[0].sitting = None;
    assert_eq!(told(&whole), None, "an older file");
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
fn arms_that_differ_in_their_schedule_alone_share_a_load() {
    let out = tempfile::tempdir().unwrap();
    let plan = plan(&["mock-a"], out.path());
    let of = |arm: &str| kept_load(&plan, &arm.parse().unwrap()).unwrap();
    assert_eq!(of("fixed-1@dlc"), of("fixed-1"));
    assert_eq!(of("fixed-1@look-ahead"), of("fixed-1@eager"));
    assert_ne!(of("fixed-8@eager"), of("fixed-1@eager"));
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
    refused(&|plan| plan.keep_load = true, "--keep-load");
    refused(&|plan| plan.settle_seconds += 1, "come to rest");
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
fn a_file_that_does_not_tell_how_arms_began_goes_on() {
    let out = tempfile::tempdir().unwrap();
    let mut plan = plan(&["mock-a"], out.path());
    plan.rounds = 1;
    let mut older = run(&plan, &mut Silent).unwrap();
    older.parameters.keep_load = None;
    older.parameters.settle_seconds = None;
    older.save(out.path()).unwrap();
    plan.keep_load = true;
    plan.settle_seconds += 1;
    let whole = run(&plan, &mut Silent).expect("what is not told does not differ");
    assert_eq!(whole.parameters.keep_load, None, "nothing was added");
    plan.rounds = 2;
    run(&plan, &mut Silent).expect("nor does it here");
    // From then on it tells.
    plan.keep_load = false;
    let error = run(&plan, &mut Silent).unwrap_err().to_string();
    assert!(error.contains("--keep-load"), "{error}");
}

#[test]
fn a_load_that_does_not_come_to_rest_is_told_and_not_kept() {
    let out = tempfile::tempdir().unwrap();
    let reached = |arm: &str, anew: bool| {
        let mut plan = plan(&[arm], out.path());
        plan.keep_load = true;
        let mut job = job(&plan, &Machine::default(), &plan.arms[0], 0).unwrap();
        job.opens_anew = anew;
        let data = DataShape::new(&job.workload);
        let mut partitions = Partition::all(1, &job.workload, &data);
        let loaded = load::reach_start(&job, &data, &mut partitions, &mut |_| ()).unwrap();
        let kept = job.kept_load().unwrap().expect("asked for");
        (loaded.settled, kept.exists())
    };
    assert_eq!(reached("mock-good", true), (true, true));
    assert_eq!(reached("mock-restless", true), (false, false));
    // It is still asked before anything is measured.
    assert_eq!(reached("mock-restless", false), (true, false));
}
