//! What a configuration must satisfy, and names for parts of expressions.

use std::fmt;

use crate::expression::{Claim, Quantity};

/// A condition on configurations.
#[derive(Clone, PartialEq, Debug)]
pub struct Rule {
    /// The condition.
    pub claim: Claim,
    /// Where it comes from.
    pub source: String,
}

/// The condition, then its source in parentheses.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.claim, self.source)
    }
}

/// A number that rules and features use by name.
#[derive(Clone, PartialEq, Debug)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// Its formula, over constants, parameters and earlier definitions.
    pub formula: Quantity,
    /// Where it comes from.
    pub source: String,
}
