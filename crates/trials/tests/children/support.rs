//! Scripts in a runner, and a look at their processes.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use lissom_search::Fingerprint;
use lissom_search::search::{Cause, Outcome, TrialId};
use lissom_search::space::{Configuration, Setting};
use lissom_trials::session::{Job, Trials};
use lissom_trials::{Runner, Settings, Template};
use tempfile::TempDir;

pub const TRIAL: TrialId = TrialId(1);

/// A script that is ready at once and reports a throughput of 100 for ever.
pub const GOOD: &str = "echo '{\"ready\": true}'\n\
     while :; do echo '{\"throughput\": 100}'; sleep 0.02; done";

/// A runner, and the directory that it has.
pub struct Lab {
    pub runner: Runner,
    pub directory: TempDir,
}

/// Runs a script as `sh -c SCRIPT trial OPTIONS DIRECTORY METRICS`.
pub fn lab(script: &str) -> Lab {
    lab_with(script, |_| {})
}

pub fn lab_with(script: &str, change: impl FnOnce(&mut Settings)) -> Lab {
    let words = ["sh", "-c", script, "trial", "{options}", "{directory}"];
    lab_of(&words, change)
}

pub fn lab_of(words: &[&str], change: impl FnOnce(&mut Settings)) -> Lab {
    let directory = tempfile::tempdir().expect("a directory");
    let mut settings = settings(&directory);
    change(&mut settings);
    let words = words.iter().map(|it| (*it).to_owned()).collect();
    let template = Template::of(words).expect("legal");
    let runner = Runner::new(settings, template, Box::new(lines), search("one"));
    let runner = runner.expect("the directory is free");
    Lab { runner, directory }
}

/// The identity of a search.
pub fn search(name: &str) -> Fingerprint {
    Fingerprint::of([name])
}

/// Patient ones.
pub fn settings(directory: &TempDir) -> Settings {
    Settings {
        directory: directory.path().join("trials"),
        evaluation_seconds: 2.0,
        longest_seconds: 4.0,
        memory_bytes: 1 << 30,
        deadline_seconds: 60.0,
        setup_deadline_seconds: 60.0,
        most_alive: 2,
        restart: false,
        keep: false,
    }
}

/// `NAME=VALUE`, line by line.
pub fn lines(configuration: &Configuration) -> lissom_search::Result<String> {
    let settings = configuration.iter();
    Ok(settings
        .map(|(name, setting)| format!("{name}={setting}\n"))
        .collect())
}

pub fn job(until: f64) -> Job {
    let settings = [("px".to_owned(), Setting::Integer(42))];
    Job {
        trial: TRIAL,
        label: "trial-1".to_owned(),
        configuration: settings.into_iter().collect::<Configuration>(),
        until,
        seed: 1,
    }
}

impl Lab {
    /// Starts the trial and gives its first report.
    pub fn first_report(&mut self, until: f64) -> Outcome {
        self.runner.start(&job(until)).expect("it starts");
        self.report()
    }

    /// The next report.
    pub fn report(&mut self) -> Outcome {
        self.report_or_error().expect("the runner goes on")
    }

    pub fn report_or_error(&mut self) -> lissom_trials::Result<Outcome> {
        for _ in 0..10_000 {
            if let Some(report) = self.runner.poll()?.pop() {
                assert_eq!(report.trial, TRIAL);
                return Ok(report.outcome);
            }
        }
        panic!("no report came");
    }

    pub fn place(&self) -> PathBuf {
        self.directory.path().join("trials/trial-1")
    }

    /// The process group of the trial.
    pub fn group(&self) -> i32 {
        let record = fs::read(self.place().join(".lissom-trial.json")).expect("a record");
        let record: serde_json::Value = serde_json::from_slice(&record).expect("JSON");
        record["group"].as_i64().expect("a number") as i32
    }
}

/// A failure's cause and what was said.
pub fn failed(outcome: Outcome) -> (Cause, String) {
    match outcome {
        Outcome::Failed { cause, detail } => (cause, detail),
        other => panic!("{other:?}"),
    }
}

/// Why a trial was lost.
pub fn lost(outcome: Outcome) -> String {
    match outcome {
        Outcome::Lost { why } => why,
        other => panic!("{other:?}"),
    }
}

/// Seconds, set-up seconds, and the throughput of a measurement.
pub fn measured(outcome: &Outcome) -> (f64, f64, f64) {
    match outcome {
        Outcome::Measured {
            seconds,
            setup_seconds,
            metrics,
            ..
        } => {
            let throughput = metrics.get("throughput").expect("reported");
            (*seconds, *setup_seconds, throughput)
        }
        other => panic!("{other:?}"),
    }
}

/// The states of the processes of a group, as Linux has them: S, T, Z ...
fn states(group: i32) -> Vec<String> {
    let processes = fs::read_dir("/proc").expect("Linux");
    let stats = processes.filter_map(|it| fs::read_to_string(it.ok()?.path().join("stat")).ok());
    stats
        .filter_map(|stat| {
            let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
            let of_group = fields.get(2)?.parse::<i32>() == Ok(group);
            of_group.then(|| fields.first().map(|it| (*it).to_owned()))?
        })
        .collect()
}

/// Waits until something holds; a signal does not act at once.
#[track_caller]
pub fn wait_until(mut holds: impl FnMut() -> bool) {
    for _ in 0..1_000 {
        if holds() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("it does not come to hold");
}

/// Whether a group stands still; what has ended waits for its parent to notice (Z), and a
/// shell for what it made by vfork, which was stopped before it became a program (D).
pub fn is_stopped(group: i32) -> bool {
    let states = states(group);
    let still = |state: &String| matches!(state.as_str(), "T" | "Z" | "D");
    states.iter().any(|it| it == "T") && states.iter().all(still)
}

/// Whether nothing but ended processes is left of a group.
pub fn is_gone(group: i32) -> bool {
    states(group).iter().all(|it| it == "Z" || it == "X")
}

pub fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).map_or(true, |mut it| it.next().is_none())
}

/// Whether scripts in Python can run here.
pub fn has_python() -> bool {
    runs("python3", "--version")
}

/// Whether a program is there that a test needs, which is skipped where it is not.
///
/// # Panics
/// Where no test may be skipped.
pub fn runs(program: &str, argument: &str) -> bool {
    let mut command = Command::new(program);
    let status = command.arg(argument).stdout(Stdio::null()).status();
    let runs = status.is_ok_and(|status| status.success());
    if !runs {
        // Written past `println`, whose lines are not shown of tests that pass.
        let line = format!("skipped: a test that needs {program}\n");
        assert!(std::env::var_os("LISSOM_NO_SKIP").is_none(), "{line}");
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
    runs
}
