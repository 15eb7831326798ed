//! What should happen next.

use super::points::REACHED;
use super::{Decision, Search, Stage, State, Trial, TrialId};

/// So many failures before anything was measured are no fault of configurations.
const HOPELESS: usize = 5;

/// So many in a row are hardly theirs later either, and for each that runs at once a few more: a
/// server may be gone, or a disk full. Whoever was measured before goes on then, and tells.
const BROKEN: usize = 20;
const BROKEN_EACH: usize = 4;

/// The failures in a row that are rather the program's fault.
pub(crate) fn broken(workers: usize) -> usize {
    BROKEN.max(BROKEN_EACH * workers)
}

impl Search {
    /// The next decision, `elapsed_seconds` after the search began by the clock.
    ///
    /// Ask again before telling to run several trials at once; [`Decision::Wait`]
    /// says that nothing more can begin now.
    pub fn ask(&mut self, elapsed_seconds: f64) -> Decision {
        if elapsed_seconds >= self.deadline() {
            self.finish("the time is used up");
        }
        if let Some(failed) = self.hopeless() {
            self.finish(&format!(
                "the first {failed} trials failed, which is rather the program's fault than theirs"
            ));
        }
        if self.has_broken {
            self.finish(&format!(
                "the last {} reports were all failures, which is rather the program's fault than \
                 the configurations'",
                self.failures_in_a_row
            ));
        }
        loop {
            if let Some((trial, reason)) = self.stops.pop_front() {
                return Decision::Stop { trial, reason };
            }
            if let Stage::Finished(reason) = &self.stage {
                return self.done(reason.clone());
            }
            if let Some(decision) = self.next_run() {
                return decision;
            }
            if let Some(decision) = self.next_start(elapsed_seconds) {
                return decision;
            }
            if let Some(reason) = self.waits_for() {
                return Decision::Wait { reason };
            }
            self.advance(elapsed_seconds);
        }
    }

    /// How many trials failed, if they are too many before anything was measured. As many as
    /// run at once are begun before one of them can tell.
    fn hopeless(&self) -> Option<usize> {
        let failed = self.trials.iter().filter(|it| it.has_failed()).count();
        let most = HOPELESS.max(self.setup.method.workers);
        (!self.has_readings() && failed >= most).then_some(failed)
    }

    /// A waiting trial that has not come to its target.
    fn next_run(&mut self) -> Option<Decision> {
        let mut places = self.in_turn().into_iter();
        let place = places.find(|it| self.wants_to_run(&self.trials[*it]))?;
        let until = self.target(self.trials.get(place)?);
        let (settled, looked) = (self.points.is_some(), self.calibrator());
        let stays = self.goes_on_at_once(self.trials.get(place)?.id);
        let restarts = self.restarts && !stays;
        let is_prepared = self.is_prepared;
        let trial = self.trials.get_mut(place)?;
        let lost = trial.state == State::Lost;
        if lost || restarts {
            trial.is_new = true;
            trial.finds_shared = is_prepared;
        }
        trial.state = State::Running(until);
        let trial = &*trial;
        if lost {
            return Some(Decision::Start {
                trial: trial.id,
                configuration: trial.configuration.clone(),
                until,
                reason: "it was lost, and is still wanted".to_owned(),
            });
        }
        let reason = if !settled && looked == Some(trial.id) {
            "its throughput has not settled, and it tells when trials are compared".to_owned()
        } else if let Stage::Halving(_) = self.stage {
            format!(
                "it was among the better half after {:.0} s",
                trial.reached()
            )
        } else {
            "trials are first compared then".to_owned()
        };
        Some(Decision::Continue {
            trial: trial.id,
            until,
            reason,
        })
    }

    /// Places of trials in the order in which they run on: as they were started, and where
    /// some were stopped already, the best of the others first. If the time ends before all
    /// have run, it has gone to these.
    fn in_turn(&self) -> Vec<usize> {
        match self.stage {
            Stage::Halving(place) => self.live_by_rank(self.point(place.checked_sub(1))),
            Stage::Sampling(_) | Stage::Finished(_) => self.live(),
        }
    }

    /// A time point by its place.
    pub(super) fn point(&self, place: Option<usize>) -> Option<f64> {
        self.points.as_ref()?.get(place?).copied()
    }

    fn wants_to_run(&self, trial: &Trial) -> bool {
        let idle = matches!(trial.state, State::Waiting | State::Lost);
        idle && !trial.has_reached(self.target(trial))
    }

    /// How long a trial should have run at this stage.
    pub(super) fn target(&self, trial: &Trial) -> f64 {
        let points = &self.setup.method.points;
        let Some(found) = &self.points else {
            let reached = trial.reached();
            let looks = self.calibrator() == Some(trial.id) && reached > 0.0;
            return if looks {
                points.next_look(reached)
            } else {
                points.window()
            };
        };
        let place = match self.stage {
            Stage::Halving(place) => place,
            Stage::Sampling(_) | Stage::Finished(_) => 0,
        };
        found
            .get(place)
            .copied()
            .unwrap_or_else(|| points.longest())
    }

