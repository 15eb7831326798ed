//! A search with a runner.

use lissom_search::search::Outcome;
use lissom_trials::session::Trials;
use lissom_trials::{Elsewhere, Patience, Settings, Template};
use tempfile::TempDir;

use crate::support::{TRIAL, job, lines, settings};

/// Functions of a runner in a shell: `say` and `of RUN`, which reads the run of an order.
pub const WORDS: &str = "say() { printf '%s\\n' \"$1\"; }
run_of() { run=${1#*\\\"run\\\":}; run=${run%%[!0-9]*}; }
hello() { say '{\"message\":\"hello\",\"version\":1,\"name\":\"x\",\"workers\":2,\"pauses\":true}'; }
line() { say \"{\\\"message\\\":\\\"line\\\",\\\"run\\\":$run,\\\"at\\\":$1,\\\"line\\\":\\\"$2\\\"}\"; }
sample() { line $1 '{\\\"throughput\\\": 100}'; }
told() { say \"{\\\"message\\\":\\\"$1\\\",\\\"run\\\":$run,\\\"at\\\":$2}\"; }
begun() { say \"{\\\"message\\\":\\\"started\\\",\\\"run\\\":$run,\\\"place\\\":\\\"there\\\"}\"
line 1 '{\\\"ready\\\": true}'; }
";

/// A runner that does as it is told; a trial takes 1 s to set up.
pub const OBEDIENT: &str = "read -r order; hello
while read -r order; do run_of \"$order\"; case $order in
*'\"start\"'*) begun; sample 1.5; sample 2;;
*'\"pause\"'*) told paused 2.25;;
*'\"go_on\"'*) told resumed 902.25; sample 902.5; sample 903; sample 903.5;;
esac; done; say bye >&2";

pub struct Field {
    pub elsewhere: Elsewhere,
    /// That of the search.
    pub directory: TempDir,
    /// That of the runner's trials.
    pub trials: TempDir,
}

impl Field {
    pub fn report(&mut self) -> Outcome {
        self.report_or_error().expect("the runner goes on")
    }

    pub fn report_or_error(&mut self) -> lissom_trials::Result<Outcome> {
        for _ in 0..10_000 {
            if let Some(report) = self.elsewhere.poll()?.pop() {
                assert_eq!(report.trial, TRIAL);
                return Ok(report.outcome);
            }
        }
        panic!("no report came");
    }

    pub fn first_report(&mut self, until: f64) -> Outcome {
        self.elsewhere.start(&job(until)).expect("it is ordered");
        self.report()
    }

    /// The sentence with which a search would end.
    pub fn sentence(&mut self) -> String {
        self.elsewhere.start(&job(1.0)).expect("it is ordered");
        self.report_or_error()
            .expect_err("the runner fails")
            .to_string()
    }
}

/// A runner by these words, in which `{trials}` stands for a directory for its trials,
/// which run that script.
pub fn field(
    command: &[&str],
    script: &str,
    restart: bool,
    patience: Patience,
) -> lissom_trials::Result<Field> {
    let words = ["sh", "-c", script, "trial", "{options}", "{directory}"];
    field_of(&words, command, restart, patience)
}

pub fn field_of(
    words: &[&str],
    command: &[&str],
    restart: bool,
    patience: Patience,
) -> lissom_trials::Result<Field> {
    field_with(words, command, patience, |it| it.restart = restart)
}

pub fn field_with(
    words: &[&str],
    command: &[&str],
    patience: Patience,
    change: impl FnOnce(&mut Settings),
) -> lissom_trials::Result<Field> {
    let directory = tempfile::tempdir().expect("a directory");
    let trials = tempfile::tempdir().expect("a directory");
    let mut settings = settings(&directory);
    change(&mut settings);
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

pub fn scripted(runner: &str) -> lissom_trials::Result<Field> {
    let runner = format!("{WORDS}{runner}");
    field(&["sh", "-c", &runner], "true", false, Patience::default())
}
