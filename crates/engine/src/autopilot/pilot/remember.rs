//! What a column family's pilot keeps over a reopening.

use std::time::{Duration, Instant};

use lissom_core::Layout;

use super::super::memory::Memory;
use super::Pilot;
use crate::error::Result;
use crate::files::state::StoredFamily;

/// What a tuner has learned is saved this often.
const SAVE_EVERY: Duration = Duration::from_secs(10);

impl Pilot {
    /// Makes the planner's memory and the dimensions of the tree durable when they changed,
    /// and what was learned from time to time.
    pub(super) fn remember(&mut self, memory: &mut Memory, now: Instant) -> Result<()> {
        let unreadable = self.family.quarantine.lock().damaged().clone();
        let shape = Some(self.family.shape());
        let learned = now.duration_since(self.saved) >= SAVE_EVERY;
        let same = memory.family(&self.family.name).is_some_and(|stored| {
            stored.id == self.id
                && stored.shape == shape
                && stored.tree == self.state
                && stored.unreadable == unreadable
        });
        if same && !learned {
            return Ok(());
        }
        self.keep(memory, now)
    }

    pub(super) fn keep(&mut self, memory: &mut Memory, now: Instant) -> Result<()> {
        self.saved = now;
        let unreadable = self.family.quarantine.lock().damaged().clone();
        memory.keep(
            &self.family.name,
            StoredFamily {
                id: self.id,
                layout: Layout::V1,
                shape: Some(self.family.shape()),
                tree: self.state.clone(),
                policy: self.learner.name().to_owned(),
                tuner: self.learner.state(),
                unreadable,
            },
        )
    }
}
