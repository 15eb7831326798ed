//! The lines that a trial prints.

use std::io::Write;

use serde::Serialize;

use crate::error::{Place, Result};

#[derive(Serialize)]
struct Said {
    ready: bool,
}

#[derive(Serialize)]
struct Failure<'a> {
    error: &'a str,
}

#[derive(Serialize)]
struct Note<'a> {
    note: &'a str,
}

/// Metrics over all the time since the process was ready; the others are over a window.
/// A tail of latencies cannot be put together from those of windows.
pub(super) const CUMULATIVE: &[&str] = &[
    "p99_micros",
    "get_p99_micros",
    "put_p99_micros",
    "scan_p99_micros",
    "write_amplification",
    "sessions_visited",
];

/// What one window measured. The names are those that objectives and constraints of a
/// search know; what did not occur is left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct Sample {
    /// Length of the window, without the time in which the process was stopped.
    pub(super) seconds: f64,
    /// Operations per second.
    pub(super) throughput: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) p99_micros: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) get_p99_micros: Option<f64>,
    /// Of all writes, deletes included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) put_p99_micros: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) scan_p99_micros: Option<f64>,
    /// Resident memory of the whole process, the harness's own included.
    pub(super) memory_bytes: u64,
    /// Bytes of table files over bytes of existing entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) space_amplification: Option<f64>,
    /// Bytes written by flushes and compactions over bytes written by the user, since
    /// the process was ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) write_amplification: Option<f64>,
    /// Sessions of the workload.
    pub(super) sessions: u64,
    /// Those of which something was done so far.
    pub(super) sessions_visited: u64,
    /// Which of them are over all the time.
    pub(super) cumulative: &'static [&'static str],
}

/// The set-up is over.
pub(super) fn ready(output: &mut dyn Write) -> Result<()> {
    line(output, &Said { ready: true })
}

/// Something to know about the configuration.
pub(super) fn note(output: &mut dyn Write, sentence: &str) -> Result<()> {
    line(output, &Note { note: sentence })
}

/// The trial fails.
pub(super) fn failure(output: &mut dyn Write, sentence: &str) -> Result<()> {
    line(output, &Failure { error: sentence })
}

/// A window is over.
pub(super) fn sample(output: &mut dyn Write, sample: &Sample) -> Result<()> {
    line(output, sample)
}

fn line(output: &mut dyn Write, value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string(value).place("a line of a trial")?;
    writeln!(output, "{text}").place("standard output")?;
    output.flush().place("standard output")
}
