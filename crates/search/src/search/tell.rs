//! What came of a decision.

use super::ask::broken;
use super::{Cause, Measurement, Outcome, Search, State, Trial, TrialId};
use crate::error::{Result, SearchError};
use crate::objective::judge;

impl Search {
    /// Takes a report. One without a metric that the objective or a constraint
    /// needs counts as a failure ([`Cause::NoMetric`]).
    ///
    /// # Errors
    /// A trial that does not exist or does not run, a time shorter than was asked
    /// for, or a number that is none; the search is then as it was.
    pub fn tell(&mut self, measurement: Measurement) -> Result<()> {
        measurement.check()?;
        let id = measurement.trial;
        let outcome = self.usable(measurement.outcome);
        let Some(trial) = self.trials.iter_mut().find(|it| it.id == id) else {
            return Err(SearchError::new(format!(
                "there is no {id}: report on a trial that was started"
            )));
        };
        if fits(id, &trial.state, &outcome)? {
            let was_ready = matches!(outcome, Outcome::Measured { .. });
            match outcome {
                Outcome::Measured { .. } => self.failures_in_a_row = 0,
                Outcome::Failed { .. } => {
                    self.failures_in_a_row += 1;
                    let many = self.failures_in_a_row > broken(self.setup.method.workers);
                    self.has_broken |= many && !trial.readings.is_empty();
                }
                Outcome::Lost { .. } => {}
            }
            trial.take(outcome);
            self.is_prepared = was_ready || (self.is_prepared && !self.lost_all());
            self.find_points();
        }
        Ok(())
    }

    /// Whether some were lost and none is left: what trials share may have gone with them.
    fn lost_all(&self) -> bool {
        let lost = self.trials.iter().any(|it| it.state == State::Lost);
        lost && self.alive().is_empty()
    }

    /// The outcome, as a failure if it lacks what is needed.
    fn usable(&self, outcome: Outcome) -> Outcome {
        if let Outcome::Measured { metrics, .. } = &outcome
            && let Err(error) = judge(&self.setup.objective, &self.setup.constraints, metrics)
        {
            return Outcome::Failed {
                cause: Cause::NoMetric,
                detail: error.to_string(),
            };
        }
        outcome
    }

    /// Sets the time points once the first live trial tells them.
    fn find_points(&mut self) {
        if self.points.is_some() {
            return;
        }
        let Some(trial) = self.trials.iter().find(|it| it.is_live()) else {
            return;
        };
        let wanted = &self.setup.method.points;
        if let Some(points) = trial.settled(wanted) {
            let settled = wanted.are_settled(trial.reached(), &trial.series);
            self.notes.push(note(trial, settled, &points));
            self.points = Some(points);
        }
    }
}

/// What to know of the time points that a trial has told.
fn note(trial: &Trial, settled: bool, points: &[f64]) -> String {
    let seconds: Vec<String> = points.iter().map(|it| format!("{it:.0}")).collect();
    let seconds = seconds.join(", ");
    let (id, reached) = (trial.id, trial.reached());
    if settled {
        format!("{id} settled after {reached:.0} s: trials are compared after {seconds} s")
    } else {
        format!(
            "{id} had not settled after {reached:.0} s, the latest that trials are first \
             compared: they are after {seconds} s"
        )
    }
}

/// Whether a report changes a trial of this state.
fn fits(id: TrialId, state: &State, outcome: &Outcome) -> Result<bool> {
    match (state, outcome) {
        (State::Running(until), Outcome::Measured { seconds, .. }) => {
            if Search::came_to(*seconds, *until) {
                return Ok(true);
            }
            Err(SearchError::new(format!(
                "{id} was to run until {until} s and reports after {seconds} s: let it run on, \
                 or report why it failed"
            )))
        }
        // A report that crossed with the decision to stop: what was measured counts.
        (State::Stopped, Outcome::Measured { .. }) => Ok(true),
        (State::Stopped, _) => Ok(false),
        (State::Running(_) | State::Waiting, Outcome::Failed { .. } | Outcome::Lost { .. }) => {
            Ok(true)
        }
        (State::Waiting | State::Lost | State::Failed(..), _) => Err(SearchError::new(format!(
            "{id} does not run: report once on each decision to start or continue it"
        ))),
    }
}
