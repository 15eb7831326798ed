//! How sure one can be, and what each parameter brings: runs after the search.

use lissom_search::record::Event;
use lissom_search::space::Configuration;
use lissom_search::verdict::{
    Ablated, Ablation, Contender, FollowUp, Repeat, Repeated, ablations, choice, contenders,
    estimates, repeats,
};

use super::alone::{Alone, Ran};
use super::{Repeats, Session, planned_repeats, repeated};
use crate::error::Result;

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
        let (round, contender) = (repeat.round, repeat.contender);
        let ran = self.alone(Alone {
            what: FollowUp::Repeat { round, contender },
            configuration: repeat.configuration,
            seconds: repeat.seconds,
        })?;
        let Ran::Told(metrics) = ran else {
            return Ok(());
        };
        let at = self.now();
        self.note(Event::Repeated {
            at,
            repeated: Repeated {
                round,
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
            self.ablate_one(parameter, run.configuration, seconds)?;
        }
        Ok(())
    }

    fn ablate_one(
        &mut self,
        parameter: String,
        configuration: Configuration,
        seconds: f64,
    ) -> Result<()> {
        let ran = self.alone(Alone {
            what: FollowUp::Ablation {
                parameter: parameter.clone(),
            },
            configuration: configuration.clone(),
            seconds,
        })?;
        let Ran::Told(metrics) = ran else {
            return Ok(());
        };
        let at = self.now();
        self.note(Event::Ablated {
            at,
            ablated: Ablated {
                parameter,
                configuration: Some(configuration),
                metrics,
            },
        })
    }

    /// The configuration that the repeats chose; `None` of one that failed in all.
    fn chosen(&self) -> Result<Option<Configuration>> {
        let all: Vec<Repeated> = repeated(&self.events).cloned().collect();
        let ran = planned_repeats(&self.events).map_or(0.0, |it| it.seconds);
        let choice = choice(&self.search, &all, ran)?;
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
}

/// The place of an ablation's parameter, or behind all places.
fn place(order: &[String], run: &Ablation) -> usize {
    let found = order.iter().position(|name| *name == run.difference.name);
    found.unwrap_or(order.len())
}
