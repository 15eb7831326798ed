//! search, around a small program of one's own.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use super::support::{command, ends, json, run, text};

/// The more both are, the better.
const SPACE: &str = "name = \"sum\"
about = \"Two numbers.\"

[[parameter]]
name = \"px\"
kind = \"integer\"
range = [0, 9]
default = 2
change = \"reopen\"
source = \"a test\"

[[parameter]]
name = \"py\"
kind = \"integer\"
range = [0, 9]
default = 2
change = \"reopen\"
source = \"a test\"

[[feature]]
name = \"total\"
expression = \"px + py\"
source = \"a test\"
";

/// A throughput of 100 + 10 (px + py), for ever.
const PROGRAM: &str = "px=$(sed -n 's/^--px=//p' \"$1\")
py=$(sed -n 's/^--py=//p' \"$1\")
echo '{\"ready\": true}'
while :; do echo \"{\\\"throughput\\\": $((100 + 10 * (px + py)))}\"; sleep 0.01; done
";

/// A directory with the space, the program, and whatever a search leaves.
pub struct Bench {
    directory: tempfile::TempDir,
}

impl Bench {
    pub fn new(program: &str) -> Bench {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("space.toml"), SPACE).expect("writable");
        fs::write(directory.path().join("program.sh"), program).expect("writable");
        Bench { directory }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The command line of a search that takes some ten seconds.
    pub fn arguments(&self) -> Vec<String> {
        let path = |name: &str| self.path(name).display().to_string();
        let command = format!("sh {} {{options}}", path("program.sh"));
        let (space, out) = (path("space.toml"), path("OPTIONS"));
        let words = [
            "search",
            "--command",
            &command,
            "--space",
            &space,
            "--format",
            "flags",
            "--evaluation",
            "500ms",
            "--budget",
            "60s",
            "--memory",
            "32MiB",
            "--out",
            &out,
        ];
        words.map(str::to_owned).to_vec()
    }

    pub fn with<'a>(arguments: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
        let arguments = arguments.iter().map(String::as_str);
        arguments.chain(more.iter().copied()).collect()
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.path("search.jsonl")).unwrap_or_default()
    }
}

#[test]
fn the_best_is_found_proven_and_written() {
    let bench = Bench::new(PROGRAM);
    let arguments = bench.arguments();
    let output = run(&Bench::with(&arguments, &["--json"]));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let found = &report["findings"];
    let best = &found["best"]["configuration"];
    let (px, py) = (best["px"].as_u64(), best["py"].as_u64());
    let (px, py) = (px.expect("a number"), py.expect("a number"));
    assert!(px + py >= 9, "of the better half: {best}");
    let options = fs::read_to_string(bench.path("OPTIONS")).expect("written");
    assert!(options.contains(&format!("--px={px}")), "{options}");
    assert!(options.contains(&format!("--py={py}")), "{options}");
    assert_eq!(found["verdict"]["complete_rounds"], 3);
    let comparisons = found["verdict"]["goals"][0]["comparisons"].as_array();
    let against_default = comparisons
        .and_then(|all| all.iter().find(|it| it["against"] == "default"))
        .expect("the default is repeated");
    assert_eq!(against_default["standing"], "better", "{against_default}");
    let wanted = (100 + 10 * (px + py)) as f64 / 140.0 - 1.0;
    let gain = against_default["gain"].as_f64().expect("a number");
    assert!((gain - wanted).abs() < 1e-6, "{gain} {wanted}");
    assert!(
        !found["contributions"]
            .as_array()
            .expect("ablations")
            .is_empty()
    );
    let page = fs::read_to_string(bench.path("search.html")).expect("written");
    assert!(page.starts_with("<!doctype html>"));
    assert!(!bench.path("search.trials").exists(), "no trial is left");
    assert!(
        bench
            .log()
            .lines()
            .last()
            .is_some_and(|it| it.contains("\"end\""))
    );
}

#[test]
fn trials_may_all_be_full_and_features_left_out() {
    let bench = Bench::new(PROGRAM);
    let mut arguments = bench.arguments();
    let budget = arguments.iter().position(|it| it == "60s").expect("given");
    arguments[budget] = "8s".to_owned();
    let more = ["--full", "--without", "total", "--repeats", "0", "--json"];
    let output = run(&Bench::with(&arguments, &more));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let found = &report["findings"];
    assert_eq!(found["arms"], 1, "no feature parts them");
    assert_eq!(found["points"].as_array().map(Vec::len), Some(1));
    let more = ["--without", "speed", "--new"];
    let sentence = ends(&Bench::with(&arguments, &more), 2);
    assert!(sentence.contains("the features are total"), "{sentence}");
}

