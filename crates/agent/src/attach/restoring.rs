//! `lissom attach URL --restore`: what an agent that is gone has left is taken back.

use std::time::Duration;

use serde::Serialize;

use super::act::{not_given_back, still_in_file, still_recorded};
use super::hands::EVENT_LIFETIME;
use crate::decide::{Change, Instance, Lease, Standing};
use crate::error::{Error, ErrorKind, Result};
use crate::files::Ledger;
use crate::server::{Restoration, Role, Server, occupied, restore};

/// For the session of an agent that is gone to end.
const CLAIM_PATIENCE: Duration = Duration::from_secs(2);

/// What [`Attachment::restore`](super::Attachment::restore) did.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct RestoreReport {
    /// Whether settings of the server were recorded that are to be taken back.
    pub recorded: bool,
    /// Whether some were recorded that a restart of the server has ended.
    pub restarted: bool,
    /// What was set, as text.
    pub changes: Vec<String>,
    /// What stays recorded of this server, since its column families are gone, as sentences
    /// without a full stop.
    pub kept: Vec<String>,
    /// Servers whose settings are still to be restored at other addresses.
    pub elsewhere: Vec<String>,
}

/// Restores the server that answers, at whatever address its settings were recorded, and
/// removes the event of a schema, but for what stays recorded.
///
/// # Errors
/// When the server cannot be asked, or refuses any of it, a sentence a line: all else is
/// restored then, and the event is as it was, since it may still take back what is not.
pub(super) fn restore_recorded<S: Server>(
    ledger: &Ledger,
    server: &mut S,
    place: &str,
    schema: Option<&str>,
) -> Result<RestoreReport> {
    if let Some(holder) = server.claim(Role::Agent, CLAIM_PATIENCE)? {
        return Err(occupied(place, &holder));
    }
    let instance = server.instance()?;
    let mut restoring = Restoring {
        ledger,
        server,
        place,
        report: RestoreReport::default(),
        kept: None,
        refused: Vec::new(),
    };
    for lease in ledger.of_server(&instance.identity)? {
        match lease.standing(&instance) {
            Standing::Foreign => {}
            Standing::Ended => {
                ledger.forget(&lease)?;
                restoring.report.restarted = true;
            }
            Standing::InForce => restoring.take_back(&lease)?,
        }
    }
    restoring.end(&instance, schema)
}

/// A restoration under way.
struct Restoring<'a, S> {
    ledger: &'a Ledger,
    server: &'a mut S,
    place: &'a str,
    report: RestoreReport,
    /// What stays recorded, since it is gone.
    kept: Option<Lease>,
    /// What stays recorded, since it is refused: sentences without a full stop.
    refused: Vec<String>,
}

impl<S: Server> Restoring<'_, S> {
    /// Part by part: what is refused of one keeps no other from being restored.
    fn take_back(&mut self, lease: &Lease) -> Result<()> {
        self.report.recorded = true;
        let mut gone = None;
        let mut files = Vec::new();
        for part in lease.parts() {
            match restore(self.server, &part) {
                Ok(Restoration { changes, left }) => {
                    let changes = changes.iter().map(Change::to_string);
                    self.report.changes.extend(changes);
                    match self.ledger.settle(&part, left.as_ref()) {
                        Ok(holding) => files = holding,
                        Err(error) => self.refuse(still_in_file(&part, &error)),
                    }
                    gone = Lease::join(gone, left);
                }
                Err(error) if error.kind() == ErrorKind::Lost => return Err(error),
                Err(error) => self.refuse(not_given_back(self.place, &part, &error)),
            }
        }
        if let Some(gone) = &gone {
            self.report.kept.push(still_recorded(gone, &files));
        }
        self.kept = Lease::join(self.kept.take(), gone);
        Ok(())
    }

    /// Two files may hold the same.
    fn refuse(&mut self, sentence: String) {
        if !self.refused.contains(&sentence) {
            self.refused.push(sentence);
        }
    }

    fn end(self, instance: &Instance, schema: Option<&str>) -> Result<RestoreReport> {
        let mut report = self.report;
        if !self.refused.is_empty() {
            return Err(refusal(self.refused, report));
        }
        if let (true, Some(schema)) = (report.recorded, schema) {
            clear_event(self.server, schema, self.kept.as_ref())?;
        }
        let mut left = self.ledger.left()?;
        left.retain(|lease| lease.standing(instance) != Standing::InForce);
        report.elsewhere = left.into_iter().map(|lease| lease.identity).collect();
        Ok(report)
    }
}

/// What was done all the same is told, too.
fn refusal(refused: Vec<String>, report: RestoreReport) -> Error {
    let mut sentences = refused;
    if !report.changes.is_empty() {
        sentences.push(format!(
            "restored all the same: {}",
            report.changes.join(", ")
        ));
    }
    sentences.extend(report.kept);
    Error::refused(sentences.join("\n"))
}

/// It may be of another agent, which has set other values since: it acts first, while nobody
/// holds the lock. From then on it has nothing but what is kept: what is restored may be set
/// by somebody to whatever it takes back.
fn clear_event<S: Server>(server: &mut S, schema: &str, kept: Option<&Lease>) -> Result<()> {
    server.release(Role::Agent)?;
    server.await_event()?;
    if server.claim(Role::Agent, Duration::ZERO)?.is_some() {
        // An agent has begun meanwhile, and keeps one of its own.
        return Ok(());
    }
    match kept {
        None => server.drop_event(schema),
        Some(kept) => server.narrow_event(schema, kept, EVENT_LIFETIME),
    }
}

#[cfg(test)]
#[path = "restoring_tests.rs"]
mod tests;
