//! Runners that fail, fall silent, or outlive nobody.

use std::fs;

use lissom_trials::Patience;
use lissom_trials::session::Trials;

use super::field::{WORDS, field, field_with, scripted};
use crate::support::{TRIAL, is_gone, lost, measured};

#[test]
fn a_runner_that_cannot_begin_is_a_sentence() {
    let error = field(&["/no/such/runner"], "true", false, Patience::default());
    let error = error.err().expect("it is not there").to_string();
    assert!(
        error.contains("cannot start the runner \"/no/such/runner\""),
        "{error}"
    );
    for (runner, says) in [
        (
            "echo 'no licence' >&2; exit 4",
            "(exit status: 4); its last words: no licence",
        ),
        (
            "say Connecting",
            "printed what is no message: \"Connecting\"",
        ),
        (
            "say '{\"message\":\"hello\",\"version\":9}'; read -r order",
            "speaks version 9 of the protocol, this program version 1",
        ),
        (
            "say '{\"message\":\"hello\",\"version\":1,\"workers\":0,\"pauses\":true}'",
            "the runner has no workers",
        ),
        (
            "say '{\"message\":\"failed\",\"why\":\"no cluster at auto\"}'; read -r order",
            "the runner cannot begin: no cluster at auto",
        ),
        (
            "run=1; told paused 1",
            "says that run 1 was paused before it says hello",
        ),
    ] {
        let error = scripted(runner).err().expect(says).to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn a_runner_that_fails_later_is_a_sentence() {
    let greets = "read -r order; hello; read -r order; run_of \"$order\"";
    for (then, says) in [
        (
            "exit 5",
            "the runner ended by itself (exit status: 5); it said nothing",
        ),
        (
            "printf '{\"message\":'; exit 5",
            "its last words: {\"message\":",
        ),
        ("kill -9 $$", "the runner ended by itself (signal: 9"),
        (
            "echo '{\"message\":\"gone\"}'; read -r end",
            "unknown variant `gone`",
        ),
        (
            "run=7; told paused 1; read -r end",
            "speaks of run 7, which nobody has started",
        ),
        (
            "run=0; told paused 1; read -r end",
            "speaks of run 0, which nobody has started",
        ),
        (
            "told paused 1; read -r end",
            "run 1 was paused, where it has not started it",
        ),
        ("hello; read -r end", "says hello a second time"),
        (
            "say '{\"message\":\"failed\",\"why\":\"no machine is left\"}'; read -r end",
            "the runner cannot go on: no machine is left",
        ),
        (
            "begun; line 2 '{\\\"error\\\": \\\"No space left on device\\\"}'; read -r end",
            "the disk of a machine that runs trials is full",
        ),
    ] {
        let mut field = scripted(&format!("{greets}; {then}")).expect("it says hello");
        let error = field.sentence();
        assert!(error.contains(says), "{then}: {error}");
    }
}

#[test]
fn silence_is_borne_for_a_while() {
    let with = |runner: &str, hello: f64, silence: f64| {
        let runner = format!("{WORDS}{runner}");
        let patience = Patience { hello, silence };
        field(&["sh", "-c", &runner], "true", false, patience)
    };
    let error = with("read -r order; sleep 3", 0.2, 60.0).err();
    let error = error.expect("no hello").to_string();
    assert!(error.contains("has not said hello within 0 s"), "{error}");
    let silent = with("read -r order; hello; sleep 3", 60.0, 0.2);
    let error = silent.expect("it says hello").sentence();
    assert!(
        error.contains("the runner has said nothing for 0 s"),
        "{error}"
    );
    // The runner lives, and the trial's machine does not.
    let beats = "read -r order; hello; read -r order; run_of \"$order\"; begun; n=0
        while [ $n -lt 150 ]; do n=$((n + 1)); sleep 0.02; say '{\"message\":\"beat\"}'; done";
    let mut beating = with(beats, 60.0, 1.0).expect("it says hello");
    let why = lost(beating.first_report(1.0));
    assert!(why.contains("nothing was heard of it for 1 s"), "{why}");
}

#[test]
fn a_start_waits_as_long_as_another_trial_may_take() {
    let runner = format!(
        "{WORDS}read -r order; hello; read -r order; run_of \"$order\"; sleep 2
        begun; sample 1.5; sample 2; read -r order; told paused 2.25; read -r end"
    );
    let with = |longest: f64| {
        let (words, command) = (["true", "{options}"], ["sh", "-c", &runner]);
        let field = field_with(&words, &command, Patience::default(), |it| {
            it.setup_deadline_seconds = 1.2;
            it.evaluation_seconds = 0.1;
            it.longest_seconds = longest;
        });
        field.expect("it says hello")
    };
    let error = with(0.2).sentence();
    assert!(
        error.contains("the runner did not start trial-1 within 1 s"),
        "{error}"
    );
    // Longer than a full evaluation.
    measured(&with(60.0).first_report(1.0));
}

#[test]
fn a_trial_that_is_not_let_go_on_ends_the_search() {
    let runner = format!(
        "{WORDS}read -r order; hello; read -r order; run_of \"$order\"; begun; sample 1.5; sample 2
        read -r order; told paused 2.25; read -r order; n=0
        while [ $n -lt 200 ]; do n=$((n + 1)); sleep 0.02; say '{{\"message\":\"beat\"}}'; done"
    );
    let (words, command) = (["true", "{options}"], ["sh", "-c", &runner]);
    let field = field_with(&words, &command, Patience::default(), |it| {
        it.setup_deadline_seconds = 1.2;
        it.longest_seconds = 0.2;
    });
    let mut field = field.expect("it says hello");
    measured(&field.first_report(1.0));
    field.elsewhere.go_on(TRIAL, 2.0).expect("it waits");
    let error = field.report_or_error().expect_err("silence").to_string();
    assert!(
        error.contains("the runner did not let trial-1 go on within 1 s"),
        "{error}"
    );
}

#[test]
fn a_trial_that_is_not_paused_is_lost_and_the_search_goes_on() {
    // The first run goes on and tells of itself, whatever it is ordered.
    let runner = format!(
        "{WORDS}read -r order; hello
        while read -r order; do run_of \"$order\"; case $order in
        *'\"start\"'*) begun; sample 1.5; sample 2
        if [ $run = 1 ]; then (n=0; while [ $n -lt 300 ]; do n=$((n + 1)); sleep 0.02
        say '{{\"message\":\"words\",\"run\":1,\"line\":\"it runs\"}}'; done) & fi;;
        *'\"pause\"'*) if [ $run != 1 ]; then told paused 2.25; fi;;
        esac; done"
    );
    let patience = Patience {
        hello: 60.0,
        silence: 2.0,
    };
    let field = field(&["sh", "-c", &runner], "true", false, patience);
    let mut field = field.expect("it says hello");
    let why = lost(field.first_report(1.0));
    assert!(why.contains("it was not paused within 2 s"), "{why}");
    let remarks = field.elsewhere.remarks();
    assert!(
        remarks.len() == 1 && remarks[0].contains("did not pause a trial within 2 s"),
        "{remarks:?}"
    );
    let (seconds, ..) = measured(&field.first_report(1.0));
    assert_eq!(seconds, 1.25, "it began anew");
}

#[test]
fn a_runner_ends_with_its_search() {
    let runner = "echo $$ > \"$0/group\"; read -r order; hello
        while read -r order; do :; done; : > \"$0/asked\"";
    let runner = format!("{WORDS}{runner}");
    let words = ["sh", "-c", &runner, "{trials}"];
    let field = field(&words, "true", false, Patience::default()).expect("it says hello");
    let group = fs::read_to_string(field.trials.path().join("group"));
    let group: i32 = group.expect("written").trim().parse().expect("a number");
    assert!(!is_gone(group));
    let directory = field.directory.path().join("trials");
    assert!(directory.join("runner").exists(), "it is written down");
    drop(field.elsewhere);
    assert!(is_gone(group));
    assert!(field.trials.path().join("asked").exists(), "not killed");
    assert!(!directory.exists());
}
