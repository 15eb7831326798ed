//! The agent's intervals, without the clock and the waiting in between.

mod begin;
mod leave;
mod leftovers;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use self::leftovers::left_at;
use super::act::{carry_out, in_control};
use super::hands::{Charge, Hands};
use super::records::Records;
use crate::decide::{
    Continuity, Decision, Event, Instance, Lease, Observation, Outcome, Pilot, Sight, Standing,
};
use crate::error::{Error, ErrorKind, Result};
use crate::server::{Connector, Server, observe};
use crate::settings::Settings;
use crate::watchdog::Guard;

/// An agent, attached to one address.
pub struct Agent<C: Connector, G: Guard> {
    settings: Settings,
    connector: C,
    server: Option<C::Server>,
    pilot: Pilot,
    hands: Hands<G>,
    records: Records,
    clock: Box<dyn Fn() -> Duration>,
    /// What was complained of last, so that it is said once.
    trouble: Option<String>,
    /// Why nothing may be delayed, likewise.
    forbidden: Option<String>,
    /// What an earlier agent left of this server and is not restored: its column families were
    /// gone, or do not take their original options. The pilot does not see them.
    left: Option<Lease>,
    /// Of which server, from which start of it, that was found out.
    left_of: Option<Instance>,
    /// What was said of those that are gone.
    left_told: Option<String>,
    /// Those that do not take them, by name, and why: all are of what is left.
    refused: BTreeMap<String, String>,
    /// Another session held the lock when it was last looked at: an event of its agent may not have
    /// acted yet.
    was_held: bool,
    /// At the end: what another agent has set and its event does not take back.
    not_taken_back: Option<Error>,
}

impl<C: Connector, G: Guard> fmt::Debug for Agent<C, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("place", &self.connector.place())
            .field("pilot", &self.pilot)
            .field("trouble", &self.trouble)
            .finish_non_exhaustive()
    }
}

impl<C: Connector, G: Guard> Agent<C, G> {
    /// Attaches: connects, makes sure that it is MyRocks and that nobody else is
    /// attached, restores what an earlier agent left, and tries the privilege to set
    /// options, and to keep an event if one is wanted. Nothing is delayed yet.
    ///
    /// # Errors
    /// One sentence for whatever is in the way.
    pub fn attach(
        settings: Settings,
        connector: C,
        guard: G,
        records: Records,
        clock: impl Fn() -> Duration + 'static,
        unix_seconds: u64,
    ) -> Result<Agent<C, G>> {
        settings.check()?;
        let mut agent = Agent {
            pilot: Pilot::new(settings.clone()),
            settings,
            connector,
            server: None,
            hands: Hands::new(guard),
            records,
            clock: Box::new(clock),
            trouble: None,
            forbidden: None,
            left: None,
            left_of: None,
            left_told: None,
            refused: BTreeMap::new(),
            was_held: false,
            not_taken_back: None,
        };
        agent.begin(unix_seconds)?;
        Ok(agent)
    }

    /// One interval.
    pub fn tick(&mut self) {
        match self.try_tick() {
            Ok(()) => {
                if self.trouble.take().is_some() {
                    self.records.write(self.now(), Event::Found);
                }
            }
            Err(error) => self.complain(&error),
        }
    }

    /// Whether the last interval was completed.
    pub fn is_well(&self) -> bool {
        self.trouble.is_none()
    }

    fn try_tick(&mut self) -> Result<()> {
        let mut server = match self.server.take() {
            Some(server) => server,
            None => self.resume()?,
        };
        let steered = self.steer(&mut server);
        let lost = matches!(&steered, Err(error) if error.kind() == ErrorKind::Lost);
        if !lost {
            self.server = Some(server);
        }
        steered
    }

    /// Its own earlier session may still hold the lock, and may still carry out what
    /// it was told last: until it has ended, nothing that is read here counts.
    fn reconnect(&mut self) -> Result<C::Server> {
        let mut server = self.connect_again()?;
        if !self.settings.dry_run {
            self.claim(&mut server)?;
        }
        Ok(server)
    }

    /// The same where the agent goes on. At another server an earlier agent's watchdog and its
    /// event come first, as at the beginning. At its own, after a restart or a lost connection,
    /// only an event does: its own watchdog stays at that server.
    fn resume(&mut self) -> Result<C::Server> {
        let mut server = self.connect_again()?;
        if self.settings.dry_run {
            return Ok(server);
        }
        let instance = server.instance()?;
        let own = self.pilot.lease().cloned();
        match own.map(|own| (own.standing(&instance), own)) {
            None | Some((Standing::Foreign, _)) => self.take_over(&mut server, &instance)?,
            Some((Standing::Ended, _)) => self.take_over_restarted(&mut server)?,
            Some((Standing::InForce, own)) => self.take_over_again(&mut server, &own)?,
        }
        Ok(server)
    }

    fn connect_again(&mut self) -> Result<C::Server> {
        let server = self.connector.connect()?;
        self.hands.doubt();
        Ok(server)
    }

    fn complain(&mut self, error: &Error) {
        let sentence = error.to_string();
        self.pilot.lose_sight();
        self.records.show_down();
        if self.trouble.as_ref() != Some(&sentence) {
            self.records.failed(self.now(), error);
            self.trouble = Some(sentence);
        }
    }

