//! What parameters seem to be worth by the search's own trials.

use serde::{Deserialize, Serialize};

use crate::objective::Goal;
use crate::search::{Search, deviation, mean};
use crate::space::{Configuration, Difference, Kind, Setting};

/// What a parameter seems to be worth in one goal.
///
/// The trials whose setting is nearer to the best's are compared with those whose
/// setting is nearer to the default's, all else mixed; one in which it has no effect is
/// neither. Thirty trials of twenty parameters part no causes: two parameters that the
/// search moved together show the same effect. [`ablations`](super::ablations) measure it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Estimate {
    /// The parameter, from the default's setting to the best's.
    pub difference: Difference,
    /// The goal.
    pub goal: Goal,
    /// By which share the mean of those near the best is better.
    pub gain: f64,
    /// Standard error of the gain, as a share.
    pub error: f64,
    /// Trials near the best, itself included.
    pub near_best: usize,
    /// Trials near the default.
    pub near_default: usize,
}

/// Estimates for every parameter in which the best differs from the default and of
/// which at least two trials lie on either side; the largest gain of the first goal
/// first. Trials are compared at the first time point.
pub fn estimates(search: &Search, best: &Configuration) -> Vec<Estimate> {
    let default = search.space().default_configuration();
    let measured = measured(search);
    let mut estimates: Vec<Estimate> = Vec::new();
    for (place, goal) in search.setup().objective.goals().iter().enumerate() {
        let mut of_goal: Vec<Estimate> = default
            .differences(best)
            .into_iter()
            .filter_map(|difference| estimate(search, &measured, difference, place, goal))
            .collect();
        of_goal.sort_by(|one, other| other.gain.total_cmp(&one.gain));
        estimates.extend(of_goal);
    }
    estimates
}

/// Configurations and the values of their goals at the first time point.
fn measured(search: &Search) -> Vec<(&Configuration, Vec<f64>)> {
    let Some(first) = search.points().and_then(|points| points.first()) else {
        return Vec::new();
    };
    let trials = search.trials().iter();
    trials
        .filter_map(|trial| {
            let reading = trial.reading_at(*first)?;
            let values = search.setup().objective.values(&reading.metrics).ok()?;
            Some((&trial.configuration, values))
        })
        .collect()
}

fn estimate(
    search: &Search,
    measured: &[(&Configuration, Vec<f64>)],
    difference: Difference,
    place: usize,
    goal: &Goal,
) -> Option<Estimate> {
    let kind = &search.space().parameter(&difference.name)?.kind;
    let (from, to) = (difference.from.as_ref()?, difference.to.as_ref()?);
    let (mut near_best, mut near_default) = (Vec::new(), Vec::new());
    for (configuration, values) in measured {
        let active = search.space().is_active(&difference.name, configuration);
        if active.is_ok_and(|it| !it) {
            continue;
        }
        let setting = configuration.get(&difference.name)?;
        let value = *values.get(place)?;
        match nearer_to_best(kind, setting, from, to) {
            Some(true) => near_best.push(value),
            Some(false) => near_default.push(value),
            None => {}
        }
    }
    if near_best.len() < 2 || near_default.len() < 2 {
        return None;
    }
    let (mean_best, mean_default) = (mean(&near_best), mean(&near_default));
    let error = (squared_error(&near_best) + squared_error(&near_default)).sqrt();
    Some(Estimate {
        gain: goal.direction.gain(mean_best, mean_default),
        error: if mean_default == 0.0 {
            0.0
        } else {
            error / mean_default.abs()
        },
        near_best: near_best.len(),
        near_default: near_default.len(),
        difference,
        goal: goal.clone(),
    })
}

/// The squared standard error of a mean.
fn squared_error(values: &[f64]) -> f64 {
    deviation(values).powi(2) / values.len() as f64
}

/// On which side a setting lies; `None` in the middle, or a word that is neither.
fn nearer_to_best(kind: &Kind, setting: &Setting, from: &Setting, to: &Setting) -> Option<bool> {
    let place = |setting: &Setting| kind.position(setting);
    match (place(setting), place(from), place(to)) {
        (Some(setting), Some(from), Some(to)) => {
            let (to_best, to_default) = ((setting - to).abs(), (setting - from).abs());
            (to_best != to_default).then_some(to_best < to_default)
        }
        _ if setting == to => Some(true),
        _ if setting == from => Some(false),
        _ => None,
    }
}
