//! Attaching: what must be so before the first interval.

use std::time::Duration;

use super::Agent;
use crate::attach::hands::EVENT_LIFETIME;
use crate::decide::{
    Assignment, Change, Event, Families, Instance, JOURNAL_VERSION, Lease, Observation, OptionName,
    Standing, Unmanaged, manage,
};
use crate::error::{Error, ErrorKind, Result};
use crate::server::{Connector, Restoration, Role, Server, observe, occupied, restore};
use crate::settings::Settings;
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
        let seen = observe(&mut server, || self.now())?;
        // A server that counts nothing is no MyRocks, or one that is too old.
        seen.counters.clone()?;
        self.check_asked_for(&seen)?;
        self.records.write(self.now(), event);
        if self.settings.dry_run {
            self.check_brakes(&seen.families)?;
        } else {
            self.take_hold(&mut server, &seen.instance)?;
        }
        self.server = Some(server);
        Ok(())
    }

    /// What an earlier agent has left is restored first, even if this one may not begin.
    fn take_hold(&mut self, server: &mut C::Server, instance: &Instance) -> Result<()> {
        self.take_over(server, instance)?;
        self.restore_recorded(server, instance)?;
        self.tell_recorded(instance)?;
        let families = server.families()?;
        self.check_brakes(&families)?;
        self.prepare_event(server)?;
        probe(server, &families, &self.settings)
    }

    /// Whoever has not asked for it must not learn from a full level 0 that nothing bounded
    /// it. A column family that appears later is left alone, which the journal tells.
    fn check_brakes(&self, families: &Families) -> Result<()> {
        for (name, family) in families {
            if let Err(why @ Unmanaged::Unbraked) = manage(name, family, &self.settings) {
                return Err(Error::fix(format!(
                    "column family {name} of {} cannot be looked after: {why}",
                    self.connector.place()
                )));
            }
        }
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

    /// Nobody else may be attached, and what an earlier agent has left behind must
    /// have restored: its delayed settings would be taken for the original ones. That
    /// comes first, since an earlier agent's watchdog and its event wait for the lock.
    pub(super) fn take_over(&mut self, server: &mut C::Server, instance: &Instance) -> Result<()> {
        self.await_agent(server)?;
        if !server.await_free(Role::Watchdog, WATCHDOG_PATIENCE)? {
            return Err(Error::lost(format!(
                "the watchdog of an earlier agent is still at work at {}: wait until it has \
                 restored the settings, which it does as soon as it can",
                self.connector.place()
            )));
        }
        // What the state files tell is taken back without the event, which may be of another
        // agent that has set other values since.
        if self.is_recorded(instance)? {
            self.claim(server)?;
            self.restore_recorded(server, instance)?;
        }
        self.claim_after_event(server, None)
    }

    /// The same at the agent's own server after a restart: an agent that came and died before
    /// this one was there again may have changed the configured settings. Its watchdog is not
    /// waited for, since the one at that server may be this agent's. What this agent had set the
    /// restart has ended.
    pub(super) fn take_over_restarted(&mut self, server: &mut C::Server) -> Result<()> {
        self.await_agent(server)?;
        self.claim_after_event(server, None)
    }

    /// The same after a lost connection. What this agent has set itself, or knows to be left, is
    /// not waited for: it looks after that.
    pub(super) fn take_over_again(&mut self, server: &mut C::Server, own: &Lease) -> Result<()> {
        self.recall_left(own)?;
        let known = self.left.iter().fold(own.clone(), Lease::with);
        self.await_agent(server)?;
        let Err(error) = self.claim_after_event(server, Some(&known)) else {
            return Ok(());
        };
        if error.kind() != ErrorKind::Lost {
            self.give_back(server, own)?;
        }
        Err(error)
    }

    /// As long as this agent does not go on, nobody may be there to take back what it has set:
    /// its watchdog may have died.
    fn give_back(&mut self, server: &mut C::Server, own: &Lease) -> Result<()> {
        self.claim(server)?;
        let Restoration { changes, .. } = restore(server, own)?;
        // It is tried in each interval, and told where it does anything.
        if !changes.is_empty() {
            let changes = changes.iter().map(Change::to_string).collect();
            self.records.write(self.now(), Event::Restored { changes });
        }
        Ok(())
    }

    fn await_agent(&mut self, server: &mut C::Server) -> Result<()> {
        if server.await_free(Role::Agent, Duration::ZERO)? {
            return Ok(());
        }
        self.was_held = true;
        if !server.await_free(Role::Agent, CLAIM_PATIENCE)? {
            // It says who holds it.
            self.claim(server)?;
        }
        Ok(())
    }

    /// Another agent's event acts while nobody holds the lock. One of an agent that has just ended
    /// has had no time yet, and this one's user may have no privilege to see it. Where this agent
    /// has set anything itself, that was its own session rather, and it must not stay away.
    pub(super) fn claim_after_event(
        &mut self,
        server: &mut C::Server,
        own: Option<&Lease>,
    ) -> Result<()> {
        server.release(Role::Agent)?;
        server.await_event(own)?;
        if self.was_held && own.is_none() {
            server.await_unseen_event()?;
        }
        self.claim(server)?;
        self.was_held = false;
        Ok(())
    }

    fn is_recorded(&self, instance: &Instance) -> Result<bool> {
        let leases = self.records.ledger.of_server(&instance.identity)?;
        let in_force = |lease: &Lease| lease.standing(instance) == Standing::InForce;
        Ok(leases.iter().any(in_force))
    }

    /// Takes the agent's lock.
    pub(super) fn claim(&mut self, server: &mut C::Server) -> Result<()> {
        match server.claim(Role::Agent, Duration::ZERO)? {
            None => Ok(()),
            Some(holder) => {
                self.was_held = true;
                Err(occupied(&self.connector.place(), &holder))
            }
        }
    }

    /// What the state files say of a server that is not the one before comes first,
    /// for the same reason: an address may lead back to a server that was left, and what
    /// was recorded at another address may be of this server. Returns whether anything was
    /// restored.
    pub(super) fn restore_recorded(
        &mut self,
        server: &mut C::Server,
        instance: &Instance,
    ) -> Result<bool> {
        let own = self.pilot.lease().cloned();
        if let Some(own) = &own
            && own.standing(instance) == Standing::InForce
        {
            self.recall_left(own)?;
            return Ok(false);
        }
        // What is left of the server before is forgotten only once all is looked at here: that
        // one may answer again.
        let mut all_left = None;
        let mut restored = false;
        for lease in self.records.ledger.of_server(&instance.identity)? {
            // What becomes of its own is told by what it saw of that server last.
            if own.as_ref().is_some_and(|own| own.is_of_same_run(&lease)) {
                continue;
            }
            match lease.standing(instance) {
                Standing::Foreign => {}
                Standing::Ended => {
                    self.tell_ended(&lease);
                    self.records.ledger.forget(&lease)?;
                }
                Standing::InForce => {
                    let left = self.take_back(server, &lease)?;
                    all_left = Lease::join(all_left, left);
                    restored = true;
                }
            }
        }
        self.find_left(instance.clone(), all_left);
        Ok(restored)
    }

    fn tell_ended(&mut self, lease: &Lease) {
        let note = format!(
            "server {} was restarted since an earlier agent changed its settings: it has its \
             configured ones",
            lease.identity
        );
        self.records.note(self.now(), note);
    }

    /// Whoever asks for an event in the server must not learn at the first high load that
    /// there can be none. What an earlier agent left is in one at every moment.
    fn prepare_event(&mut self, server: &mut C::Server) -> Result<()> {
        match (&self.settings.server_lease, &self.left) {
            (None, _) => Ok(()),
            (Some(schema), None) => server.prepare_event(schema),
            (Some(schema), Some(left)) => {
                server.put_event(schema, left, EVENT_LIFETIME)?;
                let now = self.now();
                self.hands.has_put_event(now);
                Ok(())
            }
        }
    }

    /// What is still recorded of the server that answers was told. Where nothing was changed
    /// there is nothing to tell.
    fn tell_recorded(&mut self, instance: &Instance) -> Result<()> {
        let mut leases = self.records.ledger.leases()?;
        leases.retain(|lease| lease.standing(instance) != Standing::InForce);
        for lease in leases {
            if !lease.may_be_changed() {
                self.records.ledger.forget_unchanged(&lease)?;
                continue;
            }
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

    /// Returns what cannot be restored.
    pub(super) fn restore(
        &mut self,
        server: &mut C::Server,
        lease: &Lease,
    ) -> Result<Option<Lease>> {
        let Restoration { changes, left } = restore(server, lease)?;
        if left.as_ref() != Some(lease) {
            let changes = changes.iter().map(Change::to_string).collect();
            self.records.write(self.now(), Event::Restored { changes });
        }
        Ok(left)
    }
}

/// Sets an option to the value that it has: whoever may not do that is told so now, and not at the
/// first high load. It is one of a column family that is looked after; of `default` if it can be,
/// since one that takes no options for a reason of its own keeps no agent from the others.
fn probe<S: Server>(server: &mut S, families: &Families, settings: &Settings) -> Result<()> {
    let default = families.get_key_value("default");
    let mut ours = default
        .into_iter()
        .chain(families)
        .filter(|(name, family)| manage(name, family, settings).is_ok());
    let Some((name, family)) = ours.next() else {
        return Ok(());
    };
    let option = OptionName::Level0FileNumCompactionTrigger;
    server.set(&Change::Family {
        column_family: name.clone(),
        set: vec![Assignment {
            option,
            value: family.options.get(option),
        }],
    })
}
