//! Putting the lease into safe hands before anything is delayed: the state
//! file, the server's event if one is wanted, the watchdog. The event also has what an earlier
//! agent left: there is one event only.

use std::time::Duration;

use super::records::Records;
use crate::decide::{Lease, Pilot};
use crate::error::{ErrorKind, Result};
use crate::server::Server;
use crate::settings::Settings;
use crate::watchdog::Guard;

/// After a failure nothing is tried again for so long: an interval must not be
/// spent on starting watchdogs.
const RETRY: Duration = Duration::from_secs(10);
/// The server's event ends by itself after so long, and is renewed at half of it.
pub(super) const EVENT_LIFETIME: Duration = Duration::from_secs(2 * 3600);

/// A lease, and what an earlier agent left besides.
type Whole = (Lease, Option<Lease>);

/// What is to be in safe hands, and how and when that is asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Charge<'a> {
    /// The agent's own original settings.
    lease: &'a Lease,
    /// What an earlier agent left besides.
    left: Option<&'a Lease>,
    settings: &'a Settings,
    now: Duration,
}

impl<'a> Charge<'a> {
    /// `None` before the pilot knows any original settings.
    pub(super) fn of(
        pilot: &'a Pilot,
        left: Option<&'a Lease>,
        settings: &'a Settings,
        now: Duration,
    ) -> Option<Charge<'a>> {
        Some(Charge {
            lease: pilot.lease()?,
            left,
            settings,
            now,
        })
    }
}

/// Which lease is held, and until when.
#[derive(Debug)]
pub(super) struct Hands<G> {
    guard: G,
    held: Option<Whole>,
    event_at: Option<Duration>,
    renewed_at: Duration,
    failed: Option<(Duration, String)>,
}

impl<G: Guard> Hands<G> {
    pub(super) fn new(guard: G) -> Hands<G> {
        Hands {
            guard,
            held: None,
            event_at: None,
            renewed_at: Duration::ZERO,
            failed: None,
        }
    }

    /// Why nothing may be delayed now; `None` when all is well. `is_original`: nothing is
    /// delayed, or limited, at present.
    ///
    /// # Errors
    /// [`ErrorKind::Lost`] when the server does not say whether its event is there.
    pub(super) fn forbid<S: Server>(
        &mut self,
        server: &mut S,
        charge: &Charge<'_>,
        is_original: bool,
        records: &mut Records,
    ) -> Result<Option<String>> {
        if let Err(error) = self.guard.check() {
            self.held = None;
            // First everything goes back; then a new guard is looked for.
            if !is_original {
                return Ok(Some(error.to_string()));
            }
        }
        if self.holds(charge) && self.has_event(server, charge)? {
            return Ok(self.why_over(charge));
        }
        if let Some((at, why)) = &self.failed
            && charge.now.saturating_sub(*at) < RETRY
        {
            return Ok(Some(why.clone()));
        }
        let why = self.try_hand_over(server, charge, records);
        if why.is_none() {
            self.renewed_at = charge.now;
        }
        Ok(why)
    }

    /// The watchdog takes back all that it finds once the agent was silent for longer than its
    /// lease. Whatever the agent set then would be undone, and set, and undone again.
    fn why_over(&self, charge: &Charge<'_>) -> Option<String> {
        let silent = charge.now.saturating_sub(self.renewed_at);
        (silent > charge.settings.lease).then(|| {
            "the server was not as it should be for longer than the lease, and the watchdog \
             restores it until it is"
                .to_owned()
        })
    }

    /// What was just decided may have changed the lease: whoever restores must know of it before
    /// a delay is sent. Returns whether all do. This is no sign of life: what was read of the
    /// server is as old as it was.
    pub(super) fn secure<S: Server>(
        &mut self,
        server: &mut S,
        charge: &Charge<'_>,
        records: &mut Records,
    ) -> bool {
        self.holds(charge) || self.try_hand_over(server, charge, records).is_none()
    }

    fn holds(&self, charge: &Charge<'_>) -> bool {
        let stale = |at: Duration| charge.now.saturating_sub(at) > EVENT_LIFETIME / 2;
        let is_whole =
            |(held, beside): &Whole| held == charge.lease && beside.as_ref() == charge.left;
        self.held.as_ref().is_some_and(is_whole) && !self.event_at.is_some_and(stale)
    }

    /// Somebody may have removed it, or have switched the server's events off. Where the server
    /// does not say, it is put there anew, which tells why.
    fn has_event<S: Server>(&self, server: &mut S, charge: &Charge<'_>) -> Result<bool> {
        let put = self.event_at.and(charge.settings.server_lease.as_ref());
        let Some(schema) = put else {
            return Ok(true);
        };
        match server.event_runs(schema) {
            Err(error) if error.kind() == ErrorKind::Lost => Err(error),
            answer => Ok(answer.unwrap_or(false)),
        }
    }

    /// Returns why it did not succeed.
    fn try_hand_over<S: Server>(
        &mut self,
        server: &mut S,
        charge: &Charge<'_>,
        records: &mut Records,
    ) -> Option<String> {
        let error = self.hand_over(server, charge, records).err()?;
        let why = error.to_string();
        self.failed = Some((charge.now, why.clone()));
        Some(why)
    }

    fn hand_over<S: Server>(
        &mut self,
        server: &mut S,
        charge: &Charge<'_>,
        records: &mut Records,
    ) -> Result<()> {
        let Charge { lease, left, .. } = *charge;
        self.held = None;
        records.ledger.record(lease)?;
        if let Some(schema) = &charge.settings.server_lease {
            let whole = left.into_iter().fold(lease.clone(), Lease::with);
            self.keep_event(server, schema, &whole, charge.now)?;
        }
        self.guard.hold(lease)?;
        self.held = Some((lease.clone(), left.cloned()));
        self.failed = None;
        Ok(())
    }

    /// An event that has nothing to restore any more must not go on with what it had. One that
    /// this agent did not put may still have to act.
    fn keep_event<S: Server>(
        &mut self,
        server: &mut S,
        schema: &str,
        whole: &Lease,
        now: Duration,
    ) -> Result<()> {
        if whole.is_empty() {
            return self.drop_own_event(server, schema);
        }
        server.put_event(schema, whole, EVENT_LIFETIME)?;
        self.event_at = Some(now);
        Ok(())
    }

    /// Removes the event, if this agent has put it.
    pub(super) fn drop_own_event<S: Server>(&mut self, server: &mut S, schema: &str) -> Result<()> {
        if self.event_at.is_some() {
            server.drop_event(schema)?;
            self.event_at = None;
        }
        Ok(())
    }

    /// The event was put there before anything was held.
    pub(super) fn has_put_event(&mut self, now: Duration) {
        self.event_at = Some(now);
    }

    /// Whether the guard has heard of the agent lately enough for a delay to be
    /// in order.
    pub(super) fn are_fresh(&self, settings: &Settings, now: Duration) -> bool {
        settings.dry_run || now.saturating_sub(self.renewed_at) < settings.lease / 2
    }

    /// The agent is in control.
    pub(super) fn renew(&mut self, now: Duration) {
        self.renewed_at = now;
        self.guard.renew();
    }

    /// The server was out of sight: somebody may have restored it meanwhile, and have taken
    /// away what held the lease.
    pub(super) fn doubt(&mut self) {
        self.held = None;
    }

    /// Another server answers now: the old one is left to its guard.
    pub(super) fn abandon(&mut self) {
        self.guard.abandon();
        self.held = None;
        self.event_at = None;
    }

    /// The settings are restored.
    pub(super) fn release(&mut self) {
        self.guard.release();
        self.held = None;
    }
}
