//! The runner for this machine.

use std::fs;
use std::path::{Path, PathBuf};

use lissom_search::search::{Cause, Outcome, TrialId};
use lissom_trials::Patience;
use lissom_trials::session::Trials;

use super::field::{Field, field, field_of};
use crate::support::{
    GOOD, TRIAL, failed, has_python, is_empty, is_gone, is_stopped, job, lost, measured, wait_until,
};

/// The runner of trials on its own machine.
const LOCAL: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../examples/runners/local_runner.py"
);

/// The words of the runner for this machine; `None` where there is no Python.
fn local_runner() -> Option<[&'static str; 7]> {
    if !has_python() {
        return None;
    }
    assert!(Path::new(LOCAL).exists());
    Some([
        "python3",
        "-B",
        LOCAL,
        "--workers",
        "2",
        "--directory",
        "{trials}",
    ])
}

fn local(script: &str, restart: bool) -> Option<Field> {
    let words = local_runner()?;
    let field = field(&words, script, restart, Patience::default()).expect("it says hello");
    assert_eq!(field.elsewhere.workers(), 2);
    Some(field)
}

impl Field {
    /// Files of the trial that runs.
    fn find(&self, name: &str) -> PathBuf {
        let mut found = None;
        wait_until(|| {
            found = find(self.trials.path(), name);
            found.is_some()
        });
        found.expect("there")
    }
}

fn find(directory: &Path, name: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(directory).ok()?.flatten();
    entries.map(|it| it.path()).find_map(|path| {
        let here = path.file_name().is_some_and(|it| it == name);
        if here { Some(path) } else { find(&path, name) }
    })
}

/// The process group of the trial, which wrote it down.
fn group(field: &Field) -> i32 {
    let path = field.find("group");
    let mut group = None;
    wait_until(|| {
        let text = fs::read_to_string(&path).unwrap_or_default();
        group = text.trim().parse().ok();
        group.is_some()
    });
    group.expect("a number")
}

fn good() -> String {
    format!("echo $$ > \"$2/group\"; {GOOD}")
}

#[test]
fn a_trial_runs_pauses_and_goes_on_elsewhere() {
    let Some(mut field) = local(&good(), false) else {
        return;
    };
    let (seconds, _, throughput) = measured(&field.first_report(0.3));
    assert!(seconds >= 0.3);
    assert!((throughput - 100.0).abs() < 1e-6);
    let group = group(&field);
    wait_until(|| is_stopped(group));
    field.elsewhere.go_on(TRIAL, 0.6).expect("it waits");
    let outcome = field.report();
    let (seconds, setup_seconds, _) = measured(&outcome);
    assert!(seconds >= 0.6);
    assert_eq!(setup_seconds, 0.0, "it was set up before");
    let Outcome::Measured { metrics, .. } = outcome else {
        panic!("measured");
    };
    assert!(metrics.get("memory_bytes").is_some_and(|it| it > 100_000.0));
    field.elsewhere.stop(TRIAL);
    wait_until(|| is_gone(group));
    drop(field.elsewhere);
    assert!(is_empty(field.trials.path()), "the runner removes all");
}

#[test]
fn a_trial_elsewhere_sees_its_configuration_and_may_start_anew() {
    let script = "test -z \"$(ls -A \"$2\")\" || exit 1\n\
         touch \"$2/data\"; value=$(sed -n 's/^px=//p' \"$1\")\n\
         while :; do echo \"{\\\"throughput\\\": $value}\"; sleep 0.02; done";
    let Some(mut field) = local(script, true) else {
        return;
    };
    let (first, _, throughput) = measured(&field.first_report(0.2));
    assert!((throughput - 42.0).abs() < 1e-6);
    field.elsewhere.may_end(TRIAL);
    field.elsewhere.go_on(TRIAL, 0.5).expect("anew");
    let Outcome::Measured {
        seconds, series, ..
    } = field.report()
    else {
        panic!("measured");
    };
    assert!(seconds >= 0.5);
    assert!(series.iter().all(|it| it.second > first), "{series:?}");
}

#[test]
fn failures_elsewhere_have_their_causes() {
    let script = "echo '{\"error\": \"cannot open: x\"}'; exit 1";
    let Some(mut opening) = local(script, false) else {
        return;
    };
    let (cause, detail) = failed(opening.first_report(1.0));
    assert_eq!(cause, Cause::CannotOpen);
    assert!(detail.starts_with("cannot open: x"), "{detail}");
    let mut crashing = local("echo 'bad block' >&2; exit 3", false).expect("Python is there");
    let (cause, detail) = failed(crashing.first_report(1.0));
    assert_eq!(cause, Cause::Crash);
    assert!(detail.contains("(exit status: 3)"), "{detail}");
    assert!(detail.contains("its last words: bad block"), "{detail}");
    let script = format!("(sleep 0.2; kill -KILL $$) & {GOOD}");
    let mut killed = local(&script, false).expect("Python is there");
    let why = lost(killed.first_report(60.0));
    assert!(why.contains("signal: 9"), "{why}");
    let (cause, _) = failed(killed.first_report(60.0));
    assert_eq!(cause, Cause::Crash, "not for ever");
}

#[test]
fn a_program_that_is_not_there_elsewhere_ends_the_search() {
    let Some(runner) = local_runner() else {
        return;
    };
    let words = ["/no/such/program", "{options}"];
    let field = field_of(&words, &runner, false, Patience::default());
    let mut field = field.expect("it says hello");
    let error = field.sentence();
    assert!(
        error.contains("the runner cannot go on: cannot start") && error.contains("no/such"),
        "{error}"
    );
}

#[test]
fn everything_elsewhere_can_be_stopped_for_a_while() {
    let Some(mut field) = local(&good(), false) else {
        return;
    };
    field.elsewhere.start(&job(0.5)).expect("it is ordered");
    let group = group(&field);
    field.elsewhere.halt();
    wait_until(|| is_stopped(group));
    field.elsewhere.proceed();
    wait_until(|| !is_stopped(group));
    let (seconds, _, throughput) = measured(&field.report());
    assert!(seconds >= 0.5);
    assert!((throughput - 100.0).abs() < 1e-6);
    field.elsewhere.stop_many(&[TRIAL, TrialId(2)]);
    wait_until(|| is_gone(group));
}
