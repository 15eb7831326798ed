//! Fused features: a configuration in a few numbers that govern its performance
//! (Dremel, 4.3), and buckets of them that make the arms of a bandit (4.4.1).
//!
//! The four published features are expressions in the space `dremel`
//! ([`BuiltIn::Dremel`](crate::space::BuiltIn)); a space of one's own has its own.

mod cuts;
#[cfg(test)]
mod tests;

pub use cuts::Cuts;

use crate::expression::Quantity;

/// A number that stands for several parameters.
#[derive(Clone, PartialEq, Debug)]
pub struct Feature {
    /// Its name.
    pub name: String,
    /// Its formula, over constants, parameters and definitions.
    pub formula: Quantity,
    /// Where it comes from.
    pub source: String,
}
