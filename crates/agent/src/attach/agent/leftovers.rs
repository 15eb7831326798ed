//! What an earlier agent left of the server and is not restored: its column families were gone,
//! or are there again and do not take their original options.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Agent;
use crate::attach::act::{still_in_file, still_recorded, still_refused};
use crate::attach::taking_back::{TakenBack, take_back};
use crate::decide::{Change, Event, Instance, Lease, Observation, OptionsByFamily, Standing};
use crate::error::{Error, ErrorKind, Result};
use crate::server::{Connector, Server};
use crate::watchdog::Guard;

/// What is left, if it is of the server that answers.
pub(super) fn left_at<'a>(left: Option<&'a Lease>, instance: &Instance) -> Option<&'a Lease> {
    left.filter(|left| left.standing(instance) == Standing::InForce)
}

impl<C: Connector, G: Guard> Agent<C, G> {
    /// What the pilot may see: it would take the options of what is left for original ones.
    pub(super) fn managed(&self, seen: &Observation) -> Observation {
        let mut managed = seen.clone();
        if let Some(left) = left_at(self.left.as_ref(), &seen.instance) {
            managed
                .families
                .retain(|name, _| !left.families.contains_key(name));
        }
        managed
    }

    /// Whether there is anything left of this server: all else that is recorded of it was
    /// restored then.
    pub(super) fn has_left(&self, instance: &Instance) -> bool {
        left_at(self.left.as_ref(), instance).is_some()
    }

    /// What is left is this, and of this server.
    pub(super) fn find_left(&mut self, of: Instance, left: Option<Lease>) {
        self.left = left;
        self.left_of = Some(of);
        self.refused.clear();
    }

    /// What is left of the agent's own server, by the state files, if something was found out of
    /// another one since: that one was not accepted, and its own answers again.
    pub(super) fn recall_left(&mut self, own: &Lease) -> Result<()> {
        let is_own = |of: &Instance| own.standing(of) == Standing::InForce;
        if self.left_of.as_ref().is_some_and(is_own) {
            return Ok(());
        }
        let mut recorded = self.records.ledger.of_server(&own.identity)?;
        recorded.retain(|lease| lease.is_of_same_run(own));
        let all = recorded.into_iter().map(Some).fold(None, Lease::join);
        let besides = all.and_then(|all| all.without(own, None));
        // Of what an earlier agent set only what was changed is left, and no rate limiter.
        let left = besides.and_then(|besides| besides.absent_from(&OptionsByFamily::new()));
        let of = Instance {
            identity: own.identity.clone(),
            started_at: own.started_at,
            uptime: 0,
        };
        self.find_left(of, left);
        Ok(())
    }

    /// Column families that were gone when all else was restored, and are there again: before
    /// they are read they are restored, too. One that does not take its options is in no
    /// other's way, and is tried again in the next interval. Returns whether any was restored.
    pub(super) fn restore_returned(
        &mut self,
        server: &mut C::Server,
        instance: &Instance,
        is_there: impl Fn(&str) -> bool,
    ) -> Result<bool> {
        let Some(left) = left_at(self.left.as_ref(), instance).cloned() else {
            return Ok(false);
        };
        let mut restored = false;
        let mut refused = BTreeMap::new();
        for name in left.families.keys().filter(|name| is_there(name)) {
            let part = left.only(name);
            match self.restore(server, &part) {
                Ok(gone) => {
                    restored = true;
                    self.part_is_back(&part, gone.as_ref());
                }
                Err(error) if error.kind() == ErrorKind::Lost => return Err(error),
                Err(error) => {
                    refused.insert(name.clone(), error.to_string());
                }
            }
        }
        self.tell_refused(refused);
        Ok(restored)
    }

    /// The same at the end, when nothing was read of the server yet. Returns what is still left
    /// of it.
    pub(super) fn restore_left(&mut self, server: &mut C::Server) -> Result<Option<Lease>> {
        let instance = server.instance()?;
        let Some(left) = left_at(self.left.as_ref(), &instance) else {
            return Ok(None);
        };
        let names: Vec<&str> = left.families.keys().map(String::as_str).collect();
        let there = server.options(&names)?;
        self.restore_returned(server, &instance, |name| there.contains_key(name))?;
        Ok(self.left.clone())
    }

    /// A part of what is left is restored, but for what is gone. Where the state file cannot say
    /// so, the server has its settings all the same, and is looked after.
    fn part_is_back(&mut self, part: &Lease, gone: Option<&Lease>) {
        let left = self.left.take();
        self.left = left.and_then(|left| left.without(part, gone));
        match self.records.ledger.settle(part, gone) {
            Ok(files) => self.tell_left(gone, &files),
            Err(error) => self.note(still_in_file(part, &error)),
        }
    }

    /// Restores what is recorded, and takes it out of the state files but for what is gone
    /// from the server, which it returns, and for what that refuses.
    pub(super) fn take_back(
        &mut self,
        server: &mut C::Server,
        lease: &Lease,
    ) -> Result<Option<Lease>> {
        let place = self.place();
        let mut taken_back = TakenBack::default();
        let ledger = &self.records.ledger;
        let done = take_back(ledger, server, &place, lease, &mut taken_back);
        let checked = done.and_then(|()| taken_back.check());
        let TakenBack {
            changes,
            gone,
            files,
            ..
        } = taken_back;
        let is_all_gone = gone.as_ref() == Some(lease);
        if !changes.is_empty() || (checked.is_ok() && !is_all_gone) {
            let changes = changes.iter().map(Change::to_string).collect();
            self.records.write(self.now(), Event::Restored { changes });
        }
        self.tell_left(gone.as_ref(), &files);
        checked.map(|()| gone)
    }

    /// What is gone is said once, unless nobody has recorded it.
    pub(super) fn tell_left(&mut self, left: Option<&Lease>, files: &[PathBuf]) {
        let Some(left) = left.filter(|_| !files.is_empty()) else {
            return;
        };
        let sentence = still_recorded(left, files);
        if self.left_told.as_ref() != Some(&sentence) {
            self.note(sentence.clone());
            self.left_told = Some(sentence);
        }
    }

    /// Each reason is said once, and counted in each interval.
    fn tell_refused(&mut self, refused: BTreeMap<String, String>) {
        self.records.refused(refused.len() as u64);
        for (name, why) in &refused {
            if self.refused.get(name) != Some(why) {
                self.note(still_refused(name, why));
            }
        }
        self.refused = refused;
    }

    /// Of what is left, all but what was refused.
    pub(super) fn gone(&self, left: Option<&Lease>) -> Option<Lease> {
        let mut gone = left?.clone();
        gone.families
            .retain(|name, _| !self.refused.contains_key(name));
        (!gone.is_empty()).then_some(gone)
    }

    /// What another agent set and the server did not take back when it was last tried, or its
    /// event did not; `None` when there is nothing of the sort. To be asked after
    /// [`Agent::leave`], which does not fail for it.
    pub fn refusal(&self) -> Option<Error> {
        if self.refused.is_empty() {
            return self.not_taken_back.clone();
        }
        let refused = self.refused.iter();
        let families: Vec<String> = refused
            .map(|(name, why)| format!("{name} ({why})"))
            .collect();
        Some(Error::refused(format!(
            "{} does not take back what an earlier agent set of column family {}: the original \
             options stay recorded, `lissom attach --restore` tries them again, and a restart of \
             the server brings them back",
            self.place(),
            families.join(", ")
        )))
    }
}
