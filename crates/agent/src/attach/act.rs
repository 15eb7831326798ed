//! Carrying out decisions, and reading back what came of them.

use std::path::PathBuf;
use std::time::Duration;

use crate::decide::{Decision, Lease, Outcome};
use crate::error::{Error, ErrorKind, Result};
use crate::server::{self, Server};

/// A decision and what came of it.
pub(super) type Done = (Decision, Outcome);

/// Sends all changes, and reads back whether they took effect. `may_delay` is
/// asked before each delay. The error is the lost connection that ended it.
pub(super) fn carry_out<S: Server>(
    server: &mut S,
    decisions: Vec<Decision>,
    may_delay: impl Fn() -> bool,
) -> (Vec<Done>, Result<()>) {
    let mut done: Vec<(Decision, Option<Outcome>)> = Vec::new();
    let mut lost = None;
    for decision in decisions {
        if lost.is_some() || (decision.delays() && !may_delay()) {
            // It is decided anew in the next interval.
            continue;
        }
        let outcome = match server.set(&decision.change) {
            Ok(()) => None,
            Err(error) if error.kind() == ErrorKind::Lost => {
                let why = error.to_string();
                lost = Some(error);
                Some(Outcome::Unknown { why })
            }
            Err(error) => {
                let why = error.to_string();
                Some(Outcome::Refused { why })
            }
        };
        done.push((decision, outcome));
    }
    let read = match lost {
        Some(error) => Err(error),
        None if done.is_empty() => return (Vec::new(), Ok(())),
        None => read_back(server, &mut done),
    };
    let done = done
        .into_iter()
        .map(|(decision, outcome)| (decision, outcome.unwrap_or_else(|| unknown(&read))))
        .collect();
    (done, read)
}

fn read_back<S: Server>(server: &mut S, done: &mut [(Decision, Option<Outcome>)]) -> Result<()> {
    let changes = done.iter().map(|(decision, _)| &decision.change);
    let (options, rate_limiter) = server::read_back(server, changes)?;
    for (decision, outcome) in done {
        outcome.get_or_insert_with(|| decision.change.verify(&options, rate_limiter));
    }
    Ok(())
}

fn unknown(read: &Result<()>) -> Outcome {
    let why = match read {
        Ok(()) => String::new(),
        Err(error) => error.to_string(),
    };
    Outcome::Unknown { why }
}

/// Whether the server is as it should be, but for delays that it did not take.
pub(super) fn in_control(done: &[Done]) -> bool {
    done.iter().all(|(decision, outcome)| {
        decision.delays() || matches!(outcome, Outcome::Applied | Outcome::Vanished)
    })
}

/// The sentence for column families that could not be restored, and that stay in these files.
pub(super) fn still_recorded(left: &Lease, files: &[PathBuf]) -> String {
    let names: Vec<&str> = left.families.keys().map(String::as_str).collect();
    let files: Vec<String> = files.iter().map(|it| it.display().to_string()).collect();
    format!(
        "not restored, since it is gone: column family {}; its original options stay in {}, and \
         the next agent or `lissom attach --restore` sets them once one is created under that \
         name, unless the server was restarted first; remove the file to forget them and all else \
         that it holds",
        names.join(", "),
        files.join(", ")
    )
}

/// The sentence for a column family that is there again and could not be restored.
pub(super) fn still_refused(column_family: &str, why: &str) -> String {
    format!(
        "column family {column_family} is there again with options that an earlier agent set, and \
         could not be given its original ones ({why}): it is left alone, and they are tried again \
         in each interval"
    )
}

/// The sentence for what is restored and could not be taken out of the state files.
pub(super) fn still_in_file(restored: &Lease, error: &Error) -> String {
    let what = named(restored);
    format!("{what} has its original settings again, but stays recorded: {error}")
}

/// The sentence for a part of a lease that the server does not take.
pub(super) fn not_given_back(place: &str, part: &Lease, error: &Error) -> String {
    format!(
        "{} of {place} cannot be given its original settings ({error}): they stay recorded; once \
         the reason is gone run `lissom attach --restore` again, or restart the server, which \
         brings them back",
        named(part)
    )
}

/// What a part of a lease is about.
fn named(part: &Lease) -> String {
    if part.families.is_empty() {
        return "the rate limiter".into();
    }
    let names: Vec<&str> = part.families.keys().map(String::as_str).collect();
    format!("column family {}", names.join(", "))
}

/// The sentence of an end at which the settings could not be restored.
pub(super) fn not_restored(place: &str, error: &Error, waited: Duration) -> Error {
    Error::refused(format!(
        "{place} could not be given its original settings in {} s ({error}): the watchdog goes on \
         trying; `lissom attach --restore` does it by hand, and so does a restart of the server",
        waited.as_secs()
    ))
}
