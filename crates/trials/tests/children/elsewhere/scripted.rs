//! A script that does as it is told.

use lissom_search::search::Cause;
use lissom_trials::session::Trials;

use super::field::{OBEDIENT, scripted};
use crate::support::{TRIAL, failed, lost, measured};

#[test]
fn time_comes_from_where_a_trial_runs() {
    let mut field = scripted(OBEDIENT).expect("it says hello");
    assert_eq!(
        (field.elsewhere.name(), field.elsewhere.workers()),
        ("x", 2)
    );
    assert_eq!(field.elsewhere.admit(1_000), None, "all may wait");
    let (seconds, setup_seconds, throughput) = measured(&field.first_report(1.0));
    assert_eq!((seconds, setup_seconds, throughput), (1.25, 1.0, 100.0));
    field.elsewhere.go_on(TRIAL, 2.0).expect("it waits");
    // The runner's third sample came before the order to pause; it invents no later time.
    let (seconds, setup_seconds, throughput) = measured(&field.report());
    assert_eq!((seconds, setup_seconds, throughput), (2.5, 0.0, 100.0));
}

#[test]
fn a_runner_that_cannot_pause_has_trials_start_anew() {
    let hello = OBEDIENT.replace(
        "hello\n",
        "say '{\"message\":\"hello\",\"version\":1,\"workers\":1,\"pauses\":false}'\n",
    );
    let mut field = scripted(&hello).expect("it says hello");
    let note = field.elsewhere.admit(2).expect("a note");
    assert!(note.contains("cannot let trials wait"), "{note}");
    assert_eq!(field.elsewhere.admit(2), None, "said once");
    measured(&field.first_report(1.0));
    field.elsewhere.may_end(TRIAL);
    field.elsewhere.go_on(TRIAL, 1.0).expect("anew");
    let (seconds, setup_seconds, _) = measured(&field.report());
    assert_eq!((seconds, setup_seconds), (1.0, 1.0), "set up again");
}

#[test]
fn what_comes_late_is_passed_over() {
    let runner = OBEDIENT.replace(
        "esac",
        "*'\"stop\"'*) sample 3; told paused 3\n\
         say \"{\\\"message\\\":\\\"stopped\\\",\\\"run\\\":$run,\\\"remark\\\":\\\"slow\\\"}\";; esac",
    );
    let mut field = scripted(&runner).expect("it says hello");
    measured(&field.first_report(1.0));
    field.elsewhere.stop(TRIAL);
    let (seconds, ..) = measured(&field.first_report(1.0));
    assert_eq!(seconds, 1.25, "the second one's own");
    assert_eq!(field.elsewhere.remarks(), ["slow"]);
}

#[test]
fn a_lost_machine_is_forgiven_twice() {
    let runner = "read -r order; hello; while read -r order; do run_of \"$order\"; case $order in
        *'\"start\"'*) begun
        say \"{\\\"message\\\":\\\"lost\\\",\\\"run\\\":$run,\\\"why\\\":\\\"its machine is gone\\\"}\";;
        esac; done";
    let mut field = scripted(runner).expect("it says hello");
    for _ in 1..=2 {
        let why = lost(field.first_report(1.0));
        assert_eq!(
            why,
            "the runner lost it: its machine is gone; it ran on there"
        );
    }
    let (cause, detail) = failed(field.first_report(1.0));
    assert_eq!(cause, Cause::Crash);
    assert!(detail.ends_with("in attempt 3"), "{detail}");
}

#[test]
fn what_was_measured_comes_before_what_went_wrong() {
    let runner = OBEDIENT.replace(
        "told paused 2.25;;",
        "told paused 2.25; echo oops; exit 3;;",
    );
    let mut field = scripted(&runner).expect("it says hello");
    measured(&field.first_report(1.0));
    let error = field.report_or_error().expect_err("garbage").to_string();
    assert!(
        error.contains("printed what is no message: \"oops\""),
        "{error}"
    );
}
