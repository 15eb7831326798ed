//! Attaching: what must be so before the first interval.

use std::time::Duration;

use super::Agent;
use crate::decide::{Assignment, Change, Event, JOURNAL_VERSION, Lease, Observation, OptionName};
use crate::error::{Error, Result};
use crate::server::{Connector, Role, Server, observe, restore};
use crate::watchdog::Guard;

/// For an earlier agent's session to end.
const CLAIM_PATIENCE: Duration = Duration::from_secs(2);
/// For its watchdog to restore.
const WATCHDOG_PATIENCE: Duration = Duration::from_secs(10);

impl<C: Connector, G: Guard> Agent<C, G> {
    pub(super) fn begin(&mut self, unix_seconds: u64) -> Result<()> {
        let event = Event::Begin {
            version: JOURNAL_VERSION,
            unix_seconds,
            server: self.connector.place(),
            settings: Box::new(self.settings.clone()),
        };
        let mut server = self.connector.connect()?;
        // First the questions, then the locks: the sentences are clearer.
        let seen = observe(&mut server, self.now())?;
        self.check_asked_for(&seen)?;
        self.records.write(self.now(), event);
        if !self.settings.dry_run {
            self.claim(&mut server)?;
            self.restore_left(&mut server)?;
            probe(&mut server)?;
        }
        self.server = Some(server);
        Ok(())
    }

    fn check_asked_for(&self, seen: &Observation) -> Result<()> {
        let absent = |name: &&String| !seen.families.contains_key(*name);
        match self.settings.column_families.iter().find(absent) {
            None => Ok(()),
            Some(name) => {
                let names: Vec<&str> = seen.families.keys().map(String::as_str).collect();
                Err(Error::fix(format!(
                    "{} has no column family {name:?}; it has {}",
                    self.connector.place(),
                    names.join(", ")
                )))
            }
        }
    }

    /// Nobody else may be attached, and no earlier agent's watchdog at work: its
    /// delayed settings would be taken for the original ones.
    fn claim(&mut self, server: &mut C::Server) -> Result<()> {
        server.claim(Role::Agent, CLAIM_PATIENCE)?;
        if !server.await_free(Role::Watchdog, WATCHDOG_PATIENCE)? {
            return Err(Error::lost(format!(
                "the watchdog of an earlier agent is still at work at {}: wait until it has \
                 restored the settings, which it does as soon as it can",
                self.connector.place()
            )));
        }
        Ok(())
    }

    /// What the state file says of this server comes first.
    fn restore_left(&mut self, server: &mut C::Server) -> Result<()> {
        let identity = server.instance()?.identity;
        if let Some(lease) = self.records.ledger.lease(&identity).cloned() {
            self.restore(server, &lease)?;
            self.records.ledger.forget(&identity)?;
        }
        for lease in self.records.ledger.leases().to_vec() {
            let note = format!(
                "server {} was left with changed settings by an earlier agent and does not \
                 answer at this address: `lissom attach --restore` at its own address restores it, \
                 and so does its restart",
                lease.identity
            );
            self.records.note(self.now(), note);
        }
        Ok(())
    }

    pub(super) fn restore(&mut self, server: &mut C::Server, lease: &Lease) -> Result<()> {
        let changes = restore(server, lease)?;
        let changes = changes.iter().map(Change::to_string).collect();
        self.records.write(self.now(), Event::Restored { changes });
        Ok(())
    }
}

/// Sets an option to the value that it has: whoever may not do that is told so
/// now, and not at the first high load.
fn probe<S: Server>(server: &mut S) -> Result<()> {
    let families = server.families()?;
    let Some(family) = families.get("default") else {
        return Ok(());
    };
    let option = OptionName::Level0FileNumCompactionTrigger;
    server.set(&Change::Family {
        column_family: "default".into(),
        set: vec![Assignment {
            option,
            value: family.options.get(option),
        }],
    })
}
