//! What repeats say.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::rounds::Rounds;
use super::{Contender, Figure, MOST_ROUNDS};
use crate::error::Result;
use crate::objective::{Direction, Goal, Metrics, Objective};

/// Fewer rounds than these three have hardly a spread, and prove nothing.
pub const LEAST_ROUNDS: usize = 3;

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
    /// Rounds in which everybody was measured who ever was.
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
    /// Each contender's values in the complete rounds.
    pub figures: BTreeMap<Contender, Figure>,
    /// The chosen contender against each other one.
    pub comparisons: Vec<Comparison>,
}

/// The chosen contender, the best, against another one in one goal.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// The other.
    pub against: Contender,
    /// How the best stands.
    pub standing: Standing,
    /// By which share of the other's median the best's is better.
    pub gain: f64,
    /// The best's median as a multiple of the other's, where both are above 0.
    #[serde(default)]
    pub ratio: Option<f64>,
    /// How likely the best would win its rounds by as much, were both the same; where it is
    /// worse, lose them by as much: the share of all ways to swap them within rounds (a
    /// permutation test, exact).
    pub chance: f64,
    /// Rounds in which both were measured; only these count.
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

/// Judges repeats of the contenders that occur in them: `chosen` against each other.
///
/// # Errors
/// More than [`MOST_ROUNDS`](super::MOST_ROUNDS) rounds; a metric that a goal needs is
/// missing.
pub fn judge_repeats(
    objective: &Objective,
    repeated: &[Repeated],
    chosen: Contender,
) -> Result<Verdict> {
    let rounds = Rounds::of(objective, repeated)?;
    let complete = rounds.common(&rounds.contenders());
    let goals = objective.goals().into_iter().enumerate();
    Ok(Verdict {
        complete_rounds: complete.count(),
        failures: failures(repeated),
        goals: goals
            .map(|(place, goal)| GoalVerdict {
                figures: figures(&complete, place),
                comparisons: comparisons(&rounds, &goal, place, chosen),
                goal,
            })
            .collect(),
    })
}

fn failures(repeated: &[Repeated]) -> BTreeMap<Contender, usize> {
    let mut failures: BTreeMap<Contender, usize> = BTreeMap::new();
    for it in repeated.iter().filter(|it| it.metrics.is_none()) {
        *failures.entry(it.contender).or_default() += 1;
    }
    failures
}

fn figures(rounds: &Rounds, place: usize) -> BTreeMap<Contender, Figure> {
    let contenders = rounds.contenders().into_iter();
    contenders
        .filter_map(|contender| Some((contender, rounds.figure(contender, place)?)))
        .collect()
}

fn comparisons(rounds: &Rounds, goal: &Goal, place: usize, chosen: Contender) -> Vec<Comparison> {
    let others = rounds.contenders().into_iter().filter(|it| *it != chosen);
    others
        .filter_map(|other| compare(rounds, goal, place, (chosen, other)))
        .collect()
}

/// Whether one contender is better than another in every goal.
pub(super) fn is_better(
    rounds: &Rounds,
    objective: &Objective,
    pair: (Contender, Contender),
) -> bool {
    let goals = objective.goals();
    goals.iter().enumerate().all(|(place, goal)| {
        compare(rounds, goal, place, pair).is_some_and(|it| it.standing == Standing::Better)
    })
}

/// One contender against another in the rounds in which both were measured.
fn compare(
    rounds: &Rounds,
    goal: &Goal,
    place: usize,
    (chosen, against): (Contender, Contender),
) -> Option<Comparison> {
    let rounds = rounds.common(&BTreeSet::from([chosen, against]));
    let (best, other) = (
        rounds.figure(chosen, place)?,
        rounds.figure(against, place)?,
    );
    let direction = goal.direction;
    let pairs = best.values.iter().zip(&other.values);
    let wins = pairs.map(|(best, other)| direction.upwards(best - other));
    let standing = standing(direction, &best, &other);
    let towards = if standing == Standing::Worse {
        -1.0
    } else {
        1.0
    };
    let differences: Vec<f64> = wins.map(|win| towards * win).collect();
    Some(Comparison {
        against,
        standing,
        gain: direction.gain(best.median, other.median),
        ratio: (best.median > 0.0 && other.median > 0.0).then(|| best.median / other.median),
        chance: chance(&differences),
        rounds: rounds.count(),
    })
}

fn standing(direction: Direction, best: &Figure, other: &Figure) -> Standing {
    let (above, below) = (best.min > other.max, best.max < other.min);
    let (better, worse) = match direction {
        Direction::Maximise => (above, below),
        Direction::Minimise => (below, above),
    };
    if best.values.len() < LEAST_ROUNDS {
        Standing::Tie
    } else if better {
        Standing::Better
    } else if worse {
        Standing::Worse
    } else {
        Standing::Tie
    }
}

/// The share of all signs of these differences whose sum is at least theirs.
fn chance(differences: &[f64]) -> f64 {
    let seen: f64 = differences.iter().sum();
    // Sums of the same numbers in another order differ by rounding.
    let slack = differences.iter().map(|it| it.abs()).sum::<f64>() * 1e-12;
    let ways = 1u32 << differences.len().min(MOST_ROUNDS as usize);
    let as_much = (0..ways).filter(|signs| {
        let signed = differences.iter().enumerate().map(|(place, it)| {
            let turned = (signs >> place) & 1 == 1;
            if turned { -it } else { *it }
        });
        signed.sum::<f64>() >= seen - slack
    });
    as_much.count() as f64 / f64::from(ways)
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
