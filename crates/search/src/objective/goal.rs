//! One number that should be large or small.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Whether more or less is better.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// More is better.
    Maximise,
    /// Less is better.
    Minimise,
}

impl Direction {
    /// The value with its sign turned so that more is better.
    pub fn upwards(self, value: f64) -> f64 {
        match self {
            Direction::Maximise => value,
            Direction::Minimise => -value,
        }
    }

    /// By which share of `other` `value` is better, negative if worse: 0.5 for 150
    /// against 100 where more is better, and for 50 against 100 where less is.
    /// 0 against 0, which has no shares.
    pub fn gain(self, value: f64, other: f64) -> f64 {
        if other == 0.0 {
            return 0.0;
        }
        self.upwards(value - other) / other.abs()
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Direction::Maximise => "maximise",
            Direction::Minimise => "minimise",
        })
    }
}

/// A number that an objective looks at.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Goal {
    /// A metric or an expression over metrics.
    pub name: String,
    /// Whether more or less of it is better.
    pub direction: Direction,
}

impl Goal {
    pub(super) fn new(name: &str, direction: Direction) -> Goal {
        Goal {
            name: name.to_owned(),
            direction,
        }
    }
}
