//! Bounds that a configuration must keep.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Metrics, check_times};
use crate::error::{Result, SearchError};
use crate::expression::{Expression, ExpressionError, Names, is_name};

/// A bound on a metric; spelled `memory_bytes <= 1GiB`.
///
/// A configuration that exceeds it is not thrown away but stands behind every one that
/// was measured as long and keeps all bounds, the smaller excess first (the rules of Deb, "An efficient
/// constraint handling method", 2000): where nothing keeps the bounds, the search
/// still moves towards them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Constraint {
    metric: String,
    at_most: f64,
}

impl Constraint {
    /// The metric may be at most so much.
    ///
    /// # Errors
    /// A bound that is not a number above 0, or a name that cannot be one.
    pub fn new(metric: &str, at_most: f64) -> Result<Constraint> {
        if !is_name(metric) {
            return Err(SearchError::new(format!(
                "{metric:?} cannot be a metric: write a name such as space_amplification"
            )));
        }
        if !(at_most.is_finite() && at_most > 0.0) {
            return Err(SearchError::new(format!(
                "the bound on {metric} is {at_most}: write a number above 0"
            )));
        }
        Ok(Constraint {
            metric: metric.to_owned(),
            at_most,
        })
    }

    /// The metric that is bounded.
    pub fn metric(&self) -> &str {
        &self.metric
    }

    /// The bound.
    pub fn at_most(&self) -> f64 {
        self.at_most
    }

    /// By which share of the bound the metric exceeds it; 0 within.
    ///
    /// # Errors
    /// The metric was not reported.
    pub fn excess(&self, metrics: &Metrics) -> Result<f64> {
        let value = metrics.needed(&self.metric)?;
        Ok((value / self.at_most - 1.0).max(0.0))
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <= {}", self.metric, self.at_most)
    }
}

impl FromStr for Constraint {
    type Err = SearchError;

    fn from_str(text: &str) -> Result<Constraint> {
        let Some((metric, bound)) = text.split_once("<=") else {
            return Err(SearchError::new(format!(
                "{text:?} is no constraint: write a metric, <= and a number, as in \
                 memory_bytes <= 1GiB"
            )));
        };
        let metric = metric.trim();
        let wrong =
            |error: ExpressionError| SearchError::new(format!("the bound of {text:?}, {error}"));
        let expression = Expression::parse(bound).map_err(wrong)?;
        let bound = expression.quantity(&Names::default()).map_err(wrong)?;
        check_times(expression.text(), [metric])?;
        Constraint::new(metric, bound.value(&[]))
    }
}

impl TryFrom<String> for Constraint {
    type Error = SearchError;

    fn try_from(text: String) -> Result<Constraint> {
        text.parse()
    }
}

impl From<Constraint> for String {
    fn from(constraint: Constraint) -> String {
        constraint.to_string()
    }
}
