//! New run limits: the tuner's after a mission, and those of a policy that was set.

use std::time::{Duration, Instant};

use lissom_core::journal::{Bounds, Event, TreeSummary};
use lissom_core::shape::RunLimits;
use lissom_core::tuner::{Change, Trial, TrialId};
use lissom_core::{Layout, LogicalLevel, Mission, Observation, planner};

use super::super::learner::{Answer, Asked};
use super::super::shared::Shared;
use super::Pilot;
use super::good::Good;
use crate::error::Result;
use crate::files::pin;

/// A mission that has ended, of which the tuner is asked.
pub(super) struct Ended {
    mission: Mission,
    /// The tree and the limits then.
    tree: TreeSummary,
    limits: RunLimits,
    /// What the planner refused, which is known once the round is done with the tree.
    refused: Vec<LogicalLevel>,
    /// What the tuner took after its last answer.
    between: Duration,
}

/// What came of a question, until it is followed.
pub(super) struct Heard {
    trial: Trial,
    /// The limits in force when it was asked.
    over: RunLimits,
    /// What the tuner took for it, if it has answered.
    took: Option<Duration>,
}

impl Pilot {
    /// Ends the mission. What the tuner is asked of it, it is asked when the round is done
    /// with the tree, which it gets without a copy.
    pub(super) fn end_mission(
        &mut self,
        shared: &Shared,
        seen: &Observation,
        now: Instant,
    ) -> Ended {
        let mut mission = self.clock.end(shared, &self.family, now);
        // What it has cost is part of what a tuner decides by, so that a replay decides alike.
        let between = self.learner.take_time();
        mission.tuner_time = self.answered_in + between;
        Ended {
            mission,
            tree: TreeSummary::of(&seen.tree, &Layout::V1),
            limits: self.state.limits.clone(),
            refused: Vec::new(),
            between,
        }
    }

    /// Asks the tuner, and goes on: what it answers is heard in a later round.
    pub(super) fn ask(&mut self, shared: &Shared, mut ended: Ended, seen: Observation) {
        ended.refused = seen.state.refused;
        let asked = Asked {
            shape: seen.shape,
            tree: seen.tree,
            limits: ended.limits.clone(),
            refused: ended.refused.clone(),
            mission: ended.mission.clone(),
        };
        let events = shared.events.clone();
        self.learner.ask(asked, move || events.bell().ring());
        self.ended = Some(ended);
    }

    /// Whether a question is open, or what came of it is to be followed.
    pub(super) fn awaits_answer(&self) -> bool {
        self.learner.is_asked() || self.heard.is_some()
    }

    /// Writes down what came of the last question, if that is known now.
    pub(super) fn hear(&mut self, shared: &Shared, pinned: bool) {
        if let Some(answer) = self.learner.hear() {
            self.write_answer(shared, answer, pinned);
        }
    }

    /// The same at the end, when an answer is waited for: what was learned goes by it.
    pub(super) fn hear_out(&mut self, shared: &Shared) -> Result<()> {
        let pinned = pin::is_set(&shared.directory);
        if let Some(answer) = self.learner.hear_out() {
            self.write_answer(shared, answer, pinned);
        }
        let changes = |heard: &Heard| heard.trial.limits != heard.over;
        if !self.heard.as_ref().is_some_and(changes) {
            return Ok(());
        }
        let Some(handle) = shared.db.cf_handle(&self.family.name) else {
            return Ok(());
        };
        let (mut seen, _) = self.look(shared, &handle, pinned, Instant::now())?;
        self.follow_answer(&mut seen);
        self.take_up_wanted(&mut seen);
        self.note_limits(shared);
        Ok(())
    }

    fn write_answer(&mut self, shared: &Shared, answer: Answer, pinned: bool) {
        let Some(ended) = self.ended.take() else {
            return;
        };
        self.answered_in = self.learner.take_time();
        let answered = matches!(answer, Ok(Some(_)));
        let trial = match answer {
            Ok(Some(trial)) => trial,
            Ok(None) => Trial::unanswered(ended.limits.clone()),
            Err(why) => self.give_up(shared, &why, pinned),
        };
        let mission = ended.mission;
        shared.journal.write(
            &self.family.name,
            Event::Mission {
                mission: Box::new(mission.clone()),
                tree: ended.tree,
                trial: trial.clone(),
                pinned,
                bounds: Some(Bounds {
                    limits: ended.limits.clone(),
                    allowance: self.family.hooks.settings.allowance(),
                }),
                refused: ended.refused,
            },
        );
        self.reasons.hear(&mission, &trial, pinned);
        self.heard = Some(Heard {
            trial,
            over: ended.limits,
            took: answered.then_some(ended.between + self.answered_in),
        });
        let mut view = self.family.view.lock();
        view.missions = mission.number;
        view.mission = Some(mission);
    }

