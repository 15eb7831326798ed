//! Searches that are killed or asked to end.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::small_search::{Bench, PROGRAM, wait_until};
use super::support::{command, run, text};

fn signal(id: u32, signal: &str) {
    let id = id.to_string();
    let sent = Command::new("kill").args([signal, &id]).status();
    assert!(sent.expect("kill starts").success());
}

/// Stops a process; it has stopped when this returns.
fn stop(id: u32) {
    signal(id, "-STOP");
    let stopped = || {
        let state = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        state.contains(") T ") || state.contains(") Z ")
    };
    while !stopped() {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Whether the last that a search wrote down is that a trial shall run.
fn a_trial_runs(log: &str) -> bool {
    let last = log.lines().last().unwrap_or_default();
    ["\"decision\":\"start\"", "\"decision\":\"continue\""]
        .iter()
        .any(|it| last.contains(it))
}

#[test]
fn a_search_that_was_killed_goes_on() {
    let bench = Bench::new(PROGRAM);
    let arguments = bench.arguments();
    let mut child = command(&Bench::with(&arguments, &[]))
        .spawn()
        .expect("the program starts");
    let measured = |log: &str| log.matches("\"event\":\"measurement\"").count();
    let id = child.id();
    wait_until(&mut child, || {
        if measured(&bench.log()) < 3 {
            return false;
        }
        stop(id);
        let caught = a_trial_runs(&bench.log());
        if !caught {
            signal(id, "-CONT");
        }
        caught
    });
    child.kill().expect("it is stopped");
    child.wait().expect("it ended");
    let before = measured(&bench.log());
    let output = run(&Bench::with(&arguments, &[]));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let from_the_start = text(&output.stderr);
    assert!(
        from_the_start.contains("note: the search that was interrupted goes on after "),
        "{from_the_start}"
    );
    let said = text(&output.stdout);
    for words in [
        "best: trial ",
        "written: ",
        "report: ",
        "note: the search that was interrupted goes on after ",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let log = bench.log();
    assert_eq!(
        log.matches("\"event\":\"begin\"").count(),
        1,
        "the same search"
    );
    assert!(measured(&log) > before);
    assert!(
        log.contains("the search was interrupted"),
        "what ran was lost"
    );
    assert!(
        !bench.path("search.trials").exists(),
        "nothing is left behind"
    );
}

#[test]
fn a_result_that_could_not_be_written_is_written_by_the_same_command() {
    // Each trial takes away the directory into which the result is to go.
    let bench = Bench::new(&format!("rm -rf \"${{0%/*}}/results\"\n{PROGRAM}"));
    let path = |name: &str| bench.path(name).display().to_string();
    let arguments: Vec<String> = bench
        .arguments()
        .into_iter()
        .map(|it| match it {
            it if it == "60s" => "8s".to_owned(),
            it if it == path("OPTIONS") => path("results/OPTIONS"),
            it => it,
        })
        .chain(["--log".to_owned(), path("search.jsonl")])
        .chain(["--report".to_owned(), path("search.html")])
        .chain(["--directory".to_owned(), path("search.trials")])
        .collect();
    let search = || {
        fs::create_dir(bench.path("results")).expect("it is not there");
        run(&Bench::with(&arguments, &["--repeats", "0"]))
    };
    let output = search();
    assert_eq!(output.status.code(), Some(1));
    let sentence = text(&output.stderr);
    assert!(sentence.contains("cannot write"), "{sentence}");
    assert!(
        sentence.contains("the same command goes on from there"),
        "{sentence}"
    );
    let before = bench.log();
    let output = search();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let options = fs::read_to_string(bench.path("results/OPTIONS")).expect("written");
    assert!(options.contains("--px="), "{options}");
    let log = bench.log();
    let behind = log.strip_prefix(&before).expect("the same search");
    assert!(behind.starts_with("{\"event\":\"end\""), "{behind}");
    assert_eq!(behind.lines().count(), 1, "nothing was measured: {behind}");
}

/// Standard error of a search that is interrupted as soon as something holds of its log.
fn interrupted(bench: &Bench, arguments: &[&str], holds: impl Fn(&str) -> bool) -> String {
    let mut started = command(arguments);
    started.stderr(Stdio::piped());
    let mut child = started.spawn().expect("the program starts");
    wait_until(&mut child, || holds(&bench.log()));
    signal(child.id(), "-INT");
    let output = child.wait_with_output().expect("it ended");
    assert_eq!(output.status.code(), Some(1));
    text(&output.stderr)
}

#[test]
fn a_search_ends_when_it_is_asked_to_and_keeps_its_log() {
    let bench = Bench::new(PROGRAM);
    let arguments = bench.arguments();
    let sentence = interrupted(&bench, &Bench::with(&arguments, &[]), |log| {
        log.contains("\"measurement\"")
    });
    assert!(
        sentence.contains("interrupted; what was measured stands in"),
        "{sentence}"
    );
    assert!(
        sentence.contains("the same command goes on from there"),
        "{sentence}"
    );
    assert!(!bench.path("search.trials").exists());
}

#[test]
fn that_an_interrupted_search_does_not_go_on_is_said_without_a_terminal() {
    let bench = Bench::new(PROGRAM);
    let arguments = bench.arguments();
    interrupted(&bench, &Bench::with(&arguments, &[]), |log| {
        log.contains("\"measurement\"")
    });
    let more = ["--seed", "2", "--repeats", "2"];
    let said = interrupted(&bench, &Bench::with(&arguments, &more), |log| {
        log.matches("\"event\":\"begin\"").count() == 2
    });
    let note = "note: an interrupted search with other settings (--seed, --repeats) stands in";
    assert!(said.contains(note), "{said}");
}
