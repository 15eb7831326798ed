//! What a column family's pilot keeps over a reopening.

use std::time::{Duration, Instant};

use lissom_core::Layout;
use lissom_core::journal::Event;
use lissom_core::reasons::Reasons;

use super::super::memory::Memory;
use super::super::shared::Shared;
use super::Pilot;
use crate::error::Result;
use crate::files::state::StoredFamily;

/// What a tuner has learned is saved this often.
const SAVE_EVERY: Duration = Duration::from_secs(10);

/// Why the limits are as they were kept. A column family that is driven for the first time
/// has its limits because a policy began.
pub(super) fn reasons(stored: Option<&StoredFamily>, policy: &str) -> Reasons {
    let driven = stored.filter(|stored| stored.id.is_some() || !stored.reasons.is_empty());
    let limits = driven.map(|stored| stored.tree.wanted_limits().clone());
    let kept = driven.map_or_else(Vec::new, |stored| stored.reasons.clone());
    let mut reasons = Reasons::new(limits, kept);
    reasons.because(Some(format!("the autopilot began with {policy}")));
    reasons
}

impl Pilot {
    /// Makes the planner's memory, the reasons of the limits and the dimensions of the tree
    /// durable when they changed, and what was learned from time to time.
    pub(super) fn remember(
        &mut self,
        shared: &Shared,
        memory: &mut Memory,
        now: Instant,
    ) -> Result<()> {
        self.note_limits(shared);
        let unreadable = self.family.quarantine.lock().damaged().clone();
        let shape = Some(self.family.shape());
        let learned = now.duration_since(self.saved) >= SAVE_EVERY;
        let same = memory.family(&self.family.name).is_some_and(|stored| {
            stored.id == self.id
                && stored.shape == shape
                && stored.tree == self.state
                && stored.unreadable == unreadable
                && stored.reasons == self.reasons.decided()
        });
        if same && !learned {
            return Ok(());
        }
        let learned = self.learner.known_state().clone();
        self.keep(memory, learned, now)
    }

    /// Notes why limits have changed in this round; what no mission's line in the journal
    /// tells has one of its own.
    pub(super) fn note_limits(&mut self, shared: &Shared) {
        let limits = self.state.wanted_limits();
        if let Some(why) = self.reasons.take_up(limits, shared.journal.moment()) {
            let limits = limits.clone();
            let decided = Event::Limits { limits, why };
            shared.journal.write(&self.family.name, decided);
        }
        // Limits that a pin holds back come for the same reason later.
        if self.wanted.is_none() {
            self.reasons.because(None);
        }
    }

    pub(super) fn keep(
        &mut self,
        memory: &mut Memory,
        learned: serde_json::Value,
        now: Instant,
    ) -> Result<()> {
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
                tuner: learned,
                others: self.shelf.states().clone(),
                unreadable,
                reasons: self.reasons.decided().to_vec(),
            },
        )
    }
}