    fn steer(&mut self, server: &mut C::Server) -> Result<()> {
        let seen = self.look(server)?;
        let managed = self.managed(&seen);
        let sight = self.pilot.see(&managed);
        self.tell(&seen, sight);
        let forbidden = self.forbid(server, &seen.instance)?;
        self.tell_forbidden(forbidden.as_ref());
        let decisions = self.pilot.decide(&managed, forbidden.as_deref());
        let decisions = self.secure(server, &seen.instance, decisions);
        // Where the server does not take back what this agent has set, the lease runs out though
        // both live: nothing more is delayed after half of it, and then the watchdog gives back
        // whatever is taken from its session, which may have kept a privilege that this one has
        // lost. To renew it would be to leave the server as it is for as long as the agent lives.
        let in_control = self.act(server, decisions)?;
        if in_control && !self.settings.dry_run {
            let now = self.now();
            self.hands.renew(now);
        }
        let left = left_at(self.left.as_ref(), &seen.instance);
        self.records.show(&seen, &self.pilot, left);
        Ok(())
    }

    /// Why nothing may be delayed now. In a dry run nothing is.
    fn forbid(&mut self, server: &mut C::Server, instance: &Instance) -> Result<Option<String>> {
        if self.settings.dry_run {
            return Ok(None);
        }
        let now = self.now();
        let left = left_at(self.left.as_ref(), instance);
        let Some(charge) = Charge::of(&self.pilot, left, &self.settings, now) else {
            return Ok(Some("its original settings are not known yet".into()));
        };
        let is_original = self.pilot.is_original();
        self.hands
            .forbid(server, &charge, is_original, &mut self.records)
    }

    /// Without those that delay, unless all who would restore know what they change. They are
    /// decided anew in the next interval, which tells why they were not sent.
    fn secure(
        &mut self,
        server: &mut C::Server,
        instance: &Instance,
        mut decisions: Vec<Decision>,
    ) -> Vec<Decision> {
        if self.settings.dry_run || !decisions.iter().any(Decision::delays) {
            return decisions;
        }
        let now = self.now();
        let left = left_at(self.left.as_ref(), instance);
        let charge = Charge::of(&self.pilot, left, &self.settings, now);
        let is_held =
            charge.is_some_and(|charge| self.hands.secure(server, &charge, &mut self.records));
        if !is_held {
            decisions.retain(|decision| !decision.delays());
        }
        decisions
    }

    fn look(&mut self, server: &mut C::Server) -> Result<Observation> {
        let seen = observe(server, || self.now())?;
        if self.settings.dry_run {
            return Ok(seen);
        }
        let is_there = |name: &str| seen.families.contains_key(name);
        let is_new = !self.has_left(&seen.instance);
        let restored = is_new && self.restore_recorded(server, &seen.instance)?;
        if restored || self.restore_returned(server, &seen.instance, is_there)? {
            return observe(server, || self.now());
        }
        Ok(seen)
    }

    fn tell(&mut self, seen: &Observation, sight: Sight) {
        let at = seen.at;
        if sight.continuity != Continuity::Same {
            let event = Event::Server {
                instance: seen.instance.clone(),
                continuity: sight.continuity,
                families: seen.families.clone(),
            };
            self.records.write(at, event);
        }
        if matches!(sight.continuity, Continuity::Restarted | Continuity::Other) {
            self.records.restarted();
        }
        if !self.settings.dry_run {
            self.part_with(sight.abandoned, sight.ended, at);
        }
        for note in sight.notes {
            self.records.note(at, note);
        }
    }

    /// From a server that is out of reach now, or from settings that a restart has ended.
    fn part_with(&mut self, abandoned: Option<Lease>, ended: Option<Lease>, at: Duration) {
        if let Some(lease) = abandoned {
            self.hands.abandon();
            self.tell_abandoned(&lease, at);
        }
        if let Some(lease) = ended
            && let Err(error) = self.records.ledger.forget(&lease)
        {
            self.records.note(at, error.to_string());
        }
    }

    fn tell_abandoned(&mut self, lease: &Lease, at: Duration) {
        if lease.may_be_changed() {
            self.records.note(
                at,
                format!(
                    "server {} is left to its watchdog, and its original settings stay in the \
                     state file: `lissom attach --restore` at its own address restores it",
                    lease.identity
                ),
            );
        } else if let Err(error) = self.records.ledger.forget_unchanged(lease) {
            self.records.note(at, error.to_string());
        }
    }

    fn tell_forbidden(&mut self, forbidden: Option<&String>) {
        if self.forbidden.as_ref() == forbidden {
            return;
        }
        if let Some(why) = forbidden {
            self.note(format!("nothing is delayed: {why}"));
        }
        self.forbidden = forbidden.cloned();
    }

    /// Whether the server is as it should be.
    fn act(&mut self, server: &mut C::Server, decisions: Vec<Decision>) -> Result<bool> {
        if self.settings.dry_run {
            for decision in &decisions {
                self.conclude(decision, Outcome::DryRun);
            }
            return Ok(true);
        }
        let (hands, settings, clock) = (&self.hands, &self.settings, &self.clock);
        let may_delay = || hands.are_fresh(settings, clock());
        let (done, read) = carry_out(server, decisions, may_delay);
        for (decision, outcome) in &done {
            self.conclude(decision, outcome.clone());
        }
        read.map(|()| in_control(&done))
    }

    fn conclude(&mut self, decision: &Decision, outcome: Outcome) {
        self.pilot.settle(decision, &outcome);
        self.records
            .decided((self.clock)(), &self.pilot, decision, outcome);
    }

    /// Something that a person should know.
    pub fn note(&mut self, text: impl Into<String>) {
        self.records.note(self.now(), text);
    }

    /// The server, as it is reached.
    pub fn place(&self) -> String {
        self.connector.place()
    }

    fn now(&self) -> Duration {
        (self.clock)()
    }
}

#[cfg(test)]
mod history;
#[cfg(test)]
mod meanwhile;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod rig;
#[cfg(test)]
mod successions;
#[cfg(test)]
mod takeovers;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod unchanged;
#[cfg(test)]
mod vanishings;
