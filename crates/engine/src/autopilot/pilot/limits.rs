//! New run limits: the tuner's after a mission, and those of a policy that was set.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lissom_core::journal::{Bounds, Event, TreeSummary};
use lissom_core::shape::RunLimits;
use lissom_core::tuner::{Change, Trial, TrialId};
use lissom_core::{Layout, Mission, Observation, planner};

use super::super::learner::Asked;
use super::super::shared::Shared;
use super::Pilot;
use super::good::Good;

impl Pilot {
    /// Asks the tuner, and follows it as far as nothing is pinned.
    pub(super) fn end_mission(&mut self, shared: &Shared, seen: &mut Observation, now: Instant) {
        let family = self.family.clone();
        let mut mission = self.clock.end(shared, &family, now);
        // What it has cost is part of what a tuner decides by, so that a replay decides alike.
        let between = self.learner.take_time();
        mission.tuner_time = self.answered_in + between;
        let answer = self.ask(seen, &mission);
        self.answered_in = self.learner.take_time();
        let answered = matches!(answer, Ok(Some(_)));
        let trial = match answer {
            Ok(Some(trial)) => trial,
            Ok(None) => Trial::unanswered(self.state.limits.clone()),
            Err(why) => self.give_up(shared, &why, seen.pinned),
        };
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
        self.reasons.hear(&mission, &trial, seen.pinned);
        let changed = self.follow(seen, trial);
        if answered {
            self.good.see(self.state.wanted_limits());
            self.count_answer(changed, between + self.answered_in);
        }
        let mut view = self.family.view.lock();
        view.missions = mission.number;
        view.mission = Some(mission);
    }

    /// The tuner's thread looks at the tree without a copy of it.
    fn ask(&mut self, seen: &mut Observation, mission: &Mission) -> Result<Option<Trial>, String> {
        let tree = Arc::new(std::mem::take(&mut seen.tree));
        let answer = self.learner.ask(Asked {
            shape: seen.shape.clone(),
            tree: tree.clone(),
            limits: self.state.limits.clone(),
            mission: mission.clone(),
        });
        // One that does not answer has it still.
        seen.tree = Arc::unwrap_or_clone(tree);
        answer
    }

    /// The tuner is asked no more, and the limits go back to those before what it has only
    /// just set. Returns what stands in the place of its answer.
    fn give_up(&mut self, shared: &Shared, why: &str, pinned: bool) -> Trial {
        self.state.give_up_merges();
        let good = self.good.limits().clone();
        let present = self.state.wanted_limits();
        let stay = good.is_same(present);
        let what = if stay {
            format!("the run limits stay {present}")
        } else if pinned {
            format!("the run limits, pinned at {present}, then go back to {good}, as before,")
        } else {
            format!("the run limits go back from {present} to {good}, as before,")
        };
        let sentence = format!("{why}: {what} until a policy is set");
        shared.journal.note(&self.family.name, sentence);
        let changes = good.differences(&self.state.limits).map(|level| Change {
            level,
            why: format!("as before, for {why}"),
        });
        let trial = Trial::of_limits(TrialId(0), good.clone(), changes.collect());
        // They hold as those of a policy do: in place of what waits, and after a pin.
        if !stay && self.wanted.is_none() {
            self.reasons.because(Some(why.to_owned()));
            self.wanted = Some(good);
        }
        trial
    }

    /// Whether that changes the limits.
    fn follow(&mut self, seen: &mut Observation, trial: Trial) -> bool {
        if seen.pinned {
            self.state.consolidate.clear();
            seen.state = self.state.clone();
            return false;
        }
        let before = self.state.wanted_limits().clone();
        self.state.take_up(&trial);
        seen.state = self.state.clone();
        self.change_limits(seen, trial.limits);
        !before.is_same(self.state.wanted_limits())
    }

    fn count_answer(&mut self, changed: bool, took: Duration) {
        let progress = self.learner.progress();
        let work = &mut self.family.view.lock().tuner;
        work.asked += 1;
        work.changed += u64::from(changed);
        work.steps = progress.steps;
        work.skipped = progress.skipped;
        work.took += took;
    }

    /// Limits of a policy that was set hold whatever waits; a tuner that answers with
    /// the present ones keeps what it asked for before.
    pub(super) fn take_up_wanted(&mut self, seen: &mut Observation) {
        if !seen.pinned
            && let Some(limits) = self.wanted.take()
        {
            self.good = Good::new(limits.clone());
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
