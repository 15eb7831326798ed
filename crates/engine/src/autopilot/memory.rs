//! The state file as the planner thread holds it.

use std::path::PathBuf;

use lissom_core::schedule::Merges;

use crate::error::Result;
use crate::files::state::{self, Stored, StoredFamily, StoredSchedule};

/// What is durable, and where.
pub(super) struct Memory {
    directory: PathBuf,
    stored: Stored,
    /// The last attempt to write failed: the file may hold what was to be stored, and whether
    /// it can be written is told by the next attempt alone.
    failed: bool,
}

impl Memory {
    pub(super) fn new(directory: PathBuf, stored: Stored) -> Memory {
        Memory {
            directory,
            stored,
            failed: false,
        }
    }

    pub(super) fn family(&self, name: &str) -> Option<&StoredFamily> {
        self.stored.families.get(name)
    }

    /// Makes the state of one column family durable. After an attempt that failed it is written
    /// whatever it is.
    pub(super) fn keep(&mut self, name: &str, family: StoredFamily) -> Result<()> {
        if !self.failed && self.family(name) == Some(&family) {
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
        if !self.failed && self.stored.schedule == schedule {
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
        self.failed = true;
        state::save(&self.directory, &next)?;
        self.failed = false;
        self.stored = next;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    /// What was kept before says nothing of whether it can be kept now.
    #[test]
    fn what_is_stored_already_is_written_again_after_an_attempt_that_failed() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut memory = Memory::new(directory.path().into(), Stored::default());
        let family = StoredFamily::of(&Settings::default());
        memory.keep("default", family.clone()).expect("written");
        let obstacle = directory.path().join("LISSOM.tmp");
        std::fs::create_dir(&obstacle).expect("made");
        let unchanged = memory.keep("default", family.clone());
        unchanged.expect("nothing is to be written");
        assert!(memory.keep("other", family.clone()).is_err());
        assert!(memory.keep("default", family.clone()).is_err());
        std::fs::remove_dir(&obstacle).expect("removed");
        memory.keep("default", family).expect("written");
        assert!(memory.family("other").is_none());
    }
}
