//! What was measured, by round.

use std::collections::{BTreeMap, BTreeSet};

use super::{Contender, Figure, MOST_ROUNDS, Repeated};
use crate::error::{Result, SearchError};
use crate::objective::Objective;

/// The values of the goals of each contender, for each round in which any was
/// measured.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Rounds(Vec<BTreeMap<Contender, Vec<f64>>>);

impl Rounds {
    /// Of these repeats; failed ones are left out.
    pub fn of(objective: &Objective, repeated: &[Repeated]) -> Result<Rounds> {
        let mut rounds: BTreeMap<u32, BTreeMap<Contender, Vec<f64>>> = BTreeMap::new();
        for it in repeated {
            if let Some(metrics) = &it.metrics {
                let values = objective.values(metrics)?;
                rounds
                    .entry(it.round)
                    .or_default()
                    .insert(it.contender, values);
            }
        }
        if rounds.len() > MOST_ROUNDS as usize {
            return Err(SearchError::new(format!(
                "{} rounds of repeats are too many to judge: choose at most {MOST_ROUNDS}",
                rounds.len()
            )));
        }
        Ok(Rounds(rounds.into_values().collect()))
    }

    /// Everybody who was measured in any of them.
    pub fn contenders(&self) -> BTreeSet<Contender> {
        let rounds = self.0.iter();
        rounds.flat_map(|round| round.keys().copied()).collect()
    }

    /// Those in which all of these were measured.
    pub fn common(&self, contenders: &BTreeSet<Contender>) -> Rounds {
        let complete = |round: &&BTreeMap<Contender, Vec<f64>>| {
            contenders.iter().all(|it| round.contains_key(it))
        };
        Rounds(self.0.iter().filter(complete).cloned().collect())
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The goal at this place of the objective; `None` for somebody who was not
    /// measured.
    pub fn figure(&self, contender: Contender, place: usize) -> Option<Figure> {
        let values = self.0.iter().filter_map(|round| round.get(&contender));
        Figure::of(
            values
                .filter_map(|values| values.get(place))
                .copied()
                .collect(),
        )
    }
}
