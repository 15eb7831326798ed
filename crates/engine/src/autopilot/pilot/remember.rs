//! What a column family's pilot keeps over a reopening.

use std::time::{Duration, Instant};

use lissom_core::Layout;
use lissom_core::journal::Event;
use lissom_core::reasons::Reasons;

use super::super::memory::Memory;
use super::super::run::rest_after;
use super::super::shared::{Failing, Shared};
use super::Pilot;
use crate::error::Result;
use crate::files::state::StoredFamily;

/// What a tuner has learned is saved this often.
const SAVE_EVERY: Duration = Duration::from_secs(10);

/// Attempts to make the memory durable that failed in a row.
pub(super) struct Unsaved {
    failing: Failing,
    /// When the next one is made.
    again: Instant,
}

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
    /// durable when they changed, and what was learned from time to time. Returns whether
    /// the former are so. Attempts that fail are followed by a rest, and rounds go on meanwhile.
    pub(super) fn remember(&mut self, shared: &Shared, memory: &mut Memory, now: Instant) -> bool {
        self.note_limits(shared);
        let durable = self.is_durable(memory);
        if self.saving_rests(now) {
            return durable;
        }
        let learned = now.duration_since(self.saved) >= SAVE_EVERY;
        // A failure is over once something was written, not once nothing has to be.
        if durable && !learned && self.unsaved.is_none() {
            return true;
        }
        let learned = self.learner.known_state().clone();
        match self.keep(memory, learned, now) {
            Ok(()) => {
                self.unsaved = None;
                true
            }
            Err(error) => {
                let failing = Failing::after(self.failed_saves(), error.to_string());
                let again = Instant::now() + rest_after(failing.times - 1);
                self.unsaved = Some(Unsaved { failing, again });
                durable
            }
        }
    }

    fn is_durable(&self, memory: &Memory) -> bool {
        let unreadable = self.family.quarantine.lock().damaged().clone();
        let shape = Some(self.family.shape());
        memory.family(&self.family.name).is_some_and(|stored| {
            stored.id == self.id
                && stored.shape == shape
                && stored.tree == self.state
                && stored.unreadable == unreadable
                && stored.reasons == self.reasons.decided()
        })
    }

    /// Whether the memory could not be made durable, and that is not tried again yet.
    pub(super) fn saving_rests(&self, now: Instant) -> bool {
        let unsaved = self.unsaved.as_ref();
        unsaved.is_some_and(|unsaved| now < unsaved.again)
    }

    /// The attempts in a row to make the memory durable that failed, and of what.
    pub(in crate::autopilot) fn failed_saves(&self) -> Option<&Failing> {
        self.unsaved.as_ref().map(|unsaved| &unsaved.failing)
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
