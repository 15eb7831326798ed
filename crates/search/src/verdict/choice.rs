//! Which contender is believed once all of them were run again.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::judge::{LEAST_ROUNDS, is_better};
use super::rounds::Rounds;
use super::{Contender, Repeated, contenders, default_among, medians};
use crate::error::{Result, SearchError};
use crate::objective::{Constraint, Metrics, Objective};
use crate::search::{REACHED, Search, Trial, TrialId};
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
    /// Who was better in repeats too short to choose by: a sentence without a full stop.
    pub caution: Option<String>,
}

/// Seconds of running that the repeats and the search judge by.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Lengths {
    /// What each repeat ran.
    pub repeats: f64,
    /// What the search's best ran.
    pub search: f64,
}

impl Lengths {
    /// Whether figures of the repeats may overturn those of the search: a store that pays for its
    /// writes late looks good until it does.
    fn may_overturn(self) -> bool {
        self.repeats >= self.search * REACHED
    }
}

/// Who might be believed after the repeats.
struct Belief {
    /// The first against whom the least speaks.
    first: Contender,
    /// Of these the one that is better than the first; the first itself where none is.
    winner: Contender,
    /// The one that runs the default configuration, where it is of these and better than the first.
    default: Option<Contender>,
}

impl Belief {
    /// Who it is, if repeats and search ran so long. Who proves worse than the default is not to be
    /// applied, however long it was looked at.
    fn believed(&self, lengths: Lengths) -> Contender {
        if lengths.may_overturn() {
            self.winner
        } else {
            self.default.unwrap_or(self.first)
        }
    }
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

/// The search's best, unless its repeats, which ran so many seconds each, tell otherwise: one
/// that failed, or whose median exceeds a bound, or that was never repeated where another one was
/// in [`LEAST_ROUNDS`] rounds, gives way to one of which nothing of that holds; and one that is
/// better in every goal ([`Standing::Better`](super::Standing::Better)) takes its
/// place, if it is the default, or if repeats ran as long as the best did in the search. A contender
/// that failed in the search itself is never chosen.
///
/// # Errors
/// The search measured nothing; a metric that a goal needs is missing.
pub fn choice(search: &Search, repeated: &[Repeated], seconds: f64) -> Result<Choice> {
    let contenders = contenders(search)?;
    let objective = &search.setup().objective;
    let rounds = Rounds::of(objective, repeated)?;
    let candidates = candidates(search, &contenders, repeated)?;
    let fates = candidates.iter().map(|it| (it.contender, &it.fate));
    let default = default_among(search, &contenders);
    let belief = belief(&fates.collect::<Vec<_>>(), &rounds, objective, default);
    let lengths = Lengths {
        repeats: seconds,
        search: judged_by(search),
    };
    let believed = belief.as_ref().map(|it| it.believed(lengths));
    let chosen = candidates.iter().find(|it| Some(it.contender) == believed);
    let (Some(best), Some(chosen)) = (candidates.first(), chosen) else {
        return Err(SearchError::new(
            "no contender has a trial that was measured, so there is nothing to choose from",
        ));
    };
    Ok(Choice {
        contender: chosen.contender,
        trial: chosen.trial,
        default,
        against: against(&candidates),
        note: note(best, chosen),
        caution: belief.and_then(|it| caution(&it, lengths)),
    })
}

/// Whether the repeats of a search's best are such that [`choice`] believes another one that was
/// run again; not of a best that was not run again itself. `measured` are the contenders that did not
/// fail in the search, and `default` is the one that runs the default configuration.
///
/// # Errors
/// More than [`MOST_ROUNDS`](super::MOST_ROUNDS) rounds; a metric that a goal needs is missing.
pub(crate) fn is_refuted(
    objective: &Objective,
    constraints: &[Constraint],
    repeated: &[Repeated],
    lengths: Lengths,
    (measured, default): (&BTreeSet<Contender>, Option<Contender>),
) -> Result<bool> {
    let rounds = Rounds::of(objective, repeated)?;
    let who: BTreeSet<Contender> = repeated.iter().map(|it| it.contender).collect();
    let who = &who & measured;
    let mut fates = Vec::new();
    for contender in &who {
        let fate = repeated_fate(constraints, repeated, *contender)?;
        fates.extend(fate.map(|it| (*contender, it)));
    }
    let fates: Vec<(Contender, &Fate)> = fates.iter().map(|(who, it)| (*who, it)).collect();
    let believed = belief(&fates, &rounds, objective, default).map(|it| it.believed(lengths));
    Ok(who.contains(&Contender::Best) && believed != Some(Contender::Best))
}

/// Seconds that the search's best was measured for.
fn judged_by(search: &Search) -> f64 {
    let best = search.best().and_then(|it| search.trial(it));
    best.map_or(0.0, Trial::reached)
}

/// By fates, then by rounds; `None` of nobody.
fn belief(
    fates: &[(Contender, &Fate)],
    rounds: &Rounds,
    objective: &Objective,
    default: Option<Contender>,
) -> Option<Belief> {
    let fit: Vec<Contender> = fittest(fates, rounds).collect();
    let first = *fit.first()?;
    let better = |one, other| is_better(rounds, objective, (one, other));
    let winner = fit.iter().fold(
        first,
        |chosen, it| if better(*it, chosen) { *it } else { chosen },
    );
    Some(Belief {
        first,
        winner,
        default: default.filter(|it| fit.contains(it) && better(*it, first)),
    })
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
fn fittest(fates: &[(Contender, &Fate)], rounds: &Rounds) -> impl Iterator<Item = Contender> {
    let proven = is_next_proven(fates, rounds);
    // Who gives way to those that were run again is the best alone.
    let key = move |who: Contender, fate: &Fate| fate.key(proven || who != Contender::Best);
    let keys = fates.iter().map(|(who, fate)| key(*who, fate));
    let least = keys.min_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
    let fit = fates.iter();
    fit.filter(move |(who, fate)| Some(key(*who, fate)) == least)
        .map(|(contender, _)| *contender)
}

/// Whether the one to whom those that were not run again would give way came through enough
/// rounds: fewer prove nothing, and what is missing of the others the machine may have lost.
fn is_next_proven(fates: &[(Contender, &Fate)], rounds: &Rounds) -> bool {
    let next = fates.iter().find(|(_, fate)| matches!(fate, Fate::Kept));
    next.is_some_and(|(next, _)| rounds.common(&BTreeSet::from([*next])).count() >= LEAST_ROUNDS)
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
    /// The less, the better. Not to have been run again counts only where another one has
    /// `proven` itself.
    fn key(&self, proven: bool) -> (u8, f64) {
        match self {
            Fate::Kept => (0, 0.0),
            Fate::Untold => (u8::from(proven), 0.0),
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

/// That one was better, where the repeats are too short to choose by.
fn caution(belief: &Belief, lengths: Lengths) -> Option<String> {
    let winner = belief.winner;
    (winner != belief.believed(lengths)).then(|| {
        format!(
            "{winner} was better in all rounds of the repeats, but they ran {:.0} s of the {:.0} s \
             by which the search judged, too short to choose it by: give a longer --budget, \
             or a shorter --evaluation",
            lengths.repeats, lengths.search
        )
    })
}
