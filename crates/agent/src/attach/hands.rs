//! Putting the lease into safe hands before anything is delayed: the state
//! file, the server's event if one is wanted, the watchdog.

use std::time::Duration;

use super::records::Records;
use crate::decide::{Lease, Pilot};
use crate::error::Result;
use crate::server::Server;
use crate::settings::Settings;
use crate::watchdog::Guard;

/// After a failure nothing is tried again for so long: an interval must not be
/// spent on starting watchdogs.
const RETRY: Duration = Duration::from_secs(10);
/// The server's event ends by itself after so long, and is renewed at half of it.
pub(super) const EVENT_LIFETIME: Duration = Duration::from_secs(2 * 3600);

/// Which lease is held, and until when.
#[derive(Debug)]
pub(super) struct Hands<G> {
    guard: G,
    held: Option<Lease>,
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

    /// Why nothing may be delayed now; `None` when all is well.
    pub(super) fn forbid<S: Server>(
        &mut self,
        server: &mut S,
        pilot: &Pilot,
        settings: &Settings,
        records: &mut Records,
        now: Duration,
    ) -> Option<String> {
        if settings.dry_run {
            return None;
        }
        let Some(lease) = pilot.lease() else {
            return Some("its original settings are not known yet".into());
        };
        if let Err(error) = self.guard.check() {
            self.held = None;
            // First everything goes back; then a new guard is looked for.
            if !pilot.is_original() {
                return Some(error.to_string());
            }
        }
        if self.holds(lease, now) {
            return None;
        }
        if let Some((at, why)) = &self.failed
            && now.saturating_sub(*at) < RETRY
        {
            return Some(why.clone());
        }
        let why = self
            .hand_over(server, lease, settings, records, now)
            .err()?
            .to_string();
        self.failed = Some((now, why.clone()));
        Some(why)
    }

    fn holds(&self, lease: &Lease, now: Duration) -> bool {
        let stale = |at: Duration| now.saturating_sub(at) > EVENT_LIFETIME / 2;
        self.held.as_ref() == Some(lease) && !self.event_at.is_some_and(stale)
    }

    fn hand_over<S: Server>(
        &mut self,
        server: &mut S,
        lease: &Lease,
        settings: &Settings,
        records: &mut Records,
        now: Duration,
    ) -> Result<()> {
        self.held = None;
        records.ledger.record(lease)?;
        if let Some(schema) = &settings.server_lease
            && !lease.is_empty()
        {
            server.put_event(schema, lease, EVENT_LIFETIME)?;
            self.event_at = Some(now);
        }
        self.guard.hold(lease)?;
        self.held = Some(lease.clone());
        self.failed = None;
        self.renewed_at = now;
        Ok(())
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
