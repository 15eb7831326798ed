//! Which contender is believed once all of them were run again.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::judge::is_better;
use super::rounds::Rounds;
use super::{Contender, Repeated, contenders, default_among, medians};
use crate::error::{Result, SearchError};
use crate::objective::{Constraint, Metrics, Objective};
use crate::search::{Search, Trial, TrialId};
use crate::space::Configuration;

/// Who is believed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Choice {
    /// Who it is.
    pub contender: Contender,
    /// Its trial.
    pub trial: TrialId,
    /// Which contender runs the default configuration; absent if none does.
    pub default: Option<Contender>,
    /// What the repeats say against contenders: words that begin with `it` or `by`.
    pub against: BTreeMap<Contender, String>,
    /// Why it is not the search's best: a sentence without a full stop.
    pub note: Option<String>,
}

/// A contender as its repeats show it.
struct Candidate {
    contender: Contender,
    trial: TrialId,
    fate: Fate,
}

/// How a contender came through its repeats.
enum Fate {
    /// Nothing speaks against it.
    Kept,
    /// Others were run again, and it was not.
    Untold,
    /// By the median it exceeds bounds, by this sum of shares of them.
    Exceeded(f64, String),
    /// It failed.
    Failed(String),
}

/// The search's best, unless its repeats tell otherwise: one that failed, or whose
/// median exceeds a bound, or that was never repeated where others were, gives way to one of
/// which nothing of that holds; and one that is
/// better in every goal ([`Standing::Better`](super::Standing::Better)) takes its
/// place. A contender that failed in the search itself is never chosen.
///
/// # Errors
/// The search measured nothing; a metric that a goal needs is missing.
pub fn choice(search: &Search, repeated: &[Repeated]) -> Result<Choice> {
    let contenders = contenders(search)?;
    let objective = &search.setup().objective;
    let rounds = Rounds::of(objective, repeated)?;
    let candidates = candidates(search, &contenders, repeated)?;
    let fates = candidates.iter().map(|it| (it.contender, &it.fate));
    let believed = believed(&fates.collect::<Vec<_>>(), &rounds, objective);
    let chosen = candidates.iter().find(|it| Some(it.contender) == believed);
    let (Some(best), Some(chosen)) = (candidates.first(), chosen) else {
        return Err(SearchError::new(
            "no contender has a trial that was measured, so there is nothing to choose from",
        ));
    };
    Ok(Choice {
        contender: chosen.contender,
        trial: chosen.trial,
        default: default_among(search, &contenders),
        against: against(&candidates),
        note: note(best, chosen),
    })
}

/// Whether the repeats of a search's best are such that [`choice`] believes another one that was
/// run again; not of a best that was not run again itself.
///
/// # Errors
/// More than [`MOST_ROUNDS`](super::MOST_ROUNDS) rounds; a metric that a goal needs is missing.
pub(crate) fn is_refuted(
    objective: &Objective,
    constraints: &[Constraint],
    repeated: &[Repeated],
) -> Result<bool> {
    let rounds = Rounds::of(objective, repeated)?;
    let who: BTreeSet<Contender> = repeated.iter().map(|it| it.contender).collect();
    let mut fates = Vec::new();
    for contender in &who {
        let fate = repeated_fate(constraints, repeated, *contender)?;
        fates.extend(fate.map(|it| (*contender, it)));
    }
    let fates: Vec<(Contender, &Fate)> = fates.iter().map(|(who, it)| (*who, it)).collect();
    let believed = believed(&fates, &rounds, objective);
    Ok(who.contains(&Contender::Best) && believed != Some(Contender::Best))
}

/// The first against whom the least speaks, unless another one of these is better.
fn believed(
    fates: &[(Contender, &Fate)],
    rounds: &Rounds,
    objective: &Objective,
) -> Option<Contender> {
    let mut fit = fittest(fates);
    let first = fit.next()?;
    Some(fit.fold(first, |chosen, it| {
        if is_better(rounds, objective, (it, chosen)) {
            it
        } else {
            chosen
        }
    }))
}

/// Contenders that were measured in the search, in their order.
fn candidates(
    search: &Search,
    contenders: &[(Contender, Configuration)],
    repeated: &[Repeated],
) -> Result<Vec<Candidate>> {
    let order = search.order();
    let mut candidates = Vec::new();
    for (contender, configuration) in contenders {
        let mut measured = order.iter().filter_map(|id| search.trial(*id));
        let trial = measured.find(|it| it.configuration == *configuration);
        if let Some(trial) = trial {
            candidates.push(Candidate {
                contender: *contender,
                trial: trial.id,
                fate: fate(&search.setup().constraints, repeated, (*contender, trial))?,
            });
        }
    }
    Ok(candidates)
}

