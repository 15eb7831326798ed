//! What users ask of one column family.

use std::time::Duration;

use lissom_core::journal::Event;
use lissom_core::tuner::Tuner;

use super::super::backoff::BackOff;
use super::super::learner::Learner;
use super::super::quarantine::Quarantine;
use super::super::shared::{Request, Shared};
use super::good::Good;
use super::{Pilot, hand_over};

impl Pilot {
    /// Takes up what was asked since the last round; whether that was anything.
    pub(super) fn take_requests(&mut self, shared: &Shared, pinned: bool) -> bool {
        let requests = {
            let mut waiting = self.family.requests.lock();
            if !waiting.is_empty() {
                // Until the tree is looked at with them in mind, it is not idle.
                self.family.view.lock().idle_at = None;
            }
            // Another tuner comes once this one was heard on what it was asked.
            let awaits = self.awaits_answer();
            let waits = |request: &Request| awaits && matches!(request, Request::Tuner(..));
            let all = std::mem::take(&mut *waiting);
            let (later, requests): (Vec<_>, Vec<_>) = all.into_iter().partition(waits);
            *waiting = later;
            requests
        };
        let any = !requests.is_empty();
        for request in requests {
            match request {
                Request::Tuner(tuner, limits) => {
                    self.replace_learner(shared, tuner);
                    let policy = Event::Policy {
                        policy: self.learner.name().to_owned(),
                        allowance: self.family.hooks.settings.allowance(),
                        goes_on: !self.learner.known_state().is_null(),
                    };
                    shared.journal.write(&self.family.name, policy);
                    self.state.give_up_merges();
                    // Limits that a pin has held back go with their policy.
                    if pinned || limits.is_some() {
                        let name = self.learner.name();
                        let why = || format!("{name} was set as the policy");
                        self.reasons.because(limits.is_some().then(why));
                        self.wanted = limits;
                    }
                }
                Request::CompactAll { alone } => self.state.ask_compact_all(alone),
                Request::ForgetUnreadable => {
                    *self.family.quarantine.lock() = Quarantine::default();
                    *self.family.back_off.lock() = BackOff::default();
                }
                Request::Look => {}
            }
        }
        any
    }

    /// Another tuner decides, with what one of its name had learned; what this one has
    /// learned is kept.
    fn replace_learner(&mut self, shared: &Shared, tuner: Box<dyn Tuner>) {
        let name = self.learner.name().to_owned();
        self.shelf.put(name, self.learner.state());
        self.learner = Learner::new(tuner);
        hand_over(shared, &self.family, &mut self.shelf, &mut self.learner);
        self.answered_in = Duration::ZERO;
        self.good = Good::new(self.state.wanted_limits().clone());
    }
}
