//! New run limits: the tuner's after a mission, and those of a policy that was set.

use std::time::{Duration, Instant};

use lissom_core::journal::{Bounds, Event, TreeSummary};
use lissom_core::shape::RunLimits;
use lissom_core::tuner::{Question, Trial};
use lissom_core::{Layout, Observation, planner};

use super::super::shared::Shared;
use super::Pilot;

impl Pilot {
    /// Asks the tuner, and follows it as far as nothing is pinned.
    pub(super) fn end_mission(&mut self, shared: &Shared, seen: &mut Observation, now: Instant) {
        let family = self.family.clone();
        let mut mission = self.clock.end(shared, &family, now);
        // What it has cost is part of what a tuner decides by, so that a replay decides alike.
        mission.tuner_time = self.answered_in;
        let question = Question {
            shape: &seen.shape,
            tree: &seen.tree,
            limits: &self.state.limits,
            mission: &mission,
        };
        let begun = Instant::now();
        let answer = self.learner.ask(&question);
        let took = begun.elapsed();
        self.answered_in = took;
        let answer = answer.unwrap_or_else(|sentence| {
            shared.journal.note(&family.name, sentence);
            self.state.give_up_merges();
            None
        });
        if let Some(trial) = &answer {
            self.count_answer(trial.limits != self.state.limits, took);
        }
        let unanswered = || Trial::unanswered(self.state.limits.clone());
        let trial = answer.unwrap_or_else(unanswered);
        shared.journal.write(
            &family.name,
            Event::Mission {
                mission: Box::new(mission.clone()),
                tree: TreeSummary::of(&seen.tree, &Layout::V1),
                trial: trial.clone(),
                pinned: seen.pinned,
                bounds: Some(Bounds {
                    limits: self.state.limits.clone(),
                    exploration: family.hooks.settings.exploration,
                }),
            },
        );
        self.follow(seen, trial);
        let mut view = self.family.view.lock();
        view.missions = mission.number;
        view.mission = Some(mission);
    }

    fn follow(&mut self, seen: &mut Observation, trial: Trial) {
        if seen.pinned {
            self.state.consolidate.clear();
        } else {
            self.state.take_up(&trial);
        }
        seen.state = self.state.clone();
        if !seen.pinned {
            self.change_limits(seen, trial.limits);
        }
    }

    fn count_answer(&mut self, changes: bool, took: Duration) {
        let steps = self.learner.steps();
        let work = &mut self.family.view.lock().tuner;
        work.asked += 1;
        work.changed += u64::from(changes);
        work.steps = steps;
        work.took += took;
    }

    /// Limits of a policy that was set hold whatever waits; a tuner that answers with
    /// the present ones keeps what it asked for before.
    pub(super) fn take_up_wanted(&mut self, seen: &mut Observation) {
        if !seen.pinned
            && let Some(limits) = self.wanted.take()
        {
            self.set_limits(seen, limits);
        }
    }

    fn change_limits(&mut self, seen: &mut Observation, limits: RunLimits) {
        if limits != self.state.limits {
            self.set_limits(seen, limits);
        }
    }

    fn set_limits(&mut self, seen: &mut Observation, limits: RunLimits) {
        if limits != *self.state.wanted_limits() {
            self.state = planner::with_limits(seen, limits);
            seen.state = self.state.clone();
        }
    }
}
