//! An arm in a process of its own: the job goes to its standard input as a line of JSON, events
//! come back as lines of JSON. The input stays open as long as the parent lives.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use super::event::Event;
use super::job::Job;
use super::program::Program;
use super::record::ArmRun;
use crate::error::{BenchError, Place, Result};
use crate::parent::at_end;

/// The child's side: reads a job from `input`, runs it, writes events to `output`; the
/// run is `program`'s, which may be another than the parent's by now.
/// A failed run is an event, too; an error is returned only if none could be written.
///
/// Once the parent is gone, `when_alone` is called, on a thread of its own if `input` tells it. It is
/// to end the process at once: what would come of the run is lost, and its database is the next
/// run's.
pub fn run_arm_child(
    mut input: impl BufRead + Send + 'static,
    mut output: impl Write + Send,
    program: Option<Program>,
    when_alone: impl Fn() + Clone + Send + Sync + 'static,
) -> Result<()> {
    let mut text = String::new();
    input.read_line(&mut text).place("standard input")?;
    let result = serde_json::from_str::<Job>(&text)
        .place(
            "standard input holds no job for bench-arm, which other commands start by themselves",
        )
        .and_then(|job| {
            at_end(input, when_alone.clone())?;
            Job { program, ..job }.run(&mut |event| {
                if send(&mut output, &event).is_err() {
                    when_alone();
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
    let result = hand_over(&mut child, job).and_then(|input| {
        let last = converse(&mut child, report)?;
        // At the end of its input a child ends at once, and this one does by itself.
        Ok((last, input))
    });
    let status = child.wait().place(&place)?;
    match result.map(|(last, _)| last)? {
        Some(Event::Done(run)) => Ok(*run),
        Some(Event::Failed(sentence)) => Err(BenchError::new(sentence)),
        _ => Err(BenchError::new(format!(
            "{place}: its process ended without a result ({status}); what it said stands above. \
             The other arms' results are kept; the same command goes on from here"
        ))),
    }
}

fn converse(child: &mut Child, report: &mut (dyn FnMut(Event) + Send)) -> Result<Option<Event>> {
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

fn hand_over(child: &mut Child, job: &Job) -> Result<ChildStdin> {
    let mut text = serde_json::to_vec(job).place("job")?;
    text.push(b'\n');
    let mut input = child.stdin.take().expect("the child's input is piped");
    // A child that died at once shows in its exit status.
    let _ = input.write_all(&text);
    Ok(input)
}
