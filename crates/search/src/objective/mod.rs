//! What a search is after, and what it must not pay for it.

mod constraint;
mod goal;
pub mod metrics;
mod standing;
#[cfg(test)]
mod tests;

pub use constraint::Constraint;
pub use goal::{Direction, Goal};
pub use metrics::Metrics;
pub use standing::{Ranking, Standing, front, judge};

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Result, SearchError};
use crate::expression::{
    Expression, ExpressionError, NameKind, Names, Quantity, Value, tells_times,
};

/// Whose latency counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operations {
    /// Gets alone.
    Get,
    /// Puts alone.
    Put,
    /// All kinds together.
    All,
}

impl Operations {
    /// The metric of their 99th percentile.
    pub fn p99(self) -> &'static str {
        match self {
            Operations::Get => metrics::GET_P99,
            Operations::Put => metrics::PUT_P99,
            Operations::All => metrics::P99,
        }
    }

    /// What stands behind `p99` and `both`.
    fn suffix(self) -> &'static str {
        match self {
            Operations::Get => "-get",
            Operations::Put => "-put",
            Operations::All => "",
        }
    }

    fn of_suffix(suffix: &str) -> Option<Operations> {
        let all = [Operations::Get, Operations::Put, Operations::All];
        all.into_iter().find(|it| it.suffix() == suffix)
    }
}

/// What a search is after.
///
/// Spelled `throughput`; `p99`, `p99-get` or `p99-put`; `both`, `both-get` or
/// `both-put`, which is throughput and that latency; `maximise EXPRESSION` or
/// `minimise EXPRESSION` over metrics.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Objective {
    /// Operations per second.
    Throughput,
    /// The 99th percentile of a latency.
    P99(Operations),
    /// Throughput and a latency at once: of the two ranks among the trials compared
    /// the worse one counts (Dremel, 4.5.1), so the best is good in both.
    Both(Operations),
    /// A number of one's own.
    Own {
        /// Whether more or less is better.
        direction: Direction,
        /// The formula over the metrics that it names.
        formula: Formula,
    },
}

/// A formula over metrics.
#[derive(Clone, PartialEq, Debug)]
pub struct Formula {
    quantity: Quantity,
    /// In the order of the quantity's values.
    metrics: Vec<String>,
}

impl Formula {
    /// Parses a formula; every name in it is a metric.
    ///
    /// # Errors
    /// What is wrong, and in which column.
    pub fn parse(text: &str) -> Result<Formula> {
        let wrong =
            |error: ExpressionError| SearchError::new(format!("the expression {text:?}, {error}"));
        let expression = Expression::parse(text).map_err(wrong)?;
        let metrics: Vec<String> = expression.names().into_iter().map(str::to_owned).collect();
        if metrics.is_empty() {
            return Err(SearchError::new(format!(
                "the expression {text:?} names no metric: write one, such as throughput"
            )));
        }
        let mut names = Names::default();
        for metric in &metrics {
            names.add(metric, NameKind::Number);
        }
        let quantity = expression.quantity(&names).map_err(wrong)?;
        Ok(Formula { quantity, metrics })
    }

    fn value(&self, metrics: &Metrics) -> Result<f64> {
        let values = self.metrics.iter();
        let values = values
            .map(|name| metrics.needed(name).map(Value::Number))
            .collect::<Result<Vec<_>>>()?;
        match self.quantity.value(&values) {
            value if value.is_finite() => Ok(value),
            value => Err(SearchError::new(format!(
                "{} comes to {value}: write an expression that is a number",
                self.quantity
            ))),
        }
    }
}

/// Times in expressions are seconds, and latencies are told in microseconds: `2ms` beside one would
/// mean two thousandths of one.
fn check_times<'a>(text: &str, metrics: impl IntoIterator<Item = &'a str>) -> Result<()> {
    let latency = metrics.into_iter().find(|it| it.ends_with("_micros"));
    match latency.filter(|_| tells_times(text)) {
        Some(latency) => Err(SearchError::new(format!(
            "{text:?} has a unit of time, which means seconds, and {latency} is in microseconds: \
             write microseconds without a unit, as 2000 for 2 ms"
        ))),
        None => Ok(()),
    }
}

impl Objective {
    /// The numbers that count; one, or two for both at once.
    pub fn goals(&self) -> Vec<Goal> {
        let throughput = Goal::new(metrics::THROUGHPUT, Direction::Maximise);
        let p99 = |of: &Operations| Goal::new(of.p99(), Direction::Minimise);
        match self {
            Objective::Throughput => vec![throughput],
            Objective::P99(of) => vec![p99(of)],
            Objective::Both(of) => vec![throughput, p99(of)],
            Objective::Own { direction, formula } => {
                vec![Goal::new(formula.quantity.text(), *direction)]
            }
        }
    }

    /// The names of the metrics that it is made of.
    pub fn metrics(&self) -> Vec<String> {
        match self {
            Objective::Own { formula, .. } => formula.metrics.clone(),
            _ => self.goals().into_iter().map(|goal| goal.name).collect(),
        }
    }

    /// The values of the goals, in their order.
    ///
    /// # Errors
    /// A metric is missing, or a formula comes to no number.
    pub fn values(&self, metrics: &Metrics) -> Result<Vec<f64>> {
        match self {
            Objective::Own { formula, .. } => Ok(vec![formula.value(metrics)?]),
            _ => {
                let goals = self.goals();
                goals
                    .iter()
                    .map(|goal| metrics.needed(&goal.name))
                    .collect()
            }
        }
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Objective::Throughput => f.write_str("throughput"),
            Objective::P99(of) => write!(f, "p99{}", of.suffix()),
            Objective::Both(of) => write!(f, "both{}", of.suffix()),
            Objective::Own { direction, formula } => {
                write!(f, "{direction} {}", formula.quantity)
            }
        }
    }
}

impl FromStr for Objective {
    type Err = SearchError;

    fn from_str(text: &str) -> Result<Objective> {
        let objective = Objective::read(text)?;
        if let Objective::Own { formula, .. } = &objective {
            let metrics = formula.metrics.iter().map(String::as_str);
            check_times(formula.quantity.text(), metrics)?;
        }
        Ok(objective)
    }
}

impl Objective {
    /// What a log tells is as it was measured: its units are not judged.
    fn read(text: &str) -> Result<Objective> {
        let text = text.trim();
        let own = [Direction::Maximise, Direction::Minimise];
        for direction in own {
            if let Some(formula) = text.strip_prefix(&format!("{direction} ")) {
                let formula = Formula::parse(formula)?;
                return Ok(Objective::Own { direction, formula });
            }
        }
        let operations = |name: &str| text.strip_prefix(name).and_then(Operations::of_suffix);
        match (operations("p99"), operations("both")) {
            (Some(of), _) => Ok(Objective::P99(of)),
            (_, Some(of)) => Ok(Objective::Both(of)),
            _ if text == "throughput" => Ok(Objective::Throughput),
            _ => Err(SearchError::new(format!(
                "{text:?} is no objective: choose throughput, p99, p99-get, p99-put, both, \
                 both-get, both-put, or write maximise or minimise and an expression"
            ))),
        }
    }
}

impl TryFrom<String> for Objective {
    type Error = SearchError;

    fn try_from(text: String) -> Result<Objective> {
        Objective::read(&text)
    }
}

impl From<Objective> for String {
    fn from(objective: Objective) -> String {
        objective.to_string()
    }
}
