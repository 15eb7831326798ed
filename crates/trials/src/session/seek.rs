//! Ask, obey, listen, tell.

use lissom_search::record::Event;
use lissom_search::search::{Cause, Decision, Measurement, Outcome, Search, State, Trial, TrialId};

use super::{Job, SEED, Session};
use crate::error::{Result, TrialsError};

/// So many attempts beside the workers' show what the others take before they run.
const REVIEWS: usize = 3;

impl Session<'_> {
    /// Runs the search until it has chosen its best.
    pub(super) fn seek(&mut self) -> Result<()> {
        self.lose_the_dead()?;
        while self.decided.is_none() {
            self.attend(|search, now| search.progress(now).to_string())?;
            if !(self.may_ask() && self.ask()?) {
                self.listen()?;
            }
        }
        Ok(())
    }

    /// Trials of a search that is resumed have not survived.
    fn lose_the_dead(&mut self) -> Result<()> {
        for trial in self.search.alive() {
            let outcome = Outcome::Lost {
                why: "the search was interrupted".to_owned(),
            };
            self.tell(Measurement { trial, outcome })?;
        }
        Ok(())
    }

    /// Whether a worker is free, or the time is used up, so that all must stop.
    fn may_ask(&self) -> bool {
        let workers = self.search.setup().method.workers;
        self.running.len() < workers || self.now() >= self.search.deadline()
    }

    /// Asks and obeys; false if there is nothing to do but wait.
    fn ask(&mut self) -> Result<bool> {
        self.note_restarts()?;
        let at = self.now();
        let decision = self.search.ask(at);
        if let Decision::Wait { .. } = decision {
            return Ok(false);
        }
        let event = Event::Decision {
            at,
            decision: decision.clone(),
        };
        // Written first: what is decided is done after an interruption, too.
        self.note(event)?;
        self.obey(at, decision)?;
        Ok(true)
    }

    /// Lets the search know whether trials wait or begin anew, which costs more.
    fn note_restarts(&mut self) -> Result<()> {
        let restarts = self.trials.restarts();
        if restarts == self.search.restarts() {
            return Ok(());
        }
        let at = self.now();
        self.note(Event::Restarts { at, restarts })?;
        self.search.note_restarts(restarts);
        Ok(())
    }

    fn obey(&mut self, at: f64, decision: Decision) -> Result<()> {
        match decision {
            Decision::Start {
                trial,
                configuration,
                until,
                ..
            } => {
                let label = format!("trial-{}", trial.0);
                self.running.insert(trial);
                self.trials.start(&Job {
                    trial,
                    label,
                    configuration,
                    until,
                    seed: SEED,
                })?;
            }
            Decision::Continue { trial, until, .. } => {
                self.running.insert(trial);
                self.trials.go_on(trial, until)?;
            }
            Decision::Stop { trial, .. } => self.stop_with_others(trial)?,
            Decision::Done { .. } => self.decided = Some(at),
            Decision::Wait { .. } => {}
        }
        Ok(())
    }

    /// Stops a trial together with all others that the search stops as well: each may take
    /// seconds to end.
    fn stop_with_others(&mut self, first: TrialId) -> Result<()> {
        let mut stopped = vec![first];
        while self.search.has_stops() {
            let at = self.now();
            let decision = self.search.ask(at);
            stopped.extend(decision.trial());
            self.note(Event::Decision { at, decision })?;
        }
        self.running.retain(|it| !stopped.contains(it));
        self.trials.stop_many(&stopped);
        Ok(())
    }

    /// Takes the reports that came. One that ends the session keeps back none of the others,
    /// which were measured as well.
    fn listen(&mut self) -> Result<()> {
        let mut taken = Ok(());
        for measurement in self.trials.poll()? {
            self.running.remove(&measurement.trial);
            taken = taken.and(self.tell(measurement));
        }
        taken
    }

    /// Tells the search, then writes down: what it refuses must not be in the log.
    fn tell(&mut self, measurement: Measurement) -> Result<()> {
        let before = Known::of(&self.search);
        let id = measurement.trial;
        self.search.tell(measurement.clone())?;
        if let Some(sentence) = hopeless(&self.search, &measurement) {
            self.trials.stop(id);
            return Err(sentence);
        }
        let at = self.now();
        // Before the trial is ended, which may take seconds.
        self.note(Event::Measurement { at, measurement })?;
        self.let_go(id);
        if Known::of(&self.search).is_worth_a_review(&before) {
            self.review()
        } else {
            Ok(())
        }
    }

    /// Ends a trial that has failed, or that others go before.
    fn let_go(&mut self, id: TrialId) {
        if self.search.trial(id).is_some_and(Trial::has_failed) {
            // One without the metrics that are sought still waits.
            self.trials.stop(id);
        } else if !self.search.goes_on_at_once(id) {
            self.trials.may_end(id);
        }
    }

    /// Looks again what is to be kept for repeats.
    fn review(&mut self) -> Result<()> {
        let at = self.now();
        let seconds = self.plan.reserve(&self.search, at);
        if seconds == self.search.setup().method.reserve_seconds {
            return Ok(());
        }
        self.note(Event::Reserved { at, seconds })?;
        self.search.reserve(seconds);
        Ok(())
    }
}

/// What is known of that on which the share for repeats depends.
struct Known {
    /// Whether it is known when trials are compared.
    has_points: bool,
    /// Attempts that were measured.
    attempts: u32,
    /// Those of them that tell what others take before they run, as far as they are wanted:
    /// each worker's first, and some more.
    typical: usize,
}

impl Known {
    fn of(search: &Search) -> Known {
        let wanted = search.setup().method.workers.saturating_add(REVIEWS);
        Known {
            has_points: search.points().is_some(),
            attempts: search.trials().iter().map(|it| it.attempts).sum(),
            typical: search.typical_set_ups().min(wanted),
        }
    }

    /// Whether more is known than before. Until there are attempts that tell more, each of the
    /// others tells at least how much of the budget is gone.
    fn is_worth_a_review(&self, before: &Known) -> bool {
        let tells_time = self.typical == 0 && self.attempts > before.attempts;
        let tells_more = self.typical > before.typical || !before.has_points;
        self.has_points && (tells_more || tells_time)
    }
}

/// The metrics of a program are the same whatever its configuration, so the first
/// measurement without one that is needed is the last. It is not written down, since the program
/// or the objective will be mended. A formula that comes to no number may do so elsewhere.
fn hopeless(search: &Search, measurement: &Measurement) -> Option<TrialsError> {
    let trial = search.trial(measurement.trial)?;
    let (State::Failed(Cause::NoMetric, detail), Outcome::Measured { metrics, .. }) =
        (&trial.state, &measurement.outcome)
    else {
        return None;
    };
    let setup = search.setup();
    let bounded = setup.constraints.iter().map(|it| it.metric().to_owned());
    let mut needed = setup.objective.metrics().into_iter().chain(bounded);
    let lacks = needed.any(|name| metrics.get(&name).is_none());
    (lacks && !search.has_readings())
        .then(|| TrialsError::new(format!("{} cannot be judged: {detail}", trial.id)))
}
