//! One configuration that is being tried.

use std::fmt;

use super::arms::ArmId;
use super::measurement::{Cause, Sample};
use super::points::{REACHED, TimePoints};
use super::{Outcome, TrialId};
use crate::objective::Metrics;
use crate::space::Configuration;

/// A configuration, and all that was measured of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Trial {
    /// Its name in decisions and measurements.
    pub id: TrialId,
    /// What it runs.
    pub configuration: Configuration,
    /// Its arm; absent where its features are those of no arm.
    pub arm: Option<ArmId>,
    /// Why it exists.
    pub origin: Origin,
    /// What it is doing.
    pub state: State,
    /// What it reported, in order.
    pub readings: Vec<Reading>,
    /// Throughput of its latest attempt, as far as it was reported.
    pub series: Vec<Sample>,
    /// What its program told to know about its configuration.
    pub notes: Vec<String>,
    /// Seconds before the first operation, summed over attempts.
    pub setup_seconds: f64,
    /// Attempts that were measured.
    pub attempts: u32,
    /// Whether its latest attempt has yet to be measured.
    pub(super) is_new: bool,
    /// Whether its latest attempt began when what trials share was there.
    pub(super) finds_shared: bool,
    /// Seconds before the first operation of each attempt that did.
    pub(super) typical_set_ups: Vec<f64>,
}

/// Why a trial exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// It is the default configuration.
    Default,
    /// It is the first of its arm.
    First,
    /// It was the best of its arm in an earlier search, or of all where it is of no arm.
    Earlier,
    /// It was added to its arm in this round, from 1.
    Round(u32),
}

/// What a trial is doing.
#[derive(Clone, PartialEq, Debug)]
pub enum State {
    /// It runs until it has run for so many seconds.
    Running(f64),
    /// It has run as long as it was told to.
    Waiting,
    /// It was lost and has to begin anew.
    Lost,
    /// It was stopped.
    Stopped,
    /// It failed.
    Failed(Cause, String),
}

/// What a trial reported at one time.
#[derive(Clone, PartialEq, Debug)]
pub struct Reading {
    /// Seconds that it had run.
    pub seconds: f64,
    /// Over these seconds.
    pub metrics: Metrics,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("the default configuration"),
            Origin::First => f.write_str("the first of its arm"),
            Origin::Earlier => f.write_str("the best of all or of its arm in an earlier search"),
            Origin::Round(round) => write!(f, "added to its arm in round {round}"),
        }
    }
}

impl Trial {
    /// Whether it may still win: it neither failed nor was stopped.
    pub fn is_live(&self) -> bool {
        matches!(self.state, State::Running(_) | State::Waiting | State::Lost)
    }

    /// Whether it failed.
    pub fn has_failed(&self) -> bool {
        matches!(self.state, State::Failed(..))
    }

    /// Seconds of its latest reading; 0 without one.
    pub fn reached(&self) -> f64 {
        self.readings
            .iter()
            .map(|it| it.seconds)
            .fold(0.0, f64::max)
    }

    /// Seconds before the first operation of an attempt, on average over those that
    /// [`Search::setup_estimate`](super::Search::setup_estimate) goes by; `None` without any.
    pub fn typical_set_up(&self) -> Option<f64> {
        let all = &self.typical_set_ups;
        (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
    }

    /// Whether it was measured for so long.
    pub(super) fn has_reached(&self, seconds: f64) -> bool {
        self.reached() >= seconds * REACHED
    }

    /// The first reading after so many seconds.
    pub fn reading_at(&self, seconds: f64) -> Option<&Reading> {
        let readings = self.readings.iter();
        readings
            .filter(|it| it.seconds >= seconds * REACHED)
            .min_by(|one, other| one.seconds.total_cmp(&other.seconds))
    }

    /// Takes a report that fits its state.
    pub(super) fn take(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Measured {
                seconds,
                setup_seconds,
                metrics,
                series,
                notes,
            } => {
                self.readings.push(Reading { seconds, metrics });
                self.series.extend(series);
                for note in notes {
                    if !self.notes.contains(&note) {
                        self.notes.push(note);
                    }
                }
                self.take_set_up(setup_seconds);
                if self.state != State::Stopped {
                    self.state = State::Waiting;
                }
            }
            Outcome::Failed { cause, detail } => self.state = State::Failed(cause, detail),
            Outcome::Lost { .. } => {
                self.state = State::Lost;
                self.series.clear();
            }
        }
    }

    /// Takes what came before the first operation; 0 of an attempt that ran before.
    fn take_set_up(&mut self, seconds: f64) {
        self.setup_seconds += seconds;
        if std::mem::take(&mut self.is_new) {
            self.attempts += 1;
            self.typical_set_ups
                .extend(self.finds_shared.then_some(seconds));
        }
    }

    /// The time points, if this trial tells them.
    pub(super) fn settled(&self, points: &TimePoints) -> Option<Vec<f64>> {
        let reached = self.reached();
        if reached == 0.0 {
            return None;
        }
        points.found(reached, &self.series)
    }
}
