//! Children that are hard to end.

use lissom_trials::session::Trials;

use super::support::{GOOD, TRIAL, failed, is_gone, job, lab, measured, wait_until};

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
fn everything_that_a_child_starts_ends_with_it() {
    let script = format!("sleep 1000 & (sleep 1000 & sleep 1000) & {GOOD}");
    let mut lab = lab(&script);
    measured(&lab.first_report(0.1));
    let group = lab.group();
    lab.runner.stop(TRIAL);
    assert!(is_gone(group));
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
