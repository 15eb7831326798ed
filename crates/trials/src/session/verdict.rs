//! How sure one can be, and what each parameter brings: runs after the search.

use lissom_search::objective::Metrics;
use lissom_search::record::Event;
use lissom_search::search::{Outcome, TrialId};
use lissom_search::space::Configuration;
use lissom_search::verdict::{
    Ablated, Ablation, Contender, Repeat, Repeated, ablations, contenders, estimates, repeats,
};

use super::plan::setup_seconds;
use super::{Job, Session};
use crate::error::Result;

/// A run that was lost is repeated so often.
const ATTEMPTS: u32 = 3;

impl Session<'_> {
    /// Repeats and ablations, as far as the budget goes.
    pub(super) fn verdict(&mut self) -> Result<()> {
        // A search that measured nothing has nobody to repeat, and says so itself.
        if let Ok(contenders) = contenders(&self.search) {
            self.repeat(&contenders)?;
        }
        let at = self.now();
        self.note(Event::End { at })
    }

    fn repeat(&mut self, contenders: &[(Contender, Configuration)]) -> Result<()> {
        // By what the log says, so that an interrupted verdict goes on alike.
        let decided = self.decided.unwrap_or_else(|| self.now());
        let left = self.plan.setup.budget_seconds - decided;
        let Some(plan) = self.plan.repeats(&self.search, contenders.len(), left) else {
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
        self.ablate(contenders, plan.seconds)
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
        let metrics = self.alone(&name, label, &repeat.configuration, repeat.seconds)?;
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
        self.events.iter().any(|event| {
            matches!(event, Event::Repeated { repeated, .. }
                if repeated.round == repeat.round && repeated.contender == repeat.contender)
        })
    }

    /// The best without one parameter after the other, those first that seem to be
    /// worth most.
    fn ablate(&mut self, contenders: &[(Contender, Configuration)], seconds: f64) -> Result<()> {
        let Some((_, best)) = contenders.first() else {
            return Ok(());
        };
        let default = self.search.space().default_configuration();
        let mut runs = ablations(self.search.space(), &default, best)?.runs;
        let order: Vec<String> = estimates(&self.search)
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
            let metrics = self.alone(&name, label, &run.configuration, seconds)?;
            let at = self.now();
            self.note(Event::Ablated {
                at,
                ablated: Ablated { parameter, metrics },
            })?;
        }
        Ok(())
    }

    fn has_ablated(&self, parameter: &str) -> bool {
        self.events.iter().any(|event| {
            matches!(event, Event::Ablated { ablated, .. } if ablated.parameter == parameter)
        })
    }

    /// Whether a run of so many seconds ends within the budget.
    fn fits(&self, seconds: f64) -> bool {
        let end = self.now() + setup_seconds(&self.search) + seconds;
        end <= self.plan.setup.budget_seconds
    }

    /// Runs a configuration while nothing else runs; `None` if it failed.
    fn alone(
        &mut self,
        name: &str,
        label: String,
        configuration: &Configuration,
        until: f64,
    ) -> Result<Option<Metrics>> {
        let trial = TrialId(self.search.trials().len() as u64 + 1);
        let job = Job {
            trial,
            label,
            configuration: configuration.clone(),
            until,
        };
        for _ in 0..ATTEMPTS {
            self.running.insert(trial);
            self.trials.start(&job)?;
            let outcome = self.wait_for(trial, name)?;
            self.running.remove(&trial);
            self.trials.stop(trial);
            match outcome {
                Outcome::Measured { metrics, .. } => return Ok(self.judged(metrics)),
                Outcome::Failed { .. } => return Ok(None),
                Outcome::Lost { .. } => {}
            }
        }
        Ok(None)
    }

    /// The metrics, if the objective can be judged by them.
    fn judged(&self, metrics: Metrics) -> Option<Metrics> {
        let values = self.plan.setup.objective.values(&metrics);
        values.is_ok().then_some(metrics)
    }

    fn wait_for(&mut self, trial: TrialId, name: &str) -> Result<Outcome> {
        loop {
            let budget = self.plan.setup.budget_seconds;
            self.attend(|_, now| {
                format!(
                    "{name}, {:.0} s of the budget left",
                    (budget - now).max(0.0)
                )
            })?;
            let reports = self.trials.poll()?;
            if let Some(report) = reports.into_iter().find(|it| it.trial == trial) {
                return Ok(report.outcome);
            }
        }
    }
}

/// The place of an ablation's parameter, or behind all places.
fn place(order: &[String], run: &Ablation) -> usize {
    let found = order.iter().position(|name| *name == run.difference.name);
    found.unwrap_or(order.len())
}
