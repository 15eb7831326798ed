//! One run at a time behind the search, as often as it is worth it.

use std::collections::{BTreeMap, BTreeSet};

use lissom_search::objective::{Metrics, judge};
use lissom_search::record::Event;
use lissom_search::search::{Outcome, TrialId};
use lissom_search::space::Configuration;
use lissom_search::verdict::{Contender, FollowUp};

use super::{Job, SEED, Session};
use crate::error::Result;

/// What an ablation's operations are drawn from: as in the first round of repeats.
const FIRST_ROUND: u64 = SEED + 1;
/// A run has so many attempts, however often the search is interrupted between them.
const ATTEMPTS: usize = 3;
/// A run may end so many set-ups after the budget,
const LATE_SET_UPS: f64 = 2.0;
/// or so many seconds, since no clock is exact.
const LATE_SECONDS: f64 = 1.0;

/// A run while nothing else runs.
pub(super) struct Alone {
    pub what: FollowUp,
    pub configuration: Configuration,
    pub seconds: f64,
}

/// What came of a run.
pub(super) enum Ran {
    /// Metrics, or none of one that failed.
    Told(Option<Metrics>),
    /// It had no time, or its attempts came to nothing.
    Untold,
}

impl Session<'_> {
    /// Whether a run of so many seconds ends within the budget.
    pub(super) fn fits(&self, seconds: f64) -> bool {
        let end = self.now() + self.search.setup_estimate() + seconds;
        end <= self.plan.setup.budget_seconds
    }

    /// Runs a configuration while nothing else runs, as long as there is time. An attempt that
    /// comes to nothing is written down with the time that it took, or a search that goes on
    /// would take it again, and again spend what is spent.
    pub(super) fn alone(&mut self, run: Alone) -> Result<Ran> {
        let job = Job {
            trial: TrialId(self.search.trials().len() as u64 + 1),
            label: label(&run.what),
            configuration: run.configuration,
            until: run.seconds,
            seed: seed(&run.what),
        };
        while self.attempts_in_vain(&run.what) < ATTEMPTS && self.fits(run.seconds) {
            let why = match self.attempt(&job, &name(&run.what))? {
                Some(Outcome::Measured { metrics, .. }) => {
                    return Ok(Ran::Told(self.judged(metrics)));
                }
                Some(Outcome::Failed { .. }) => return Ok(Ran::Told(None)),
                Some(Outcome::Lost { why }) => why,
                None => "the budget ended before it reported".to_owned(),
            };
            let (at, what) = (self.now(), run.what.clone());
            self.note(Event::InVain { at, what, why })?;
        }
        Ok(Ran::Untold)
    }

    /// What comes of running a job; `None` if nothing comes in time.
    fn attempt(&mut self, job: &Job, name: &str) -> Result<Option<Outcome>> {
        self.running.insert(job.trial);
        self.trials.start(job)?;
        let outcome = self.wait_for(job.trial, name)?;
        self.running.remove(&job.trial);
        self.trials.stop(job.trial);
        Ok(outcome)
    }

    /// Attempts at a run that came to nothing, those before an interruption included.
    fn attempts_in_vain(&self, run: &FollowUp) -> usize {
        let events = self.events.iter();
        events
            .filter(|it| matches!(it, Event::InVain { what, .. } if what == run))
            .count()
    }

    /// The metrics, if the objective and the bounds can be judged by them.
    fn judged(&self, metrics: Metrics) -> Option<Metrics> {
        let setup = &self.plan.setup;
        let standing = judge(&setup.objective, &setup.constraints, &metrics);
        standing.is_ok().then_some(metrics)
    }

    /// The report of a trial; `None` if none comes in time.
    fn wait_for(&mut self, trial: TrialId, name: &str) -> Result<Option<Outcome>> {
        let budget = self.plan.setup.budget_seconds;
        let late = (LATE_SET_UPS * self.search.setup_estimate()).max(LATE_SECONDS);
        while self.now() <= budget + late {
            self.attend(|_, now| {
                format!(
                    "{name}, {:.0} s of the budget left",
                    (budget - now).max(0.0)
                )
            })?;
            let reports = self.trials.poll()?;
            if let Some(report) = reports.into_iter().find(|it| it.trial == trial) {
                return Ok(Some(report.outcome));
            }
        }
        Ok(None)
    }
}

/// How many repeats of each contender came to nothing: attempts at them were in vain, and none
/// told anything.
pub(crate) fn came_to_nothing(events: &[Event]) -> BTreeMap<Contender, usize> {
    let mut repeats = BTreeSet::new();
    for event in events {
        match event {
            Event::InVain {
                what: FollowUp::Repeat { round, contender },
                ..
            } => {
                repeats.insert((*round, *contender));
            }
            Event::Repeated { repeated, .. } => {
                repeats.remove(&(repeated.round, repeated.contender));
            }
            _ => {}
        }
    }
    let mut counts: BTreeMap<Contender, usize> = BTreeMap::new();
    for (_, contender) in repeats {
        *counts.entry(contender).or_default() += 1;
    }
    counts
}

/// Its name for people.
fn name(run: &FollowUp) -> String {
    match run {
        FollowUp::Repeat { round, contender } => format!("round {round} of repeats: {contender}"),
        FollowUp::Ablation { parameter } => format!("the best without {parameter}"),
    }
}

/// Its name in paths.
fn label(run: &FollowUp) -> String {
    match run {
        FollowUp::Repeat { round, contender } => {
            let who = match contender {
                Contender::Best => "best",
                Contender::RunnerUp => "runner-up",
                Contender::Default => "default",
            };
            format!("repeat-{round}-{who}")
        }
        FollowUp::Ablation { parameter } => format!("without-{parameter}"),
    }
}

/// What its operations are drawn from. Were it the same in all rounds, they would repeat one
/// stream, and what is due to it would pass for certain.
fn seed(run: &FollowUp) -> u64 {
    match run {
        FollowUp::Repeat { round, .. } => SEED + u64::from(*round),
        FollowUp::Ablation { .. } => FIRST_ROUND,
    }
}
