//! An arm in a process of its own: the job goes to its standard input as JSON, events
//! come back as lines of JSON.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::event::Event;
use super::job::Job;
use super::program::Program;
use super::record::ArmRun;
use crate::error::{BenchError, Place, Result};

/// The child's side: reads a job from `input`, runs it, writes events to `output`; the
/// run is `program`'s, which may be another than the parent's by now.
/// A failed run is an event, too; an error is returned only if none could be written.
/// If the parent goes away in mid-run, the process exits with 1.
pub fn run_arm_child(
    mut input: impl Read,
    mut output: impl Write + Send,
    program: Option<Program>,
) -> Result<()> {
    let mut text = String::new();
    input.read_to_string(&mut text).place("standard input")?;
    let result = serde_json::from_str::<Job>(&text)
        .place(
            "standard input holds no job for bench-arm, which other commands start by themselves",
        )
        .and_then(|job| {
            Job { program, ..job }.run(&mut |event| {
                // Nobody listens any more: what would come of the run is lost anyway, and
                // it would only disturb whatever else the machine does.
                if send(&mut output, &event).is_err() {
                    std::process::exit(1);
                }
            })
        });
    let last = match result {
        Ok(run) => Event::Done(Box::new(run)),
        Err(error) => Event::Failed(error.to_string()),
    };
    send(&mut output, &last)
}

fn send(output: &mut impl Write, event: &Event) -> Result<()> {
    let line = serde_json::to_string(event).place("event")?;
    writeln!(output, "{line}").place("standard output")?;
    output.flush().place("standard output")
}

/// The parent's side: starts `program`, gives it `job`, and follows its events.
pub(super) fn run_in_child(
    program: &Path,
    arguments: &[String],
    job: &Job,
    report: &mut (dyn FnMut(Event) + Send),
) -> Result<ArmRun> {
    let place = format!("arm {}, round {}", job.arm, job.round + 1);
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .place(format!("{place}: {} cannot be started", program.display()))?;
    let result = converse(&mut child, job, report);
    let status = child.wait().place(&place)?;
    match result? {
        Some(Event::Done(run)) => Ok(*run),
        Some(Event::Failed(sentence)) => Err(BenchError::new(sentence)),
        _ => Err(BenchError::new(format!(
            "{place}: its process ended without a result ({status}); what it said stands above. \
             The other arms' results are kept; the same command goes on from here"
        ))),
    }
}

fn converse(
    child: &mut Child,
    job: &Job,
    report: &mut (dyn FnMut(Event) + Send),
) -> Result<Option<Event>> {
    let text = serde_json::to_vec(job).place("job")?;
    let mut input = child.stdin.take().expect("the child's input is piped");
    // A child that died at once shows in its exit status.
    let _ = input.write_all(&text);
    drop(input);
    let output = child.stdout.take().expect("the child's output is piped");
    for line in BufReader::new(output).lines() {
        let line = line.place("output of the arm's process")?;
        match serde_json::from_str(&line).place("output of the arm's process")? {
            Event::Progress(progress) => report(Event::Progress(progress)),
            last => return Ok(Some(last)),
        }
    }
    Ok(None)
}
