//! What a search found, as data.

mod cautions;
mod parameters;
mod proof;
#[cfg(test)]
pub(crate) mod tests;
mod text;
mod trials;
pub(crate) mod words;

use std::collections::BTreeMap;

use serde::Serialize;

use lissom_search::objective::{Goal, Metrics};
use lissom_search::record::Event;
use lissom_search::search::{CutOff, Decision, Search, TrialId};
use lissom_search::space::{Configuration, Setting};
use lissom_search::verdict::{Choice, Contender, Estimate, Repeated, Verdict, choice, estimates};

use crate::error::Result;
use crate::session::{Plan, came_to_nothing, planned_repeats, repeated};

pub use parameters::ParameterRow;
pub use proof::{Bound, Contribution, RepeatRow};
pub use text::render;
pub use trials::{FailureRow, ReadingRow, TrialRow};

/// Everything that a search found, and how.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Findings {
    /// The space.
    pub space: String,
    /// What the space is for.
    pub about: String,
    /// Constants of the space.
    pub constants: Vec<(String, f64)>,
    /// What was measured.
    pub target: String,
    /// What all trials had beside their configurations; empty where nobody knows.
    pub measured_with: Vec<(String, Setting)>,
    /// What was sought.
    pub objective: String,
    /// The numbers that count.
    pub goals: Vec<Goal>,
    /// Bounds that the best had to keep.
    pub constraints: Vec<String>,
    /// The seed.
    pub seed: u64,
    /// Trials that ran at once.
    pub workers: usize,
    /// Seconds that were allowed, the verdict included.
    pub budget_seconds: f64,
    /// Seconds that were taken.
    pub spent_seconds: f64,
    /// Seconds of a full evaluation.
    pub evaluation_seconds: f64,
    /// Seconds that a trial takes before it runs, what only the first ones do left out: the
    /// median of attempts, or as expected where none tells.
    pub setup_seconds: f64,
    /// Clusters of configurations that were told apart.
    pub arms: usize,
    /// When trials were compared, in seconds of running.
    pub points: Vec<f64>,
    /// Why the search ended.
    pub reason: String,
    /// What the end of the time has cut off; absent if nothing.
    pub cut_off: Option<CutOff>,
    /// The best, by the repeats where there are any; absent if nothing could be measured.
    pub best: Option<Best>,
    /// Which contender of the repeats is the best; absent without one.
    pub chosen: Option<Contender>,
    /// Which contender runs the default configuration; absent if none does.
    pub default: Option<Contender>,
    /// What the repeats say against contenders.
    pub against: BTreeMap<Contender, String>,
    /// Every parameter, those first in which the best differs from the default.
    pub parameters: Vec<ParameterRow>,
    /// Every trial, in the order of their start.
    pub trials: Vec<TrialRow>,
    /// Seconds that each repeat ran; absent without repeats.
    pub repeat_seconds: Option<f64>,
    /// Repeats of the best, the runner-up and the default, in their order.
    pub repeats: Vec<RepeatRow>,
    /// Repeats that told nothing, by contender: they were lost, or the budget ended before.
    pub in_vain: BTreeMap<Contender, usize>,
    /// What the repeats say; absent without any.
    pub verdict: Option<Verdict>,
    /// Whether trials are told what to draw their operations from: another number in each
    /// round of repeats, the same for all contenders.
    pub seeded: bool,
    /// What single parameters bring, as measured.
    pub contributions: Vec<Contribution>,
    /// Parameters that cannot be set back alone.
    pub bound: Vec<Bound>,
    /// What parameters seem to be worth by the search's own trials.
    pub estimates: Vec<Estimate>,
    /// What one should know before believing it: sentences.
    pub cautions: Vec<String>,
    /// What else one should know: sentences.
    pub notes: Vec<String>,
}

/// The best configuration.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Best {
    /// Its trial.
    pub trial: TrialId,
    /// Why it was tried.
    pub origin: String,
    /// What it is.
    pub configuration: Configuration,
    /// Whether it is the default configuration.
    pub is_default: bool,
    /// Seconds that it was measured for in the search.
    pub seconds: f64,
    /// Over these seconds.
    pub metrics: Metrics,
}

