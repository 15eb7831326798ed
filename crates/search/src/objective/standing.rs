//! Which of several trials is better.

use super::{Constraint, Metrics, Objective};
use crate::error::Result;

/// How a trial stands before it is compared with others.
#[derive(Clone, PartialEq, Debug)]
pub enum Standing {
    /// It keeps all constraints. One number for each goal, more is better.
    Kept(Vec<f64>),
    /// It exceeds constraints, by this sum of shares of their bounds.
    Exceeded(f64),
    /// It failed.
    Failed,
}

/// How the measurements of a trial stand.
///
/// # Errors
/// A metric is missing that the objective or a constraint needs, or a formula comes
/// to no number.
pub fn judge(
    objective: &Objective,
    constraints: &[Constraint],
    metrics: &Metrics,
) -> Result<Standing> {
    let values = objective.values(metrics)?;
    let mut excess = 0.0;
    for constraint in constraints {
        excess += constraint.excess(metrics)?;
    }
    if excess > 0.0 {
        return Ok(Standing::Exceeded(excess));
    }
    let goals = objective.goals();
    let upwards = goals.iter().zip(values);
    Ok(Standing::Kept(
        upwards
            .map(|(goal, value)| goal.direction.upwards(value))
            .collect(),
    ))
}

/// Trials in order, and numbers to compare them by.
#[derive(Clone, PartialEq, Debug)]
pub struct Ranking {
    /// Places of the given standings, the best first. Trials that keep all
    /// constraints come before those that do not, and these before failed ones; of
    /// equal ones the earlier comes first.
    pub order: Vec<usize>,
    /// A number for each given standing, more is better: the goal itself where
    /// there is one; with two goals the negative of the worse rank. Trials that
    /// exceed constraints or failed get the worst number of those that kept them; where
    /// nobody keeps them, trials that exceed them the negative of the excess.
    pub scores: Vec<f64>,
}

impl Ranking {
    /// Compares trials with each other.
    pub fn of(standings: &[Standing]) -> Ranking {
        let scores = scores(standings);
        let key = |at: &usize| match &standings[*at] {
            Standing::Kept(goals) => (0, -scores[*at], -rank_sum(standings, goals)),
            Standing::Exceeded(excess) => (1, *excess, 0.0),
            Standing::Failed => (2, 0.0, 0.0),
        };
        let mut order: Vec<usize> = (0..standings.len()).collect();
        order.sort_by(|one, other| {
            let (one, other) = (key(one), key(other));
            one.0
                .cmp(&other.0)
                .then(one.1.total_cmp(&other.1))
                .then(one.2.total_cmp(&other.2))
        });
        Ranking { order, scores }
    }
}

fn kept(standings: &[Standing]) -> impl Iterator<Item = &[f64]> {
    standings.iter().filter_map(|standing| match standing {
        Standing::Kept(goals) => Some(goals.as_slice()),
        _ => None,
    })
}

fn scores(standings: &[Standing]) -> Vec<f64> {
    let nobody = kept(standings).next().is_none();
    let own = standings.iter().map(|standing| match standing {
        Standing::Kept(goals) => Some(score(standings, goals)),
        Standing::Exceeded(excess) if nobody => Some(-excess),
        _ => None,
    });
    let own: Vec<Option<f64>> = own.collect();
    let worst = own.iter().flatten().copied().reduce(f64::min);
    own.into_iter()
        .map(|score| score.or(worst).unwrap_or(0.0))
        .collect()
}

/// One goal counts itself, of several the worst rank.
fn score(standings: &[Standing], goals: &[f64]) -> f64 {
    match goals {
        [only] => *only,
        _ => {
            let ranks = (0..goals.len()).map(|goal| rank(standings, goals, goal));
            -(ranks.max().unwrap_or(0) as f64)
        }
    }
}

/// The place of these goals in one of them, from 1 for the best.
fn rank(standings: &[Standing], goals: &[f64], goal: usize) -> usize {
    1 + kept(standings)
        .filter(|other| other.get(goal) > goals.get(goal))
        .count()
}

/// Tells trials of the same worst rank apart: the better the other rank, the more.
fn rank_sum(standings: &[Standing], goals: &[f64]) -> f64 {
    if goals.len() < 2 {
        return 0.0;
    }
    let ranks = (0..goals.len()).map(|goal| rank(standings, goals, goal));
    -(ranks.sum::<usize>() as f64)
}

/// The places of trials that keep all constraints and that no other such trial
/// beats in one goal without losing in another (Pareto), in the given order.
pub fn front(standings: &[Standing]) -> Vec<usize> {
    let beaten = |goals: &[f64]| {
        kept(standings).any(|other| {
            let mut pairs = other.iter().zip(goals);
            other != goals && pairs.all(|(theirs, ours)| theirs >= ours)
        })
    };
    let all = standings.iter().enumerate();
    all.filter_map(|(at, standing)| match standing {
        Standing::Kept(goals) if !beaten(goals) => Some(at),
        _ => None,
    })
    .collect()
}
