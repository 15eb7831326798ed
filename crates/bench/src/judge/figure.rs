//! Medians and spreads.

use serde::{Deserialize, Serialize};

/// A wide range hides no more between two medians than this, relative.
pub const CLOSE: f64 = 0.05;

/// A figure over rounds: its median and spread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Median.
    pub median: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Median of the values' distances from the median.
    pub mad: f64,
    /// The values, by round.
    pub values: Vec<f64>,
}

impl Figure {
    /// The figure over `values`; `None` if there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().collect();
        let middle = median(&values)?;
        let distances: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
        Some(Self {
            median: middle,
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            mad: median(&distances)?,
            values,
        })
    }

    /// How `self` stands against `other` where less is better: inside the spread, that
    /// is where the ranges meet, it is a tie.
    pub fn against(&self, other: &Self) -> Standing {
        if self.max < other.min {
            Standing::Win
        } else if self.min > other.max {
            Standing::Loss
        } else {
            Standing::Tie
        }
    }

    /// Whether `self` is so much better than `other`, where less is better, that they share
    /// no rank. They do where the worse median lies within the range of the better one, and
    /// where ranges meet and the medians are within [`CLOSE`]: so nobody gets a better rank
    /// by a wide range of its own.
    pub fn is_ahead_of(&self, other: &Self) -> bool {
        let is_far = other.median > (1.0 + CLOSE) * self.median;
        other.median > self.max && (is_far || self.against(other) == Standing::Win)
    }
}

/// How one figure stands against another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Better in every round than the other in any.
    Win,
    /// Inside the spread.
    Tie,
    /// Worse in every round than the other in any.
    Loss,
}

impl Standing {
    /// The word for tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Win => "win",
            Self::Tie => "tie",
            Self::Loss => "loss",
        }
    }
}

/// Median; of an even number of values the mean of the middle two.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}
