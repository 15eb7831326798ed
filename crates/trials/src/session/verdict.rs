//! How sure one can be, and what each parameter brings: runs after the search.

use lissom_search::objective::{Metrics, judge};
use lissom_search::record::Event;
use lissom_search::search::{Outcome, TrialId};
use lissom_search::space::Configuration;
use lissom_search::verdict::{
    Ablated, Ablation, Contender, Repeat, Repeated, ablations, choice, contenders, estimates,
    repeats,
};

use super::{Job, Repeats, SEED, Session, planned_repeats, repeated};
use crate::error::Result;

/// What an ablation's operations are drawn from: as in the first round of repeats.
const FIRST_ROUND: u64 = SEED + 1;
/// A run that was lost is repeated so often.
const ATTEMPTS: u32 = 3;
/// A run may end so many set-ups after the budget,
const LATE_SET_UPS: f64 = 2.0;
/// or so many seconds, since no clock is exact.
const LATE_SECONDS: f64 = 1.0;

/// What came of a run.
enum Ran {
    /// Metrics, or none of one that failed.
    Told(Option<Metrics>),
    /// It had no time, or was lost too often: nothing is to be written down.
    Untold,
}

impl Session<'_> {
    /// Repeats and ablations, as far as the budget goes.
    pub(super) fn verdict(&mut self) -> Result<()> {
        // A search that measured nothing has nobody to repeat, and says so itself.
        if let Ok(contenders) = contenders(&self.search) {
            self.repeat(&contenders)?;
        }
        Ok(())
    }

    fn repeat(&mut self, contenders: &[(Contender, Configuration)]) -> Result<()> {
        let Some(plan) = self.plan_repeats(contenders)? else {
            return Ok(());
        };
        for repeat in repeats(contenders, plan.rounds, plan.seconds)? {
            if self.has_repeated(&repeat) {
                continue;
            }
            if !self.fits(repeat.seconds) {
                return Ok(());
            }
            self.repeat_one(repeat)?;
        }
        self.ablate(plan.seconds)
    }

    /// How contenders are repeated: as the log says, so that an interrupted verdict goes
    /// on alike, or as there is time, which is then written down.
    fn plan_repeats(
        &mut self,
        contenders: &[(Contender, Configuration)],
    ) -> Result<Option<Repeats>> {
        if let Some(planned) = planned_repeats(&self.events) {
            return Ok(Some(planned));
        }
        let at = self.now();
        let left = self.plan.setup.budget_seconds - at;
        let planned = self.plan.repeats(&self.search, contenders, left);
        if let Some(Repeats { rounds, seconds }) = planned {
            self.note(Event::Repeats {
                at,
                rounds,
                seconds,
            })?;
        }
        Ok(planned)
    }

    fn repeat_one(&mut self, repeat: Repeat) -> Result<()> {
        let contender = repeat.contender;
        let name = format!("round {} of repeats: {contender}", repeat.round);
        let label = match contender {
            Contender::Best => "best",
            Contender::RunnerUp => "runner-up",
            Contender::Default => "default",
        };
        let label = format!("repeat-{}-{label}", repeat.round);
        // Else all would repeat one stream, and what is due to it would pass for certain.
        let seed = SEED + u64::from(repeat.round);
        let ran = self.alone(&name, label, &repeat.configuration, repeat.seconds, seed)?;
        let Ran::Told(metrics) = ran else {
            return Ok(());
        };
        let at = self.now();
        self.note(Event::Repeated {
            at,
            repeated: Repeated {
                round: repeat.round,
                contender,
                metrics,
            },
        })
    }

    fn has_repeated(&self, repeat: &Repeat) -> bool {
        repeated(&self.events)
            .any(|it| it.round == repeat.round && it.contender == repeat.contender)
    }

    /// What the repeats chose without one parameter after the other, those first that
    /// seem to be worth most.
    fn ablate(&mut self, seconds: f64) -> Result<()> {
        let Some(best) = self.chosen()? else {
            return Ok(());
        };
        let default = self.search.space().default_configuration();
        let mut runs = ablations(self.search.space(), &default, &best)?.runs;
        let order: Vec<String> = estimates(&self.search, &best)
            .into_iter()
            .map(|it| it.difference.name)
            .collect();
        runs.sort_by_key(|run| place(&order, run));
        for run in runs {
            let parameter = run.difference.name;
            if self.has_ablated(&parameter) {
                continue;
            }
            if !self.fits(seconds) {
                return Ok(());
            }
            let name = format!("the best without {parameter}");
            let label = format!("without-{parameter}");
            let ran = self.alone(&name, label, &run.configuration, seconds, FIRST_ROUND)?;
            let Ran::Told(metrics) = ran else {
                continue;
            };
            let at = self.now();
            self.note(Event::Ablated {
                at,
                ablated: Ablated { parameter, metrics },
            })?;
        }
        Ok(())
    }

    /// The configuration that the repeats chose; `None` of one that failed in all.
    fn chosen(&self) -> Result<Option<Configuration>> {
        let all: Vec<Repeated> = repeated(&self.events).cloned().collect();
        let choice = choice(&self.search, &all)?;
        let mut own = all.iter().filter(|it| it.contender == choice.contender);
        let measured = own.any(|it| it.metrics.is_some());
        let trial = self.search.trial(choice.trial).filter(|_| measured);
        Ok(trial.map(|it| it.configuration.clone()))
    }

    fn has_ablated(&self, parameter: &str) -> bool {
        self.events.iter().any(|event| {
            matches!(event, Event::Ablated { ablated, .. } if ablated.parameter == parameter)
        })
    }

    /// Whether a run of so many seconds ends within the budget.
    fn fits(&self, seconds: f64) -> bool {
        let end = self.now() + self.search.setup_estimate() + seconds;
        end <= self.plan.setup.budget_seconds
    }

    /// Runs a configuration while nothing else runs, as long as there is time.
    fn alone(
        &mut self,
        name: &str,
        label: String,
        configuration: &Configuration,
        until: f64,
        seed: u64,
    ) -> Result<Ran> {
        let trial = TrialId(self.search.trials().len() as u64 + 1);
        let job = Job {
            trial,
            label,
            configuration: configuration.clone(),
            until,
            seed,
        };
        for _ in 0..ATTEMPTS {
            if !self.fits(until) {
                break;
            }
            self.running.insert(trial);
            self.trials.start(&job)?;
            let outcome = self.wait_for(trial, name)?;
            self.running.remove(&trial);
            self.trials.stop(trial);
            match outcome {
                Some(Outcome::Measured { metrics, .. }) => {
                    return Ok(Ran::Told(self.judged(metrics)));
                }
                Some(Outcome::Failed { .. }) => return Ok(Ran::Told(None)),
                Some(Outcome::Lost { .. }) => {}
                None => break,
            }
        }
        Ok(Ran::Untold)
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

/// The place of an ablation's parameter, or behind all places.
fn place(order: &[String], run: &Ablation) -> usize {
    let found = order.iter().position(|name| *name == run.difference.name);
    found.unwrap_or(order.len())
}