impl Findings {
    /// What a search found, from itself and everything that happened.
    ///
    /// # Errors
    /// Events that do not fit the search.
    pub(crate) fn of(
        plan: &Plan,
        search: &Search,
        events: &[Event],
        spent_seconds: f64,
    ) -> Result<Findings> {
        let setup = search.setup();
        let space = search.space();
        let choice = choose(search, events)?;
        let best = choice.as_ref().and_then(|it| best(search, it.trial));
        let chosen = choice.as_ref().zip(best.as_ref());
        let proof = proof::Proof::of(search, events, chosen)?;
        let mut findings = Findings {
            space: space.name().to_owned(),
            about: space.about().to_owned(),
            constants: space.constants().to_vec(),
            target: plan.target.name.clone(),
            measured_with: Vec::new(),
            objective: setup.objective.to_string(),
            goals: setup.objective.goals(),
            constraints: setup.constraints.iter().map(ToString::to_string).collect(),
            seed: setup.seed,
            workers: setup.method.workers,
            budget_seconds: setup.budget_seconds,
            spent_seconds,
            evaluation_seconds: setup.method.points.longest(),
            setup_seconds: search.setup_estimate(),
            arms: search.arms().count(),
            points: search.points().unwrap_or_default().to_vec(),
            reason: reason(events),
            cut_off: search.cut_off(),
            parameters: parameters::rows(space, best.as_ref()),
            trials: trials::rows(search, events),
            chosen: choice.as_ref().map(|it| it.contender),
            default: choice.as_ref().and_then(|it| it.default),
            estimates: match &best {
                Some(best) => estimates(search, &best.configuration),
                None => Vec::new(),
            },
            best,
            repeat_seconds: proof.seconds,
            repeats: proof.repeats,
            in_vain: came_to_nothing(events),
            verdict: proof.verdict,
            seeded: false,
            contributions: proof.contributions,
            bound: proof.bound,
            cautions: Vec::new(),
            notes: search.notes().to_vec(),
            against: BTreeMap::new(),
        };
        findings.notes.extend(told(search, findings.best.as_ref()));
        let too_short = choice.as_ref().and_then(|it| it.caution.clone());
        if let Some(choice) = choice {
            findings.against = choice.against;
            findings.notes.extend(choice.note);
        }
        findings.cautions = cautions::of(&findings, setup);
        findings.cautions.extend(too_short);
        Ok(findings)
    }

    /// Trials that failed.
    pub fn failures(&self) -> impl Iterator<Item = &TrialRow> {
        self.trials.iter().filter(|it| it.failure.is_some())
    }

    /// Whether there is a best that is worth applying: it is not the default, and its
    /// repeats say nothing against it.
    pub fn is_worth_applying(&self) -> bool {
        let flawed = self.chosen.is_some_and(|it| self.against.contains_key(&it));
        self.best.as_ref().is_some_and(|it| !it.is_default) && !flawed
    }
}

/// What its program told of the best's configuration: sentences.
fn told(search: &Search, best: Option<&Best>) -> Vec<String> {
    let trial = best.and_then(|it| search.trial(it.trial));
    let notes = trial.into_iter().flat_map(|it| &it.notes);
    notes.map(|note| format!("of the best, {note}")).collect()
}

/// Who is the best after the repeats; `None` if nothing was measured.
fn choose(search: &Search, events: &[Event]) -> Result<Option<Choice>> {
    if search.best().is_none() {
        return Ok(None);
    }
    let all: Vec<Repeated> = repeated(events).cloned().collect();
    let ran = planned_repeats(events).map_or(0.0, |it| it.seconds);
    Ok(Some(choice(search, &all, ran)?))
}

fn best(search: &Search, trial: TrialId) -> Option<Best> {
    let trial = search.trial(trial)?;
    let reading = trial.readings.last()?;
    Some(Best {
        trial: trial.id,
        origin: trial.origin.to_string(),
        configuration: trial.configuration.clone(),
        is_default: trial.configuration == search.space().default_configuration(),
        seconds: reading.seconds,
        metrics: reading.metrics.clone(),
    })
}

/// Why the search ended.
fn reason(events: &[Event]) -> String {
    let mut decisions = events.iter().filter_map(|event| match event {
        Event::Decision {
            decision: Decision::Done { reason, .. },
            ..
        } => Some(reason.clone()),
        _ => None,
    });
    decisions.next_back().unwrap_or_default()
}