    /// Follows what was heard as far as nothing is pinned.
    pub(super) fn follow_answer(&mut self, seen: &mut Observation) {
        let Some(heard) = self.heard.take() else {
            return;
        };
        let took = heard.took;
        let changed = self.follow(seen, heard);
        if let Some(took) = took {
            self.good.see(self.state.wanted_limits());
            self.count_answer(changed, took);
        }
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
    fn follow(&mut self, seen: &mut Observation, heard: Heard) -> bool {
        if seen.pinned {
            self.state.take_up_pinned(&heard.trial);
            seen.state = self.state.clone();
            return false;
        }
        let before = self.state.wanted_limits().clone();
        self.state.take_up(&heard.trial);
        seen.state = self.state.clone();
        // Who wants the limits that it was asked over wants no change.
        if heard.trial.limits != heard.over {
            self.set_limits(seen, heard.trial.limits);
        }
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

    fn set_limits(&mut self, seen: &mut Observation, limits: RunLimits) {
        if limits != *self.state.wanted_limits() {
            self.state = planner::with_limits(seen, limits);
            seen.state = self.state.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{self, Sender};

    use lissom_core::journal::Entry;
    use lissom_core::testing::drawing::parse;
    use lissom_core::tuner::{Question, Tuner};

    use super::*;
    use crate::autopilot::learner::Learner;
    use crate::autopilot::testing::Stopped;
    use crate::files::journal;

    /// Keeps the limits, and sends on what was refused.
    struct Listening(Sender<Vec<LogicalLevel>>);

    impl Tuner for Listening {
        fn name(&self) -> String {
            "listening".into()
        }

        fn ask(&mut self, seen: &Question<'_>) -> Trial {
            let refused = seen.refused.to_vec();
            self.0.send(refused).expect("somebody listens");
            Trial::of_limits(TrialId(1), seen.limits.clone(), Vec::new())
        }

        fn tell(&mut self, _: TrialId, _: &Mission) {}
    }

    /// What the journal says at each mission.
    fn written(shared: &Shared) -> Vec<Vec<LogicalLevel>> {
        shared.journal.flush();
        let text = std::fs::read_to_string(journal::path(&shared.directory));
        let text = text.expect("a journal");
        let entries = text.lines().map(|line| {
            let entry: Entry = serde_json::from_str(line).expect(line);
            entry.event
        });
        let refused = entries.filter_map(|event| match event {
            Event::Mission { refused, .. } => Some(refused),
            _ => None,
        });
        refused.collect()
    }

    /// As in a round: the mission ends, the planner looks, and the tuner is asked.
    #[test]
    fn the_tuner_and_the_journal_are_told_what_the_planner_refused() {
        let store = Stopped::new();
        let shared = &store.shared;
        let mut memory = store.memory();
        let mut pilot = store.pilot("default");
        let (send, told) = mpsc::channel();
        pilot.learner = Learner::new(Box::new(Listening(send)));
        // Its one file would be merged with all of the level below at once.
        let drawing = "2.15: 0-99:200 \n 3.15: 0-49:2000 50-99:2000";
        let mut seen = parse(drawing).expect("a drawing");
        let level = LogicalLevel(2);
        pilot.state.push_down = vec![level];
        seen.state = pilot.state.clone();
        let now = Instant::now();
        let ended = pilot.end_mission(shared, &seen, now);
        let plans = pilot.plan(shared, &mut memory, &mut seen, now);
        assert!(plans.expect("planned").is_empty());
        pilot.ask(shared, ended, seen);
        pilot.hear_out(shared).expect("an answer");
        assert_eq!(told.recv(), Ok(vec![level]));
        assert_eq!(written(shared), [vec![level]]);
    }
}
