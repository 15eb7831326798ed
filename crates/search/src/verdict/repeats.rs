//! Best, runner-up and default again, by turns.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Result, SearchError};
use crate::search::Search;
use crate::space::Configuration;

/// More rounds than this are not needed: with 16, chance alone wins all of them
/// once in 65,536 times.
pub const MOST_ROUNDS: u32 = 16;

/// Who is repeated.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contender {
    /// What the search found.
    Best,
    /// What it would have found otherwise.
    RunnerUp,
    /// The default configuration.
    Default,
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Contender::Best => "the search's best",
            Contender::RunnerUp => "the runner-up",
            Contender::Default => "the default",
        })
    }
}

/// One run of one contender.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Repeat {
    /// The round, from 1; each holds every contender once.
    pub round: u32,
    /// Who runs.
    pub contender: Contender,
    /// What it is.
    pub configuration: Configuration,
    /// How long, in seconds.
    pub seconds: f64,
}

/// Who should be repeated after a search: the best, the runner-up if there is one,
/// and the default if it is neither of these and breaks no rule.
///
/// # Errors
/// The search measured nothing.
pub fn contenders(search: &Search) -> Result<Vec<(Contender, Configuration)>> {
    let order = search.order();
    let places = [Contender::Best, Contender::RunnerUp];
    let ranked = order.iter().filter_map(|id| search.trial(*id));
    let mut contenders: Vec<(Contender, Configuration)> = places
        .into_iter()
        .zip(ranked.map(|trial| trial.configuration.clone()))
        .collect();
    if contenders.is_empty() {
        return Err(SearchError::new(
            "the search measured no configuration, so there is nothing to repeat: see why its \
             trials failed",
        ));
    }
    let default = search.space().default_configuration();
    let fresh = contenders.iter().all(|(_, known)| *known != default);
    if fresh && search.space().check(&default).is_ok() {
        contenders.push((Contender::Default, default));
    }
    Ok(contenders)
}

/// Which contender runs the default configuration; `None` where the rules forbid it.
pub fn default_among(
    search: &Search,
    contenders: &[(Contender, Configuration)],
) -> Option<Contender> {
    let default = search.space().default_configuration();
    let found = contenders.iter().find(|(_, known)| *known == default);
    found.map(|(contender, _)| *contender)
}

/// Rounds of all contenders, each round beginning with the next of them, so that a
/// machine that drifts favours none.
///
/// # Errors
/// No contender; rounds or seconds that make no sense.
pub fn repeats(
    contenders: &[(Contender, Configuration)],
    rounds: u32,
    seconds: f64,
) -> Result<Vec<Repeat>> {
    if contenders.is_empty() {
        return Err(SearchError::new(
            "nobody is to be repeated: name at least one",
        ));
    }
    if !(1..=MOST_ROUNDS).contains(&rounds) {
        return Err(SearchError::new(format!(
            "{rounds} rounds of repeats cannot be: choose from 1 to {MOST_ROUNDS}"
        )));
    }
    if !(seconds.is_finite() && seconds > 0.0) {
        return Err(SearchError::new(format!(
            "repeats of {seconds} s cannot be: choose seconds above 0"
        )));
    }
    let mut plan = Vec::new();
    for round in 1..=rounds {
        let first = (round - 1) as usize % contenders.len();
        let (behind, ahead) = contenders.split_at(first);
        for (contender, configuration) in ahead.iter().chain(behind) {
            plan.push(Repeat {
                round,
                contender: *contender,
                configuration: configuration.clone(),
                seconds,
            });
        }
    }
    Ok(plan)
}

/// What repeats take by the clock, one after the other: the reserve that a search
/// must keep for them.
pub fn repeats_seconds(contenders: usize, rounds: u32, seconds: f64, setup_seconds: f64) -> f64 {
    contenders as f64 * f64::from(rounds) * (seconds + setup_seconds)
}

/// How many whole rounds fit into the time left, at most [`MOST_ROUNDS`].
pub fn rounds_within(left: f64, contenders: usize, seconds: f64, setup_seconds: f64) -> u32 {
    let round = repeats_seconds(contenders, 1, seconds, setup_seconds);
    if round > 0.0 {
        // The conversion saturates, and takes what is no number as 0.
        ((left / round) as u32).min(MOST_ROUNDS)
    } else {
        0
    }
}
