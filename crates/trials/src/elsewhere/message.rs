//! What this program and a runner say to each other: one JSON object a line.
//!
//! A start has a number of its own, `run`, which everything that is said of it bears: so
//! what comes late, of a run that was stopped, is not taken for its successor. Of a run
//! `at` is the time: seconds since its program was started, by the clock of the machine
//! that runs it. How long a message takes on its way changes no figure.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::greeting::Greeting;
use crate::error::{Result, TrialsError};
use crate::protocol::clean;

/// The protocol's version; a runner of another one is refused.
pub(super) const VERSION: u32 = 1;

/// What a runner is told, on its standard input.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "message")]
pub(super) enum Order {
    /// Before all others.
    Hello {
        /// [`VERSION`].
        version: u32,
        /// The version of this program.
        lissom: String,
        /// The most trials that will run at once; absent for as many as the runner has
        /// workers.
        workers: Option<usize>,
        /// The most memory that a trial may hold, bytes.
        memory_bytes: u64,
        /// Whether trials will wait for each other; otherwise they end, and start anew.
        waits: bool,
        /// Whether directories of trials that ended are to be kept.
        keep: bool,
    },
    /// Starts a trial; it may wait for a worker.
    Start {
        /// A number that no other start has.
        run: u64,
        /// For people: what is started.
        label: String,
        /// The program and its arguments. `{options}`, `{directory}`, `{metrics}` and
        /// `{shared}` stand for paths that the runner knows.
        command: Vec<String>,
        /// The text of the file with the configuration.
        options: String,
    },
    /// Stops all its processes where they are.
    Pause {
        /// Which.
        run: u64,
    },
    /// Lets them go on; that may wait for a worker.
    GoOn {
        /// Which.
        run: u64,
    },
    /// Ends and forgets it; nothing of one that has ended.
    Stop {
        /// Which.
        run: u64,
    },
}

/// What a runner says, on its standard output.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "snake_case", tag = "message")]
pub(super) enum News {
    /// Before all others but beats.
    Hello(Greeting),
    /// The runner lives.
    Beat,
    /// The program was started; its clock begins.
    Started {
        run: u64,
        /// Where, for people.
        #[serde(default)]
        place: String,
    },
    /// It printed a line on its standard output, or wrote one into `{metrics}`.
    Line { run: u64, at: f64, line: String },
    /// It printed words for people.
    Words { run: u64, line: String },
    /// Its processes hold so much memory together; also that it lives.
    Weighed {
        run: u64,
        at: f64,
        memory_bytes: u64,
    },
    /// All its processes stand still.
    Paused { run: u64, at: f64 },
    /// They go on.
    Resumed { run: u64, at: f64 },
    /// The program has ended by itself.
    Ended {
        run: u64,
        at: f64,
        /// In words, as `exit status: 1`.
        how: String,
        /// Whether it was killed by SIGKILL.
        #[serde(default)]
        killed: bool,
    },
    /// It is gone, with its machine or whatever ran it there.
    Lost { run: u64, why: String },
    /// It was ended as ordered.
    Stopped {
        run: u64,
        /// What one should know of how that went.
        #[serde(default)]
        remark: Option<String>,
    },
    /// No trial can be run any more, whatever its configuration is.
    Failed { why: String },
}

impl Order {
    /// The line, with its end.
    pub fn encode(&self) -> Result<String> {
        let text = serde_json::to_string(self).map_err(|error| {
            TrialsError::new(format!("an order is not JSON: {error}; report this"))
        })?;
        Ok(text + "\n")
    }
}

impl News {
    /// What a line says, its line break removed or not.
    ///
    /// # Errors
    /// It is no message of this version.
    pub fn parse(line: &str) -> Result<News> {
        let value: Option<Value> = serde_json::from_str(line.trim()).ok();
        let Some(value) = value.filter(Value::is_object) else {
            return Err(TrialsError::new(format!(
                "the runner printed what is no message: \"{}\"; words for people belong on its \
                 standard error",
                clean(line)
            )));
        };
        check_version(&value)?;
        let news: News =
            serde_json::from_value(value).map_err(|error| unusable(line, &error.to_string()))?;
        match news.at() {
            Some(at) if at < 0.0 => Err(unusable(line, "at is less than 0")),
            _ => Ok(news),
        }
    }

    /// The run that it is about.
    pub fn run(&self) -> Option<u64> {
        match self {
            News::Hello(_) | News::Beat | News::Failed { .. } => None,
            News::Started { run, .. }
            | News::Line { run, .. }
            | News::Words { run, .. }
            | News::Weighed { run, .. }
            | News::Paused { run, .. }
            | News::Resumed { run, .. }
            | News::Ended { run, .. }
            | News::Lost { run, .. }
            | News::Stopped { run, .. } => Some(*run),
        }
    }

    /// Its time by the run's clock.
    pub fn at(&self) -> Option<f64> {
        match self {
            News::Line { at, .. }
            | News::Weighed { at, .. }
            | News::Paused { at, .. }
            | News::Resumed { at, .. }
            | News::Ended { at, .. } => Some(*at),
            _ => None,
        }
    }

    /// For a sentence: what the runner says of a run.
    pub fn verb(&self) -> &'static str {
        match self {
            News::Hello(_) | News::Beat | News::Failed { .. } => "is there",
            News::Started { .. } => "was started",
            News::Line { .. } | News::Words { .. } => "printed a line",
            News::Weighed { .. } => "holds memory",
            News::Paused { .. } => "was paused",
            News::Resumed { .. } => "went on",
            News::Ended { .. } => "ended",
            News::Lost { .. } => "was lost",
            News::Stopped { .. } => "was stopped",
        }
    }
}

/// Before anything else of it is understood.
fn check_version(value: &Value) -> Result<()> {
    let says_hello = value.get("message").and_then(Value::as_str) == Some("hello");
    let version = value.get("version").and_then(Value::as_u64);
    if !says_hello || version == Some(u64::from(VERSION)) {
        return Ok(());
    }
    let version = version.map_or("no version".to_owned(), |it| format!("version {it}"));
    Err(TrialsError::new(format!(
        "the runner speaks {version} of the protocol, this program version {VERSION}: take a \
         runner and a program that belong together"
    )))
}

fn unusable(line: &str, why: &str) -> TrialsError {
    TrialsError::new(format!(
        "the runner's message \"{}\" cannot be understood: {why}; mend the runner",
        clean(line)
    ))
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
