//! The state file as the planner thread holds it.

use std::path::PathBuf;

use lissom_core::schedule::Merges;

use crate::error::Result;
use crate::files::state::{self, Stored, StoredFamily, StoredSchedule};

/// What is durable, and where.
pub(super) struct Memory {
    directory: PathBuf,
    stored: Stored,
}

impl Memory {
    pub(super) fn new(directory: PathBuf, stored: Stored) -> Memory {
        Memory { directory, stored }
    }

    pub(super) fn family(&self, name: &str) -> Option<&StoredFamily> {
        self.stored.families.get(name)
    }

    /// Makes the state of one column family durable.
    pub(super) fn keep(&mut self, name: &str, family: StoredFamily) -> Result<()> {
        if self.family(name) == Some(&family) {
            return Ok(());
        }
        let mut next = self.stored.clone();
        next.families.insert(name.to_owned(), family);
        self.replace(next)
    }

    pub(super) fn schedule(&self) -> &StoredSchedule {
        &self.stored.schedule
    }

    /// Makes what the schedule has learned durable, and what was seen of merges. Where it
    /// has learned nothing, what another one has stays.
    pub(super) fn keep_schedule(
        &mut self,
        name: String,
        state: serde_json::Value,
        merges: Merges,
    ) -> Result<()> {
        let mut schedule = self.stored.schedule.clone();
        if !state.is_null() {
            (schedule.name, schedule.state) = (name, state);
        }
        schedule.merges = Some(merges);
        self.keep_stored_schedule(schedule)
    }

    /// Makes what a device does durable: nothing, to forget it.
    pub(super) fn keep_device(
        &mut self,
        bytes_per_second: Option<u64>,
        device_id: Option<u64>,
    ) -> Result<()> {
        let schedule = StoredSchedule {
            device_bytes_per_second: bytes_per_second,
            device_id,
            ..self.stored.schedule.clone()
        };
        self.keep_stored_schedule(schedule)
    }

    fn keep_stored_schedule(&mut self, schedule: StoredSchedule) -> Result<()> {
        if self.stored.schedule == schedule {
            return Ok(());
        }
        let mut next = self.stored.clone();
        next.schedule = schedule;
        self.replace(next)
    }

    /// Forgets a dropped column family.
    pub(super) fn forget(&mut self, name: &str) -> Result<()> {
        let mut next = self.stored.clone();
        if next.families.remove(name).is_none() {
            return Ok(());
        }
        self.replace(next)
    }

    fn replace(&mut self, next: Stored) -> Result<()> {
        state::save(&self.directory, &next)?;
        self.stored = next;
        Ok(())
    }
}
