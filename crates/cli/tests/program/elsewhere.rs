//! search, with a runner.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};

use super::small_search::{Bench, wait_until};
use super::support::{command, ends, run, skip, text};

/// A throughput of 100 + 10 (px + py), for ever; it writes down where it runs.
const PROGRAM: &str = "echo \"$2\" >> \"$(dirname \"$0\")/used\"
px=$(sed -n 's/^--px=//p' \"$1\")
py=$(sed -n 's/^--py=//p' \"$1\")
echo '{\"ready\": true}'
while :; do echo \"{\\\"throughput\\\": $((100 + 10 * (px + py)))}\"; sleep 0.01; done
";

const RUNNERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/runners");
const CLUSTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program/ray_cluster.py");

/// The release of Ray that is tested.
const RAY: &str = "2.60.0";

/// The command line of a search around the program, by this runner.
fn arguments(bench: &Bench, runner: &str) -> Vec<String> {
    let program = bench.path("program.sh").display().to_string();
    let mut arguments = bench.arguments();
    let place = arguments.iter().position(|it| it == "--command");
    let words = place.and_then(|it| arguments.get_mut(it + 1));
    *words.expect("a command") = format!("sh {program} {{options}} {{directory}}");
    arguments.extend(["--runner".to_owned(), runner.to_owned()]);
    arguments
}

/// A search around the program by the runner of this machine; `None` where there is no
/// Python.
fn local() -> Option<(Bench, Vec<String>)> {
    if !works(Command::new("python3").arg("--version")) {
        skip("tests of runners need python3");
        return None;
    }
    let bench = Bench::new(PROGRAM);
    let place = bench.path("machines").display().to_string();
    let runner = format!("python3 -B {RUNNERS}/local_runner.py --workers 2 --directory {place}");
    let arguments = arguments(&bench, &runner);
    Some((bench, arguments))
}

fn works(command: &mut Command) -> bool {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|it| it.success())
}

/// Whether trials ran with both workers.
fn both_worked(bench: &Bench) -> bool {
    let used = fs::read_to_string(bench.path("used")).unwrap_or_default();
    ["/worker-0/", "/worker-1/"]
        .iter()
        .all(|it| used.contains(it))
}

/// The findings of a search that found the best.
fn found(output: &Output) -> serde_json::Value {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let found = report["findings"].clone();
    let best = &found["best"]["configuration"];
    let sum = best["px"].as_u64().zip(best["py"].as_u64());
    let (px, py) = sum.expect("numbers");
    assert!(px + py >= 9, "of the better half: {best}");
    found
}

#[test]
fn the_best_is_found_elsewhere() {
    let Some((bench, arguments)) = local() else {
        return;
    };
    let found = found(&run(&Bench::with(&arguments, &["--json"])));
    assert_eq!(found["verdict"]["complete_rounds"], 3);
    assert!(both_worked(&bench));
    let notes = found["notes"].to_string();
    for note in ["the runner has 2 workers", "the trials run elsewhere"] {
        assert!(notes.contains(note), "{notes}");
    }
    assert!(!bench.path("search.trials").exists());
    let left = fs::read_dir(bench.path("machines")).expect("there").count();
    assert_eq!(left, 0, "the runner has removed everything");
}

#[test]
fn a_search_whose_runner_was_killed_goes_on_with_the_same_command() {
    let Some((bench, arguments)) = local() else {
        return;
    };
    let mut started = command(&Bench::with(&arguments, &[]));
    let mut child = started
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let measured = |log: &str| log.matches("\"event\":\"measurement\"").count();
    wait_until(&mut child, || measured(&bench.log()) >= 3);
    let record = fs::read(bench.path("search.trials/runner/.lissom-trial.json")).expect("a record");
    let record: serde_json::Value = serde_json::from_slice(&record).expect("JSON");
    let killed = works(Command::new("kill").args(["-KILL", &record["group"].to_string()]));
    assert!(killed, "the runner runs");
    let output = child.wait_with_output().expect("it ended");
    assert_eq!(output.status.code(), Some(1));
    let sentence = text(&output.stderr);
    assert!(
        sentence.contains("the runner ended by itself (signal: 9"),
        "{sentence}"
    );
    assert!(
        sentence.contains("the same command goes on from there"),
        "{sentence}"
    );
    let before = measured(&bench.log());
    assert!(before >= 3, "nothing that was measured is lost");
    found(&run(&Bench::with(&arguments, &["--json"])));
    let log = bench.log();
    assert_eq!(
        log.matches("\"event\":\"begin\"").count(),
        1,
        "the same search"
    );
    assert!(measured(&log) > before);
    let left = fs::read_dir(bench.path("machines")).expect("there").count();
    assert_eq!(left, 0, "also of the runner that was killed");
}

#[test]
fn a_runner_that_fails_is_one_sentence() {
    let bench = Bench::new(PROGRAM);
    for (runner, says) in [
        (
            "/no/such/runner",
            "cannot start the runner \"/no/such/runner\"",
        ),
        (
            "false",
            "the runner ended by itself (exit status: 1); it said nothing",
        ),
        (
            "echo hello",
            "the runner printed what is no message: \"hello\"",
        ),
    ] {
        let sentence = ends(&Bench::with(&arguments(&bench, runner), &[]), 1);
        assert!(sentence.contains(says), "{sentence}");
    }
    assert!(!bench.path("search.trials").exists());
}

#[test]
fn that_trials_begin_anew_is_said_without_a_terminal() {
    let bench = Bench::new(PROGRAM);
    let runner =
        "echo '{\"message\": \"hello\", \"version\": 1, \"workers\": 1, \"pauses\": false}'";
    let said = ends(&Bench::with(&arguments(&bench, runner), &[]), 1);
    let note = "note: the runner cannot let trials wait: instead of waiting they start anew";
    assert!(said.starts_with(note), "{said}");
    assert!(said.contains("the runner ended by itself"), "{said}");
}

/// A Ray cluster on this machine. It ends when this is dropped.
struct Cluster {
    process: Child,
    input: Option<ChildStdin>,
    output: Box<dyn BufRead>,
    address: String,
}

impl Cluster {
    fn start(python: &Path) -> Cluster {
        let mut process = Command::new(python)
            .arg(CLUSTER)
            .env("RAY_USAGE_STATS_ENABLED", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python starts");
        let output = process.stdout.take().expect("it is piped");
        let mut cluster = Cluster {
            input: process.stdin.take(),
            output: Box::new(BufReader::new(output)),
            process,
            address: String::new(),
        };
        cluster.address = cluster.hear("address ");
        cluster
    }

    /// What stands behind these words in the next line that begins with them.
    fn hear(&mut self, words: &str) -> String {
        loop {
            let mut line = String::new();
            let bytes = self.output.read_line(&mut line).expect("it is text");
            assert!(bytes > 0, "the cluster has ended");
            if let Some(rest) = line.strip_prefix(words) {
                return rest.trim().to_owned();
            }
        }
    }

    /// Kills one of the machines.
    fn kill_machine(&mut self) {
        let input = self.input.as_mut().expect("it is piped");
        writeln!(input, "kill").expect("it listens");
        self.hear("killed");
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.process.wait();
    }
}

/// A Python with Ray, or why there is none. It is kept for the next time.
fn python_with_ray() -> Result<PathBuf, String> {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ray");
    let python = place.join("bin/python");
    let imports = format!("import ray; assert ray.__version__ == '{RAY}'");
    let has_ray = || works(Command::new(&python).args(["-c", &imports]));
    if has_ray() {
        return Ok(python);
    }
    if !works(
        Command::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(&place),
    ) {
        return Err("python3 -m venv does not work here".to_owned());
    }
    let release = format!("ray=={RAY}");
    let install = ["-m", "pip", "install", "--quiet", &release];
    let installed = works(Command::new(&python).args(install)) && has_ray();
    installed
        .then_some(python)
        .ok_or_else(|| format!("pip install {release} does not work here"))
}

#[test]
#[ignore = "installs Ray and runs for two minutes"]
fn a_ray_cluster_works_and_may_lose_a_machine() {
    let python = match python_with_ray() {
        Ok(python) => python,
        Err(why) => {
            skip(&format!("the test of Ray: {why}"));
            return;
        }
    };
    let mut cluster = Cluster::start(&python);
    let bench = Bench::new(PROGRAM);
    let runner = format!(
        "{} -B {RUNNERS}/ray_runner.py --address {} --workers 2 --directory {}",
        python.display(),
        cluster.address,
        bench.path("machines").display()
    );
    let arguments = arguments(&bench, &runner);
    let mut child = command(&Bench::with(&arguments, &["--json"]))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let measured = |log: &str| log.matches("\"event\":\"measurement\"").count();
    // Until the machines are there, nothing is written.
    wait_until(&mut child, || !bench.log().is_empty());
    wait_until(&mut child, || {
        both_worked(&bench) && measured(&bench.log()) >= 4
    });
    cluster.kill_machine();
    let output = child.wait_with_output().expect("it ended");
    let found = found(&output);
    let notes = found["notes"].to_string();
    assert!(notes.contains("the runner has 2 workers"), "{notes}");
    assert!(notes.contains("the trials run elsewhere (Ray "), "{notes}");
    let log = bench.log();
    let left = fs::read_dir(bench.path("machines")).expect("there").count();
    assert_eq!(left, 0, "also of the machine that was killed");
    assert!(
        log.contains("the runner lost it: "),
        "with its machine: {log}"
    );
    assert!(!bench.path("search.trials").exists());
}