#[test]
fn a_space_is_printed_and_answers_questions() {
    let bench = Bench::new(PROGRAM);
    let space = bench.path("space.toml").display().to_string();
    let described = json(&["space", "--space", &space]);
    assert_eq!(described["parameters"][1]["name"], "py");
    assert_eq!(described["default"]["px"], 2);
    assert_eq!(described["features"][0], "total");
    let mut child = command(&["space", "--space", &space, "--answer"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut questions = child.stdin.take().expect("piped");
    questions
        .write_all(
            b"{\"check\": {\"px\": 3, \"py\": 4}}\n{\"check\": {\"px\": 30, \"py\": 4}}\n\
              {\"sample\": {\"count\": 3, \"seed\": 7}}\n{\"write\": {\"px\": 3, \"py\": 4}}\nhello\n",
        )
        .expect("it reads");
    drop(questions);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    let said = text(&output.stdout);
    let answers: Vec<serde_json::Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect();
    assert_eq!(answers.len(), 5, "{said}");
    assert_eq!(answers[0]["checked"]["features"][0], 7.0, "{said}");
    let outside = answers[1]["error"].as_str().expect("a sentence");
    assert!(outside.contains("px is 30"), "{outside}");
    assert_eq!(answers[2]["sampled"].as_array().map(Vec::len), Some(3));
    let written = answers[3]["written"]["text"].as_str().expect("a file");
    assert!(written.contains("\"px\": 3"), "{written}");
    let nonsense = answers[4]["error"].as_str().expect("a sentence");
    assert!(nonsense.starts_with("this is no question"), "{nonsense}");
}

#[test]
#[ignore = "runs for a minute"]
fn a_workload_is_searched_and_its_data_are_loaded_once() {
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().join("OPTIONS").display().to_string();
    let arguments = [
        "search",
        "mixed-sessions",
        "--entries",
        "20k",
        "--evaluation",
        "2s",
        "--budget",
        "60s",
        "--memory",
        "512MiB",
        "--json",
        "--out",
        &out,
    ];
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let metrics = &report["findings"]["best"]["metrics"];
    for name in [
        "throughput",
        "p99_micros",
        "memory_bytes",
        "sessions_visited",
    ] {
        assert!(metrics[name].as_f64() > Some(0.0), "{name}: {metrics}");
    }
    assert!(
        fs::read_to_string(&out)
            .expect("written")
            .contains("[DBOptions]")
    );
    assert!(
        !directory.path().join("search.trials").exists(),
        "the data set is removed, too"
    );
}

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
fn a_search_ends_when_it_is_asked_to_and_keeps_its_log() {
    let bench = Bench::new(PROGRAM);
    let arguments = bench.arguments();
    let mut started = command(&Bench::with(&arguments, &[]));
    started.stderr(std::process::Stdio::piped());
    let mut child = started.spawn().expect("the program starts");
    wait_until(&mut child, || bench.log().contains("\"measurement\""));
    signal(child.id(), "-INT");
    let output = child.wait_with_output().expect("it ended");
    assert_eq!(output.status.code(), Some(1));
    let sentence = text(&output.stderr);
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
fn a_program_without_the_metric_is_one_sentence() {
    let bench = Bench::new("while :; do echo '{\"speed\": 3}'; sleep 0.01; done");
    let arguments = bench.arguments();
    let sentence = ends(&Bench::with(&arguments, &[]), 1);
    assert!(
        sentence.contains("reported no metric throughput, but memory_bytes, speed"),
        "{sentence}"
    );
    assert!(!bench.path("OPTIONS").exists());
}

#[test]
fn a_program_that_always_fails_is_one_sentence() {
    let bench = Bench::new("echo 'no such device' >&2; exit 7");
    let arguments = bench.arguments();
    let output = run(&Bench::with(&arguments, &[]));
    assert_eq!(output.status.code(), Some(1));
    let sentence = text(&output.stderr);
    assert!(sentence.contains("nothing was found"), "{sentence}");
    assert!(sentence.contains("exit status: 7"), "{sentence}");
    assert!(sentence.contains("no such device"), "{sentence}");
    assert!(
        bench.path("search.html").exists(),
        "the report has the causes"
    );
}

#[test]
fn a_wrong_space_or_log_is_one_sentence() {
    let bench = Bench::new(PROGRAM);
    let arguments = bench.arguments();
    fs::write(bench.path("search.jsonl"), "{}\n").expect("writable");
    let sentence = ends(&Bench::with(&arguments, &[]), 1);
    assert!(
        sentence.contains("search.jsonl: line 1 of the search log"),
        "{sentence}"
    );
    for (change, says) in [
        ("range = [0, 9]", "its range from 9 to 0 is empty"),
        ("expression = \"px + py\"", "\"px + pz\", column 6"),
        (
            "kind = \"integer\"",
            "of the space: unknown variant `number`",
        ),
    ] {
        let wrong = match change {
            "range = [0, 9]" => "range = [9, 0]",
            "kind = \"integer\"" => "kind = \"number\"",
            _ => "expression = \"px + pz\"",
        };
        fs::write(bench.path("space.toml"), SPACE.replacen(change, wrong, 1)).expect("writable");
        let sentence = ends(&Bench::with(&arguments, &[]), 2);
        assert!(sentence.contains(says), "{sentence}");
        assert!(sentence.contains("space.toml"), "{sentence}");
    }
}

/// Waits until something holds of a program that runs.
pub fn wait_until(child: &mut Child, holds: impl Fn() -> bool) {
    for _ in 0..6_000 {
        if holds() {
            return;
        }
        let ended = child.try_wait().expect("it can be asked");
        assert!(ended.is_none(), "it ended too early: {ended:?}");
        thread::sleep(Duration::from_millis(10));
    }
    panic!("it does not come to hold");
}
