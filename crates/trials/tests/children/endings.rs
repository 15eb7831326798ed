//! Children that are hard to end.

use lissom_search::search::TrialId;
use lissom_trials::session::Trials;

use super::support::{
    GOOD, TRIAL, failed, is_gone, is_stopped, job, lab, measured, runs, wait_until,
};

#[test]
fn a_child_that_ignores_sigterm_is_killed() {
    let script = format!("trap '' TERM; {GOOD}");
    let mut lab = lab(&script);
    measured(&lab.first_report(0.1));
    let group = lab.group();
    lab.runner.stop(TRIAL);
    assert!(is_gone(group));
    assert!(!lab.place().exists());
}

#[test]
fn many_children_that_ignore_sigterm_are_killed_together() {
    let mut lab = lab(&format!("trap '' TERM; touch \"$2/on\"; {GOOD}"));
    let trials: Vec<TrialId> = (1..=3).map(TrialId).collect();
    for trial in &trials {
        let mut job = job(60.0);
        (job.trial, job.label) = (*trial, format!("trial-{}", trial.0));
        lab.runner.start(&job).expect("it starts");
    }
    let root = lab.directory.path().join("trials");
    let ready = |trial: &TrialId| root.join(format!("trial-{}/data/on", trial.0)).exists();
    wait_until(|| trials.iter().all(ready));
    lab.runner.stop_many(&trials);
    let left = std::fs::read_dir(&root).expect("the root is there");
    let left: Vec<_> = left.flatten().map(|it| it.file_name()).collect();
    assert_eq!(left, [".lissom-trials"], "its mark alone");
    assert!(
        lab.runner.remarks().is_empty(),
        "{:?}",
        lab.runner.remarks()
    );
}

#[test]
fn everything_that_a_child_starts_ends_with_it() {
    let script = format!("sleep 1000 & (sleep 1000 & sleep 1000) & {GOOD}");
    let mut lab = lab(&script);
    measured(&lab.first_report(0.1));
    let group = lab.group();
    lab.runner.stop(TRIAL);
    assert!(is_gone(group));
}

#[test]
fn a_process_that_leaves_the_group_ends_with_it() {
    let script = format!("setsid sleep 1000 & echo $! > \"$2/stray\"; {GOOD}");
    if !runs("setsid", "true") {
        return;
    }
    let mut lab = lab(&script);
    measured(&lab.first_report(0.3));
    let stray = std::fs::read_to_string(lab.place().join("data/stray"));
    let stray: i32 = stray.expect("written").trim().parse().expect("a number");
    assert!(!is_gone(stray), "it leads a group of its own");
    lab.runner.stop(TRIAL);
    wait_until(|| is_gone(stray));
}

#[test]
fn everything_can_be_stopped_for_a_while() {
    let mut lab = lab(GOOD);
    lab.runner.start(&job(0.5)).expect("it starts");
    let group = lab.group();
    lab.runner.halt();
    wait_until(|| is_stopped(group));
    lab.runner.proceed();
    wait_until(|| !is_stopped(group));
    let (seconds, _, throughput) = measured(&lab.report());
    assert!(seconds >= 0.5);
    assert!((throughput - 100.0).abs() < 1e-6);
}

#[test]
fn what_a_child_leaves_behind_when_it_ends_is_ended() {
    let mut lab = lab("sleep 1000 & sleep 0.3");
    lab.runner.start(&job(1.0)).expect("it starts");
    let group = lab.group();
    failed(lab.report());
    wait_until(|| is_gone(group));
    assert!(!lab.place().exists());
}

#[test]
fn a_child_may_clean_up() {
    let script = format!("trap 'echo bye > \"$2/../../said\"; exit 0' TERM; {GOOD}");
    let mut lab = lab(&script);
    measured(&lab.first_report(0.1));
    lab.runner.stop(TRIAL);
    let said = lab.directory.path().join("trials/said");
    assert_eq!(std::fs::read_to_string(said).expect("written"), "bye\n");
}
