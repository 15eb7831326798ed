//! The child of a search, as a search sees it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use super::support::{command, ends, run, text};

/// A trial of stock RocksDB in a directory, with these arguments besides.
fn arguments<'a>(directory: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    let path = directory.to_str().expect("UTF-8");
    let mut arguments = vec!["trial", "--workload", "update-only", "--entries", "2000"];
    arguments.extend(["--buffered-io", "--window", "100ms", "--directory", path]);
    arguments.extend(more);
    arguments
}

/// A file with options in a directory of its own.
struct Options(tempfile::TempDir);

impl Options {
    fn new(options: &str) -> Options {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::write(directory.path().join("OPTIONS"), options).expect("written");
        Options(directory)
    }

    fn stock(lines: &str) -> Options {
        Options::new(&format!("[DBOptions]\n[CFOptions \"default\"]\n{lines}\n"))
    }

    fn path(&self) -> String {
        let path = self.0.path().join("OPTIONS");
        path.to_str().expect("UTF-8").to_owned()
    }

    fn database(&self) -> std::path::PathBuf {
        self.0.path().join("database")
    }
}

fn json(line: &str) -> Value {
    serde_json::from_str(line).expect(line)
}

#[test]
fn both_systems_print_ready_and_windows() {
    for (system, options) in [
        ("rocksdb", Options::stock("write_buffer_size=262144")),
        ("lissom", Options::new("{\"write_buffer_size\": 262144}")),
    ] {
        let (file, database) = (options.path(), options.database());
        let more = ["--system", system, "--options", &file, "--seconds", "1"];
        let output = run(&arguments(&database, &more));
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let printed = text(&output.stdout);
        let lines: Vec<Value> = printed.lines().map(json).collect();
        assert_eq!(lines[0]["ready"], true, "{printed}");
        assert!(lines.len() > 2, "{printed}");
        assert!(lines[1]["throughput"].is_number(), "{printed}");
    }
}

#[test]
fn what_all_trials_share_stands_below_the_configuration() {
    let options = Options::stock("write_buffer_size=262144");
    let base = Options::stock("write_buffer_size=131072\nmax_write_buffer_number=5");
    let (file, shared) = (options.path(), base.path());
    let database = options.database();
    let more = ["--options", &file, "--base", &shared, "--seconds", "200ms"];
    let output = run(&arguments(&database, &more));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let files = std::fs::read_dir(&database).expect("a database").flatten();
    let newest = files
        .map(|it| it.path())
        .filter(|it| it.to_string_lossy().contains("OPTIONS-"))
        .max();
    let used = std::fs::read_to_string(newest.expect("an OPTIONS file")).expect("text");
    for line in ["write_buffer_size=262144", "max_write_buffer_number=5"] {
        assert!(used.contains(line), "{used}");
    }
    let broken = Options::new("nonsense");
    let other = broken.path();
    let sentence = ends(
        &arguments(
            &broken.database(),
            &["--options", &file, "--base", &other, "--seconds", "1"],
        ),
        2,
    );
    assert!(sentence.contains("--base"), "{sentence}");
}

#[test]
fn an_impossible_option_is_an_error_on_both_outputs() {
    let options = Options::stock("no_such_option=1");
    let (file, database) = (options.path(), options.database());
    let output = run(&arguments(
        &database,
        &["--options", &file, "--seconds", "1"],
    ));
    assert_eq!(output.status.code(), Some(1));
    let line = json(&text(&output.stdout));
    let sentence = line["error"].as_str().expect("a sentence");
    assert!(sentence.starts_with("cannot open: "), "{sentence}");
    assert!(sentence.contains("no_such_option"), "{sentence}");
    assert!(text(&output.stderr).contains(sentence));
}

/// A trial that runs for long, past its set-up.
fn started(options: &Options) -> (Child, BufReader<ChildStdout>) {
    let (file, database) = (options.path(), options.database());
    let more = ["--options", &file, "--seconds", "600"];
    let mut child = command(&arguments(&database, &more))
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped"));
    assert_eq!(next(&mut lines)["ready"], true);
    (child, lines)
}

fn next(lines: &mut BufReader<ChildStdout>) -> Value {
    let mut line = String::new();
    lines.read_line(&mut line).expect("a line");
    json(&line)
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill")
        .args([format!("-{name}"), child.id().to_string()])
        .status();
    assert!(status.expect("kill runs").success());
}

#[test]
fn sigterm_ends_it_in_order() {
    let options = Options::stock("");
    let (mut child, mut lines) = started(&options);
    assert!(next(&mut lines)["throughput"].is_number());
    signal(&child, "TERM");
    assert_eq!(child.wait().expect("ends").code(), Some(0));
}

#[test]
fn it_ends_with_the_search_that_started_it() {
    let options = Options::stock("");
    let (file, database) = (options.path(), options.database());
    let more = ["--options", &file, "--seconds", "600"];
    let mut child = command(&arguments(&database, &more))
        .env("LISSOM_TRIAL", "here")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("starts");
    drop(child.stdin.take());
    assert_eq!(child.wait().expect("ends").code(), Some(1));
}

#[test]
fn a_stop_is_in_no_window() {
    let options = Options::stock("");
    let (mut child, mut lines) = started(&options);
    next(&mut lines);
    signal(&child, "STOP");
    std::thread::sleep(std::time::Duration::from_secs(3));
    signal(&child, "CONT");
    // The window with the stop, and one after it.
    for _ in 0..8 {
        let line = next(&mut lines);
        let seconds = line["seconds"].as_f64().expect("a number");
        assert!(seconds < 2.9, "{line}");
    }
    signal(&child, "TERM");
    assert_eq!(child.wait().expect("ends").code(), Some(0));
}

#[test]
fn wrong_use_of_a_trial_gets_a_sentence() {
    let options = Options::stock("");
    let (file, database) = (options.path(), options.database());
    std::fs::create_dir(&database).expect("made");
    std::fs::write(database.join("mine"), "").expect("written");
    for (more, words) in [
        (
            &["--options", "/nowhere", "--seconds", "1"][..],
            "cannot read /nowhere",
        ),
        (&["--options", &file, "--seconds", "1"], "is not empty"),
        (
            &["--options", &file, "--seconds", "10ms"],
            "at least one --window",
        ),
        (&["--options", &file, "--seconds", "soon"], "has no unit"),
        (&["--options", &file], "--seconds <TIME>"),
        (
            &["--options", &file, "--seconds", "1", "--system", "other"],
            "choose rocksdb or lissom",
        ),
    ] {
        let sentence = ends(&arguments(&database, more), 2);
        assert!(sentence.contains(words), "{sentence}");
    }
}
