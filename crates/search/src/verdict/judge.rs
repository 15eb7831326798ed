//! What repeats say.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Contender, Figure, MOST_ROUNDS};
use crate::error::{Result, SearchError};
use crate::objective::{Direction, Goal, Metrics, Objective};

/// Fewer rounds have hardly a spread, and prove nothing.
const LEAST_ROUNDS: usize = 3;

/// What came of a repeat.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Repeated {
    /// The round.
    pub round: u32,
    /// Who ran.
    pub contender: Contender,
    /// What was measured; absent if it failed.
    pub metrics: Option<Metrics>,
}

/// How sure one can be of the best.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Verdict {
    /// Rounds in which every contender was measured; only these count.
    pub complete_rounds: usize,
    /// Repeats that failed, by contender.
    pub failures: BTreeMap<Contender, usize>,
    /// One for each goal of the objective.
    pub goals: Vec<GoalVerdict>,
}

/// The verdict on one goal.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct GoalVerdict {
    /// The goal.
    pub goal: Goal,
    /// Each contender's values.
    pub figures: BTreeMap<Contender, Figure>,
    /// The best against each other contender.
    pub comparisons: Vec<Comparison>,
}

/// The best against another contender in one goal.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// The other.
    pub against: Contender,
    /// How the best stands.
    pub standing: Standing,
    /// By which share of the other's median the best's is better.
    pub gain: f64,
    /// How likely the best would win its rounds by as much, were both the same: the
    /// share of all ways to swap them within rounds (a permutation test, exact).
    pub chance: f64,
    /// Rounds.
    pub rounds: usize,
}

/// How the best stands against another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Better in every round than the other in any.
    Better,
    /// The ranges meet, or there are fewer than three rounds.
    Tie,
    /// Worse in every round than the other in any.
    Worse,
}

/// Judges repeats of the contenders that occur in them.
///
/// # Errors
/// More than [`MOST_ROUNDS`] rounds; a metric that a goal needs is missing.
pub fn judge_repeats(objective: &Objective, repeated: &[Repeated]) -> Result<Verdict> {
    let contenders: BTreeSet<Contender> = repeated.iter().map(|it| it.contender).collect();
    let mut rounds: BTreeMap<u32, BTreeMap<Contender, Vec<f64>>> = BTreeMap::new();
    let mut failures: BTreeMap<Contender, usize> = BTreeMap::new();
    for it in repeated {
        match &it.metrics {
            Some(metrics) => {
                let values = objective.values(metrics)?;
                rounds
                    .entry(it.round)
                    .or_default()
                    .insert(it.contender, values);
            }
            None => *failures.entry(it.contender).or_default() += 1,
        }
    }
    let complete: Vec<BTreeMap<Contender, Vec<f64>>> = rounds
        .into_values()
        .filter(|round| round.len() == contenders.len())
        .collect();
    if complete.len() > MOST_ROUNDS as usize {
        return Err(SearchError::new(format!(
            "{} rounds of repeats are too many to judge: choose at most {MOST_ROUNDS}",
            complete.len()
        )));
    }
    let goals = objective.goals().into_iter().enumerate();
    Ok(Verdict {
        complete_rounds: complete.len(),
        failures,
        goals: goals
            .map(|(place, goal)| judge_goal(place, goal, &contenders, &complete))
            .collect(),
    })
}

fn judge_goal(
    place: usize,
    goal: Goal,
    contenders: &BTreeSet<Contender>,
    rounds: &[BTreeMap<Contender, Vec<f64>>],
) -> GoalVerdict {
    let values = |contender: &Contender| -> Vec<f64> {
        let values = rounds.iter().filter_map(|round| round.get(contender));
        values
            .filter_map(|values| values.get(place))
            .copied()
            .collect()
    };
    let figures: BTreeMap<Contender, Figure> = contenders
        .iter()
        .filter_map(|contender| Some((*contender, Figure::of(values(contender))?)))
        .collect();
    let best = figures.get(&Contender::Best);
    let others = figures.iter().filter(|(it, _)| **it != Contender::Best);
    let comparisons = others
        .filter_map(|(against, other)| Some(compare(goal.direction, best?, *against, other)))
        .collect();
    GoalVerdict {
        goal,
        figures,
        comparisons,
    }
}

fn compare(direction: Direction, best: &Figure, against: Contender, other: &Figure) -> Comparison {
    let (above, below) = (best.min > other.max, best.max < other.min);
    let (better, worse) = match direction {
        Direction::Maximise => (above, below),
        Direction::Minimise => (below, above),
    };
    let rounds = best.values.len();
    let standing = if rounds < LEAST_ROUNDS {
        Standing::Tie
    } else if better {
        Standing::Better
    } else if worse {
        Standing::Worse
    } else {
        Standing::Tie
    };
    let pairs = best.values.iter().zip(&other.values);
    let wins: Vec<f64> = pairs
        .map(|(best, other)| direction.upwards(best - other))
        .collect();
    Comparison {
        against,
        standing,
        gain: direction.gain(best.median, other.median),
        chance: chance(&wins),
        rounds,
    }
}

/// The share of all signs of these differences whose sum is at least theirs.
fn chance(wins: &[f64]) -> f64 {
    let seen: f64 = wins.iter().sum();
    // Sums of the same numbers in another order differ by rounding.
    let slack = wins.iter().map(|win| win.abs()).sum::<f64>() * 1e-12;
    let ways = 1u32 << wins.len().min(MOST_ROUNDS as usize);
    let as_good = (0..ways).filter(|signs| {
        let signed = wins.iter().enumerate().map(|(place, win)| {
            let turned = (signs >> place) & 1 == 1;
            if turned { -win } else { *win }
        });
        signed.sum::<f64>() >= seen - slack
    });
    as_good.count() as f64 / f64::from(ways)
}

/// A sentence without a full stop.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.gain.abs() * 100.0;
        let word = if self.gain < 0.0 { "worse" } else { "better" };
        write!(
            f,
            "{percent:.1} % {word} than {} by the median of {} rounds",
            self.against, self.rounds
        )?;
        match self.standing {
            Standing::Tie if self.rounds < LEAST_ROUNDS => {
                write!(f, ", which are too few to tell")
            }
            Standing::Tie => write!(f, ", which is inside the spread: a tie"),
            Standing::Better | Standing::Worse => {
                write!(f, ", outside the spread; chance alone: {:.3}", self.chance)
            }
        }
    }
}
