//! Medians and spreads.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::objective::Metrics;

/// A figure over rounds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Figure {
    /// The median; of an even number of values the mean of the middle two.
    pub median: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The values, by round.
    pub values: Vec<f64>,
}

impl Figure {
    /// The figure over `values`; `None` if there are none.
    pub fn of(values: Vec<f64>) -> Option<Figure> {
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 {
            sorted[middle]
        } else {
            (sorted[middle - 1] + sorted[middle]) / 2.0
        };
        Some(Figure {
            median,
            min,
            max,
            values,
        })
    }
}

/// Metrics of which each is the median of several runs; `None` of no run.
///
/// # Errors
/// A mean of two numbers that are too large.
pub fn medians(runs: &[&Metrics]) -> Result<Option<Metrics>> {
    let Some(first) = runs.first() else {
        return Ok(None);
    };
    let mut medians = BTreeMap::new();
    for (name, _) in first.iter() {
        let values = runs.iter().filter_map(|it| it.get(name)).collect();
        if let Some(figure) = Figure::of(values) {
            medians.insert(name.to_owned(), figure.median);
        }
    }
    Metrics::new(medians).map(Some)
}