/// Those against whom the least speaks.
fn fittest(fates: &[(Contender, &Fate)]) -> impl Iterator<Item = Contender> {
    let keys = fates.iter().map(|(_, fate)| fate.key());
    let least = keys.min_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
    let fit = fates.iter();
    fit.filter(move |(_, fate)| Some(fate.key()) == least)
        .map(|(contender, _)| *contender)
}

fn fate(
    constraints: &[Constraint],
    repeated: &[Repeated],
    (contender, trial): (Contender, &Trial),
) -> Result<Fate> {
    Ok(match repeated_fate(constraints, repeated, contender)? {
        Some(fate) => fate,
        // Then the search has told it from the others.
        None if repeated.is_empty() => Fate::Kept,
        None => untold(constraints, trial),
    })
}

/// How a contender came through its repeats; `None` of one that was not run again.
fn repeated_fate(
    constraints: &[Constraint],
    repeated: &[Repeated],
    contender: Contender,
) -> Result<Option<Fate>> {
    let own = repeated.iter().filter(|it| it.contender == contender);
    let runs: Vec<Option<&Metrics>> = own.map(|it| it.metrics.as_ref()).collect();
    let failed = runs.iter().filter(|it| it.is_none()).count();
    if failed > 0 {
        let words = format!("it failed in {failed} of {} repeats", runs.len());
        return Ok(Some(Fate::Failed(words)));
    }
    let runs: Vec<&Metrics> = runs.into_iter().flatten().collect();
    let typical = medians(&runs)?;
    Ok(typical.map(|it| bounded(constraints, &it, "the median of its repeats")))
}

/// Of one that was not run again: whether it exceeded bounds in the search.
fn untold(constraints: &[Constraint], trial: &Trial) -> Fate {
    let reading = trial.readings.last();
    match reading.map(|it| bounded(constraints, &it.metrics, "what the search saw of it")) {
        Some(Fate::Kept) | None => Fate::Untold,
        Some(fate) => fate,
    }
}

/// How metrics stand to the bounds, by such figures.
fn bounded(constraints: &[Constraint], metrics: &Metrics, figures: &str) -> Fate {
    let (mut excess, mut words) = (0.0, Vec::new());
    for constraint in constraints {
        match (constraint.excess(metrics), metrics.get(constraint.metric())) {
            (Ok(share), Some(value)) if share > 0.0 => {
                excess += share;
                let digits = if value.abs() < 100.0 { 3 } else { 0 };
                words.push(format!("{} is {value:.digits$}", constraint.metric()));
            }
            (Ok(_), _) => {}
            (Err(error), _) => return Fate::Failed(error.to_string()),
        }
    }
    if words.is_empty() {
        return Fate::Kept;
    }
    let bounds: Vec<String> = constraints.iter().map(ToString::to_string).collect();
    let words = format!(
        "by {figures} {}, where {} is asked for",
        words.join(" and "),
        bounds.join(" and ")
    );
    Fate::Exceeded(excess, words)
}

impl Fate {
    /// The less, the better.
    fn key(&self) -> (u8, f64) {
        match self {
            Fate::Kept => (0, 0.0),
            Fate::Untold => (1, 0.0),
            Fate::Exceeded(excess, _) => (2, *excess),
            Fate::Failed(_) => (3, 0.0),
        }
    }

    fn words(&self) -> Option<&str> {
        match self {
            Fate::Kept => None,
            Fate::Untold => Some("it was not run again"),
            Fate::Exceeded(_, words) | Fate::Failed(words) => Some(words),
        }
    }
}

fn against(candidates: &[Candidate]) -> BTreeMap<Contender, String> {
    let words = candidates
        .iter()
        .filter_map(|it| Some((it.contender, it.fate.words()?.to_owned())));
    words.collect()
}

fn note(best: &Candidate, chosen: &Candidate) -> Option<String> {
    if best.contender == chosen.contender {
        return None;
    }
    let (first, other) = (
        best.trial,
        format!("{}, {}", chosen.trial, chosen.contender),
    );
    Some(match best.fate.words() {
        Some(words) => {
            format!("the search chose {first}, but {words}, so that {other}, is taken for the best")
        }
        None => format!(
            "the search chose {first}, but {other}, was better in all rounds of the repeats and is \
             taken for the best"
        ),
    })
}