    /// Whether a trial that has reported runs on before anything else begins: it tells when
    /// trials are compared, and has not settled. It does so where it is, also where trials
    /// begin anew when they go on: looking at it would else cost its whole time each time.
    pub fn goes_on_at_once(&self, trial: TrialId) -> bool {
        let known = self.trial(trial);
        let waits = known.is_some_and(|it| it.state == State::Waiting);
        waits && self.points.is_none() && self.calibrator() == Some(trial)
    }

    /// The trial whose series tells the time points.
    fn calibrator(&self) -> Option<TrialId> {
        self.trials.iter().find(|it| it.is_live()).map(|it| it.id)
    }

    /// The next configuration of the queue, if the budget has room for it.
    fn next_start(&mut self, elapsed: f64) -> Option<Decision> {
        let first_of_all = self.trials.is_empty();
        if self.queue.is_empty() || !(first_of_all || self.affordable(1, elapsed)) {
            return None;
        }
        let planned = self.queue.pop_front()?;
        let mut trial = Trial {
            id: TrialId(self.trials.len() as u64 + 1),
            configuration: self.space.configuration(&planned.point),
            arm: planned.arm,
            origin: planned.origin,
            state: State::Waiting,
            readings: Vec::new(),
            series: Vec::new(),
            notes: Vec::new(),
            setup_seconds: 0.0,
            attempts: 0,
            is_new: true,
            finds_shared: self.is_prepared,
            typical_set_ups: Vec::new(),
        };
        let until = self.target(&trial);
        trial.state = State::Running(until);
        let decision = Decision::Start {
            trial: trial.id,
            configuration: trial.configuration.clone(),
            until,
            reason: planned.reason,
        };
        self.trials.push(trial);
        Some(decision)
    }

    /// The trials that run, if any does.
    fn waits_for(&self) -> Option<String> {
        let running = self.trials.iter();
        let running: Vec<String> = running
            .filter(|it| matches!(it.state, State::Running(_)))
            .map(|it| it.id.to_string())
            .collect();
        (!running.is_empty()).then(|| format!("{} must report first", running.join(", ")))
    }

    /// All live trials have come to their target: the next stage.
    fn advance(&mut self, elapsed: f64) {
        self.leave_out_queue();
        match self.stage {
            Stage::Sampling(rounds) => {
                if rounds <= self.setup.method.rounds {
                    self.most = self.most.max(self.live().len());
                }
                let method = &self.setup.method;
                let is_worth_it = self.failures_in_a_row < broken(method.workers);
                let more = method.whole_budget && is_worth_it || rounds < method.rounds;
                if more && self.plan_round(rounds + 1, elapsed) {
                    self.stage = Stage::Sampling(rounds + 1);
                } else {
                    self.halve(0, elapsed);
                }
            }
            Stage::Halving(place) => self.halve(place, elapsed),
            Stage::Finished(_) => {}
        }
    }

    /// Gives up what the budget has no room for any more. Of further rounds that is not worth a
    /// word: they use the budget up.
    fn leave_out_queue(&mut self) {
        let rounds = self.setup.method.rounds;
        let is_further = matches!(self.stage, Stage::Sampling(round) if round > rounds);
        if !self.queue.is_empty() && !is_further {
            self.notes.push(format!(
                "{} configurations were left out, since the budget has no room for them",
                self.queue.len()
            ));
        }
        self.queue.clear();
    }

    /// Ends the search and every trial; nothing if it has ended.
    pub(super) fn finish(&mut self, reason: &str) {
        if let Stage::Finished(_) = self.stage {
            return;
        }
        if let Stage::Halving(place) = self.stage {
            self.last_leg = self.leg_to(place);
        }
        self.stage = Stage::Finished(reason.to_owned());
        self.queue.clear();
        for place in 0..self.trials.len() {
            self.stop(place, reason);
        }
    }

    /// Stops a trial that is live; its runner is told if there is one.
    pub(super) fn stop(&mut self, place: usize, reason: &str) {
        let Some(trial) = self.trials.get_mut(place).filter(|it| it.is_live()) else {
            return;
        };
        let has_runner = trial.state != State::Lost;
        trial.state = State::Stopped;
        if has_runner {
            self.stops.push_back((trial.id, reason.to_owned()));
        }
    }

    fn done(&self, reason: String) -> Decision {
        let best = self.best();
        let reason = match (best, self.first_failure()) {
            (None, Some(failure)) => format!("{reason}; no trial could be measured: {failure}"),
            (None, None) => format!("{reason} before any trial was measured"),
            (Some(_), _) => reason,
        };
        Decision::Done { best, reason }
    }

    fn first_failure(&self) -> Option<String> {
        self.trials.iter().find_map(|trial| match &trial.state {
            State::Failed(cause, detail) => Some(format!("{}: {cause} ({detail})", trial.id)),
            _ => None,
        })
    }

    /// Whether a trial that was told to run `until` has.
    pub(super) fn came_to(seconds: f64, until: f64) -> bool {
        seconds >= until * REACHED
    }
}
