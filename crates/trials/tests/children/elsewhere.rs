//! Runners: the one for this machine, and scripts that behave badly.
//!
//! The scripts invent the times of their trials, so that what is measured is exact and
//! takes no time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lissom_search::search::{Cause, Outcome, TrialId};
use lissom_trials::session::Trials;
use lissom_trials::{Elsewhere, Patience, Template};
use tempfile::TempDir;

use super::support::{
    GOOD, TRIAL, failed, is_empty, is_gone, is_stopped, job, lines, lost, measured, settings,
    wait_until,
};

/// The runner of trials on its own machine.
const LOCAL: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../examples/runners/local_runner.py"
);

/// Functions of a runner in a shell: `say` and `of RUN`, which reads the run of an order.
const WORDS: &str = "say() { printf '%s\\n' \"$1\"; }
run_of() { run=${1#*\\\"run\\\":}; run=${run%%[!0-9]*}; }
hello() { say '{\"message\":\"hello\",\"version\":1,\"name\":\"x\",\"workers\":2,\"pauses\":true}'; }
line() { say \"{\\\"message\\\":\\\"line\\\",\\\"run\\\":$run,\\\"at\\\":$1,\\\"line\\\":\\\"$2\\\"}\"; }
sample() { line $1 '{\\\"throughput\\\": 100}'; }
told() { say \"{\\\"message\\\":\\\"$1\\\",\\\"run\\\":$run,\\\"at\\\":$2}\"; }
begun() { say \"{\\\"message\\\":\\\"started\\\",\\\"run\\\":$run,\\\"place\\\":\\\"there\\\"}\"
line 1 '{\\\"ready\\\": true}'; }
";

/// A runner that does as it is told; a trial takes 1 s to set up.
const OBEDIENT: &str = "read -r order; hello
while read -r order; do run_of \"$order\"; case $order in
*'\"start\"'*) begun; sample 1.5; sample 2;;
*'\"pause\"'*) told paused 2.25;;
*'\"go_on\"'*) told resumed 902.25; sample 902.5; sample 903; sample 903.5;;
esac; done; say bye >&2";

struct Field {
    elsewhere: Elsewhere,
    /// That of the search.
    directory: TempDir,
    /// That of the runner's trials.
    trials: TempDir,
}

impl Field {
    fn report(&mut self) -> Outcome {
        self.report_or_error().expect("the runner goes on")
    }

    fn report_or_error(&mut self) -> lissom_trials::Result<Outcome> {
        for _ in 0..10_000 {
            if let Some(report) = self.elsewhere.poll()?.pop() {
                assert_eq!(report.trial, TRIAL);
                return Ok(report.outcome);
            }
        }
        panic!("no report came");
    }

    fn first_report(&mut self, until: f64) -> Outcome {
        self.elsewhere.start(&job(until)).expect("it is ordered");
        self.report()
    }

    /// The sentence with which a search would end.
    fn sentence(&mut self) -> String {
        self.elsewhere.start(&job(1.0)).expect("it is ordered");
        self.report_or_error()
            .expect_err("the runner fails")
            .to_string()
    }
}

/// A runner by these words, in which `{trials}` stands for a directory for its trials,
/// which run that script.
fn field(
    command: &[&str],
    script: &str,
    restart: bool,
    patience: Patience,
) -> lissom_trials::Result<Field> {
    let words = ["sh", "-c", script, "trial", "{options}", "{directory}"];
    field_of(&words, command, restart, patience)
}

fn field_of(
    words: &[&str],
    command: &[&str],
    restart: bool,
    patience: Patience,
) -> lissom_trials::Result<Field> {
    let directory = tempfile::tempdir().expect("a directory");
    let trials = tempfile::tempdir().expect("a directory");
    let mut settings = settings(&directory);
    settings.restart = restart;
    let words = words.iter().map(|it| (*it).to_owned()).collect();
    let place = trials.path().display().to_string();
    let command = command.iter().map(|it| it.replace("{trials}", &place));
    let elsewhere = Elsewhere::open(
        settings,
        Template::of(words).expect("legal"),
        Box::new(lines),
        &command.collect::<Vec<_>>(),
        Some(2),
        patience,
        &|| false,
    )?;
    Ok(Field {
        elsewhere,
        directory,
        trials,
    })
}

fn scripted(runner: &str) -> lissom_trials::Result<Field> {
    let runner = format!("{WORDS}{runner}");
    field(&["sh", "-c", &runner], "true", false, Patience::default())
}

/// The words of the runner for this machine; `None` where there is no Python.
fn local_runner() -> Option<[&'static str; 7]> {
    let python = Command::new("python3")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    if !python.is_ok_and(|status| status.success()) {
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

#[test]
fn a_runner_that_fails_is_a_sentence() {
    let greets = "read -r order; hello; read -r order; run_of \"$order\"";
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
    let error = field(&["/no/such/runner"], "true", false, Patience::default());
    let error = error.err().expect("it is not there").to_string();
    assert!(
        error.contains("cannot start the runner \"/no/such/runner\""),
        "{error}"
    );
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
