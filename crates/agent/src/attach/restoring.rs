//! `lissom attach URL --restore`: what an agent that is gone has left is taken back.

use std::time::Duration;

use serde::Serialize;

use super::act::still_recorded;
use super::hands::EVENT_LIFETIME;
use super::taking_back::{TakenBack, take_back};
use crate::decide::event::EVENT;
use crate::decide::{Change, Instance, Lease, Standing};
use crate::error::{Error, Result};
use crate::files::Ledger;
use crate::server::{Role, Server, occupied};

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
    /// What was not done, as sentences without a full stop; all else was.
    pub failures: Vec<String>,
    /// Where an event was to be removed and was not looked at, a sentence without a full stop.
    pub event: Option<String>,
}

impl RestoreReport {
    /// Where nothing was done, and an event of this schema is to be removed.
    pub(super) fn of_nothing(schema: Option<&str>) -> RestoreReport {
        RestoreReport {
            event: schema.map(event_stays),
            ..RestoreReport::default()
        }
    }

    /// Whether all was done.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`](crate::ErrorKind::Refused) with each failure, a line each.
    pub fn check(&self) -> Result<()> {
        if self.failures.is_empty() {
            return Ok(());
        }
        Err(Error::refused(self.failures.join("\n")))
    }
}

/// Restores the server that answers, at whatever address its settings were recorded, and
/// removes the event of a schema, but for what stays recorded. Where anything fails, all else
/// is restored, and the event is as it was, since it may still take back what is not.
///
/// # Errors
/// When an agent is attached, the server cannot be asked, or what is recorded of it cannot be
/// read: nothing was done then.
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
    let leases = ledger.of_server(&instance.identity)?;
    let mut restoring = Restoring {
        ledger,
        server,
        place,
        report: RestoreReport::of_nothing(schema),
        kept: None,
    };
    // What was done before it is told all the same.
    if let Err(error) = restoring.restore(&leases, &instance, schema) {
        restoring.fail(error.to_string());
    }
    Ok(restoring.report)
}

/// A restoration under way.
struct Restoring<'a, S> {
    ledger: &'a Ledger,
    server: &'a mut S,
    place: &'a str,
    report: RestoreReport,
    /// What stays recorded, since it is gone.
    kept: Option<Lease>,
}

impl<S: Server> Restoring<'_, S> {
    fn restore(
        &mut self,
        leases: &[Lease],
        instance: &Instance,
        schema: Option<&str>,
    ) -> Result<()> {
        // Whatever becomes of the rest, that is told.
        let recorded = self.ledger.left();
        let all = recorded.iter().flatten();
        let elsewhere = all.filter(|lease| {
            lease.standing(instance) == Standing::Foreign && lease.may_be_changed()
        });
        self.report.elsewhere = elsewhere.map(|lease| lease.identity.clone()).collect();
        for lease in leases {
            match lease.standing(instance) {
                Standing::Foreign => {}
                Standing::Ended => match self.ledger.forget(lease) {
                    Ok(()) => self.report.restarted = true,
                    Err(error) => self.fail(error.to_string()),
                },
                Standing::InForce => self.take_back(lease)?,
            }
        }
        recorded?;
        self.end(schema)
    }

    /// What was restored before the connection was lost is told, too.
    fn take_back(&mut self, lease: &Lease) -> Result<()> {
        self.report.recorded = true;
        let mut taken_back = TakenBack::default();
        let done = take_back(self.ledger, self.server, self.place, lease, &mut taken_back);
        let changes = taken_back.changes.iter().map(Change::to_string);
        self.report.changes.extend(changes);
        for sentence in taken_back.failures {
            self.fail(sentence);
        }
        if let Some(gone) = &taken_back.gone {
            let sentence = still_recorded(gone, &taken_back.files);
            self.report.kept.push(sentence);
        }
        self.kept = Lease::join(self.kept.take(), taken_back.gone);
        done
    }

    /// Two files may hold the same.
    fn fail(&mut self, sentence: String) {
        if !self.report.failures.contains(&sentence) {
            self.report.failures.push(sentence);
        }
    }

    /// The event goes where all that it could take back is restored.
    fn end(&mut self, schema: Option<&str>) -> Result<()> {
        if let Some(schema) = schema
            && self.report.recorded
            && self.report.failures.is_empty()
            && clear_event(self.server, schema, self.kept.as_ref())?
        {
            self.report.event = None;
        }
        Ok(())
    }
}

/// It may be all that takes back what an agent elsewhere has set.
fn event_stays(schema: &str) -> String {
    format!(
        "an event {EVENT} in the schema {schema}, if there is one, is as it was: while no agent is \
         attached it takes back by itself what it can, and two hours after it was last renewed it \
         is gone"
    )
}

/// It may be of another agent, which has set other values since: it acts first, while nobody
/// holds the lock. From then on it has nothing but what is kept: what is restored may be set
/// by somebody to whatever it takes back. Returns whether it is so: an agent that has begun
/// meanwhile keeps one of its own.
fn clear_event<S: Server>(server: &mut S, schema: &str, kept: Option<&Lease>) -> Result<bool> {
    server.release(Role::Agent)?;
    server.await_event(None)?;
    if server.claim(Role::Agent, Duration::ZERO)?.is_some() {
        return Ok(false);
    }
    match kept {
        None => server.drop_event(schema)?,
        Some(kept) => server.narrow_event(schema, kept, EVENT_LIFETIME)?,
    }
    Ok(true)
}

#[cfg(test)]
#[path = "restoring_tests.rs"]
mod tests;
