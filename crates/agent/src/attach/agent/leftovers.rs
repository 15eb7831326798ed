//! What an earlier agent left of the server and is not restored: its column families were gone,
//! or are there again and do not take their original options.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Agent;
use crate::attach::act::{still_recorded, still_refused};
use crate::decide::{Instance, Lease, Observation, Standing};
use crate::error::{Error, ErrorKind, Result};
use crate::server::{Connector, Server};
use crate::watchdog::Guard;

impl<C: Connector, G: Guard> Agent<C, G> {
    /// What the pilot may see: it would take the options of what is left for original ones.
    pub(super) fn managed(&self, seen: &Observation) -> Observation {
        let mut managed = seen.clone();
        if let Some(left) = &self.left {
            managed
                .families
                .retain(|name, _| !left.families.contains_key(name));
        }
        managed
    }

    /// Whether there is anything left of this server: all else that is recorded of it was
    /// restored then.
    pub(super) fn has_left(&self, instance: &Instance) -> bool {
        let is_of_it = |left: &Lease| left.standing(instance) == Standing::InForce;
        self.left.as_ref().is_some_and(is_of_it)
    }

    /// Column families that were gone when all else was restored, and are there again: before
    /// they are read they are restored, too. One that does not take its options is in no
    /// other's way, and is tried again in the next interval. Returns whether any was restored.
    pub(super) fn restore_returned(
        &mut self,
        server: &mut C::Server,
        is_there: impl Fn(&str) -> bool,
    ) -> Result<bool> {
        let Some(left) = self.left.clone() else {
            return Ok(false);
        };
        let mut restored = false;
        let mut refused = BTreeMap::new();
        for name in left.families.keys().filter(|name| is_there(name)) {
            match self.take_back_part(server, &left.only(name)) {
                Ok(()) => restored = true,
                Err(error) if error.kind() == ErrorKind::Lost => return Err(error),
                Err(error) => {
                    refused.insert(name.clone(), error.to_string());
                }
            }
        }
        self.tell_refused(refused);
        Ok(restored)
    }

    /// The same at the end, when nothing was read of the server yet.
    pub(super) fn restore_left(&mut self, server: &mut C::Server) -> Result<()> {
        let Some(left) = &self.left else {
            return Ok(());
        };
        let names: Vec<&str> = left.families.keys().map(String::as_str).collect();
        let there = server.options(&names)?;
        self.restore_returned(server, |name| there.contains_key(name))?;
        Ok(())
    }

    fn take_back_part(&mut self, server: &mut C::Server, part: &Lease) -> Result<()> {
        let gone = self.take_back(server, part)?;
        let left = self.left.take();
        self.left = left.and_then(|left| left.without(part, gone.as_ref()));
        Ok(())
    }

    /// Restores what is recorded, and takes it out of the state files but for what is gone
    /// from the server, which it returns.
    pub(super) fn take_back(
        &mut self,
        server: &mut C::Server,
        lease: &Lease,
    ) -> Result<Option<Lease>> {
        let left = self.restore(server, lease)?;
        let files = self.records.ledger.settle(lease, left.as_ref())?;
        self.tell_left(left.as_ref(), &files);
        Ok(left)
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

    /// What an earlier agent set and the server did not take back when it was last tried;
    /// `None` when there is nothing of the sort. To be asked after [`Agent::leave`], which does
    /// not fail for it.
    pub fn refusal(&self) -> Option<Error> {
        if self.refused.is_empty() {
            return None;
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
