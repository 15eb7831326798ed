//! Repeats and ablations, and what they say.

use serde::Serialize;

use lissom_search::objective::Metrics;
use lissom_search::record::Event;
use lissom_search::search::Search;
use lissom_search::space::Difference;
use lissom_search::verdict::{
    Ablated, Choice, Contender, Figure, Repeated, Verdict, ablations, contribution, judge_repeats,
    medians,
};

use super::Best;
use crate::error::Result;
use crate::session::planned_repeats;

/// A repeat.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RepeatRow {
    /// Its round.
    pub round: u32,
    /// Who ran.
    pub contender: Contender,
    /// Seconds by the clock since the search began.
    pub spent: f64,
    /// One for each goal; absent if it failed.
    pub values: Option<Vec<f64>>,
}

/// What a parameter brings: the median of the best's repeats against one run of the
/// best without it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Contribution {
    /// The parameter, from the default's setting to the best's.
    pub difference: Difference,
    /// By which share the best is better than without it, one for each goal; absent
    /// if it failed without it.
    pub gains: Option<Vec<f64>>,
    /// Half the range of the best's repeats, as shares of their median: smaller gains
    /// may be chance.
    pub spreads: Vec<f64>,
}

/// A parameter that cannot be set back alone.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Bound {
    /// The parameter, from the default's setting to the best's.
    pub difference: Difference,
    /// The rule that would be broken.
    pub rule: String,
}

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Proof {
    pub seconds: Option<f64>,
    pub repeats: Vec<RepeatRow>,
    pub verdict: Option<Verdict>,
    pub contributions: Vec<Contribution>,
    pub bound: Vec<Bound>,
}

impl Proof {
    /// Of what happened after the search; empty without a best.
    pub fn of(
        search: &Search,
        events: &[Event],
        chosen: Option<(&Choice, &Best)>,
    ) -> Result<Proof> {
        let Some((choice, best)) = chosen else {
            return Ok(Proof::default());
        };
        let objective = &search.setup().objective;
        let repeated: Vec<(f64, &Repeated)> = events.iter().filter_map(repeated).collect();
        let all: Vec<Repeated> = repeated.iter().map(|(_, it)| (*it).clone()).collect();
        let rows = repeated.iter().map(|(at, it)| RepeatRow {
            round: it.round,
            contender: it.contender,
            spent: *at,
            values: it.metrics.as_ref().and_then(|it| objective.values(it).ok()),
        });
        let default = search.space().default_configuration();
        let parameters = ablations(search.space(), &default, &best.configuration)?;
        Ok(Proof {
            seconds: planned_repeats(events).map(|it| it.seconds),
            repeats: rows.collect(),
            verdict: (!all.is_empty())
                .then(|| judge_repeats(objective, &all, choice.contender))
                .transpose()?,
            contributions: contributions(
                search,
                events,
                &of_best(&all, choice.contender),
                &default.differences(&best.configuration),
            )?,
            bound: parameters
                .bound
                .into_iter()
                .map(|(difference, rule)| Bound { difference, rule })
                .collect(),
        })
    }
}

fn repeated(event: &Event) -> Option<(f64, &Repeated)> {
    match event {
        Event::Repeated { at, repeated } => Some((*at, repeated)),
        _ => None,
    }
}

/// What was measured of the best in its repeats.
fn of_best(repeated: &[Repeated], chosen: Contender) -> Vec<&Metrics> {
    let own = repeated.iter().filter(|it| it.contender == chosen);
    own.filter_map(|it| it.metrics.as_ref()).collect()
}

fn contributions(
    search: &Search,
    events: &[Event],
    best: &[&Metrics],
    differences: &[Difference],
) -> Result<Vec<Contribution>> {
    let objective = &search.setup().objective;
    let Some(typical) = medians(best)? else {
        return Ok(Vec::new());
    };
    let spreads = spreads(search, best)?;
    let ablated = events.iter().filter_map(|event| match event {
        Event::Ablated { ablated, .. } => Some(ablated),
        _ => None,
    });
    let mut contributions = Vec::new();
    for Ablated {
        parameter, metrics, ..
    } in ablated
    {
        let Some(difference) = differences.iter().find(|it| it.name == *parameter) else {
            continue;
        };
        contributions.push(Contribution {
            difference: difference.clone(),
            gains: metrics
                .as_ref()
                .map(|without| contribution(objective, &typical, without))
                .transpose()?,
            spreads: spreads.clone(),
        });
    }
    // What matters most comes first; without what it failed matters more than that.
    let worth = |it: &Contribution| match &it.gains {
        Some(gains) => gains.first().copied().unwrap_or(0.0),
        None => f64::INFINITY,
    };
    contributions.sort_by(|one, other| worth(other).total_cmp(&worth(one)));
    Ok(contributions)
}

/// How far the goals of several runs lie apart.
fn spreads(search: &Search, runs: &[&Metrics]) -> Result<Vec<f64>> {
    let objective = &search.setup().objective;
    let goals = runs
        .iter()
        .map(|it| objective.values(it))
        .collect::<lissom_search::Result<Vec<_>>>()?;
    let spreads = (0..objective.goals().len()).map(|place| {
        let values = goals.iter().filter_map(|it| it.get(place).copied());
        Figure::of(values.collect()).map_or(0.0, |it| spread(&it))
    });
    Ok(spreads.collect())
}

/// Half the range as a share of the median.
fn spread(figure: &Figure) -> f64 {
    if figure.median == 0.0 {
        return 0.0;
    }
    (figure.max - figure.min) / 2.0 / figure.median.abs()
}
