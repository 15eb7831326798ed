//! The state file as the planner thread holds it.

use std::path::PathBuf;

use crate::error::Result;
use crate::files::state::{self, Stored, StoredFamily};

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
