//! Children that fail: bad samples, not the end.

use lissom_search::search::Cause;
use lissom_trials::session::Trials;

use super::support::{
    GOOD, Lab, TRIAL, failed, is_gone, job, lab, lab_of, lab_with, lost, measured, wait_until,
};

#[test]
fn a_crash_has_its_status_and_last_words() {
    let mut lab = lab("echo 'Corruption: bad block' >&2; exit 3");
    let (cause, detail) = failed(lab.first_report(1.0));
    assert_eq!(cause, Cause::Crash);
    assert!(
        detail.contains("before it was ready (exit status: 3)"),
        "{detail}"
    );
    assert!(
        detail.ends_with("its last words: Corruption: bad block"),
        "{detail}"
    );
    assert!(!lab.place().exists());
    let polled = lab.runner.poll().expect("the runner goes on");
    assert!(polled.is_empty(), "a failure is reported once");
}

#[test]
fn a_signal_is_a_crash_too() {
    let script = format!("(sleep 0.2; kill -SEGV $$) & {GOOD}");
    let (cause, detail) = failed(lab(&script).first_report(60.0));
    assert_eq!(cause, Cause::Crash);
    assert!(detail.contains("signal: 11"), "{detail}");
    assert!(
        detail.contains("of running, where 60.0 s were asked for"),
        "{detail}"
    );
}

#[test]
fn one_that_is_killed_has_two_attempts() {
    let script = format!("(sleep 0.2; kill -KILL $$) & {GOOD}");
    let mut lab = lab(&script);
    let why = lost(lab.first_report(60.0));
    assert!(why.contains("signal: 9"), "{why}");
    assert!(why.contains("when memory runs out"), "{why}");
    assert!(!lab.place().exists());
    let (cause, detail) = failed(lab.first_report(60.0));
    assert_eq!(cause, Cause::Crash);
    assert!(detail.ends_with("in attempt 2"), "{detail}");
}

#[test]
fn a_child_that_ends_too_early_has_crashed() {
    let script = "echo '{\"ready\": true}'; echo '{\"throughput\": 1}'";
    let (cause, detail) = failed(lab(script).first_report(5.0));
    assert_eq!(cause, Cause::Crash);
    assert!(
        detail.contains("(exit status: 0); it said nothing"),
        "{detail}"
    );
}

#[test]
fn what_does_not_open_says_so() {
    let script = "echo '{\"error\": \"cannot open: db has more levels than num_levels\"}'; exit 1";
    let (cause, detail) = failed(lab(script).first_report(1.0));
    assert_eq!(cause, Cause::CannotOpen);
    assert_eq!(detail, "cannot open: db has more levels than num_levels");
}

#[test]
fn silence_is_a_hang_in_set_up_and_later() {
    let mut setting_up = lab_with("sleep 1000", |it| it.setup_deadline_seconds = 0.2);
    let (cause, detail) = failed(setting_up.first_report(0.1));
    assert_eq!(cause, Cause::Hang);
    assert!(detail.contains("it was not ready after"), "{detail}");
    let script = "echo '{\"ready\": true}'; echo '{\"throughput\": 1}'; sleep 1000";
    let mut running = lab_with(script, |it| it.deadline_seconds = 0.3);
    running.runner.start(&job(60.0)).expect("it starts");
    let group = running.group();
    let (cause, detail) = failed(running.report());
    assert_eq!(cause, Cause::Hang);
    assert!(detail.contains("no sample came for"), "{detail}");
    assert!(is_gone(group));
}

#[test]
fn memory_is_that_of_all_processes() {
    // The leader is small; `tail` holds 40 MB, one line without an end.
    let hog = "(head -c 40000000 /dev/zero; sleep 1000) | tail > /dev/null";
    let script = format!("({hog}) & wait");
    let mut lab = lab_with(&script, |it| it.memory_bytes = 20 << 20);
    lab.runner.start(&job(1.0)).expect("it starts");
    let group = lab.group();
    let (cause, detail) = failed(lab.report());
    assert_eq!(cause, Cause::OutOfMemory);
    assert!(detail.contains("where 20 MiB are allowed"), "{detail}");
    assert!(is_gone(group));
}

/// Kills the trial's group from outside.
fn kill(lab: &Lab) {
    let killed = std::process::Command::new("kill")
        .args(["-KILL", &lab.group().to_string()])
        .status();
    assert!(killed.expect("kill starts").success());
}

#[test]
fn a_child_that_is_killed_while_it_waits_is_lost_and_not_blamed() {
    let mut lab = lab(GOOD);
    for _ in 1..=2 {
        measured(&lab.first_report(0.1));
        kill(&lab);
        let why = lost(lab.report());
        assert!(why.contains("it was ended while it waited"), "{why}");
        assert!(lab.runner.go_on(TRIAL, 1.0).is_err(), "it is gone");
    }
    measured(&lab.first_report(0.1));
    kill(&lab);
    let (cause, detail) = failed(lab.report());
    assert_eq!(cause, Cause::Crash, "not for ever");
    assert!(detail.contains("signal: 9"), "{detail}");
}

#[test]
fn a_child_that_is_gone_when_it_should_go_on_is_lost() {
    let mut lab = lab(GOOD);
    measured(&lab.first_report(0.1));
    kill(&lab);
    let group = lab.group();
    wait_until(|| is_gone(group));
    lab.runner.go_on(TRIAL, 1.0).expect("nobody has looked yet");
    let why = lost(lab.report());
    assert!(why.contains("it was ended while it waited"), "{why}");
}

#[test]
fn a_program_that_is_not_there_ends_the_search() {
    let mut lab = lab_of(&["/no/such/program", "{options}"], |_| {});
    let error = lab
        .runner
        .start(&job(1.0))
        .expect_err("no program")
        .to_string();
    assert!(
        error.contains("cannot start \"/no/such/program\""),
        "{error}"
    );
    assert!(error.ends_with("check the command"), "{error}");
    assert!(!lab.place().exists());
}

#[test]
fn a_full_disk_is_not_blamed_on_a_configuration() {
    let script = "echo '{\"error\": \"IO error: No space left on device: 000007.sst\"}'; exit 1";
    let mut lab = lab(script);
    lab.runner.start(&job(1.0)).expect("it starts");
    let error = lab.report_or_error().expect_err("a full disk").to_string();
    assert!(error.contains("is full"), "{error}");
    assert!(!lab.place().exists());
}
