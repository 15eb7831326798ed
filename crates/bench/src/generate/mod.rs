//! Deterministic data and operations.

mod choose;
mod data;
mod due;
mod fill;
mod mixgraph;
mod partition;
mod rng;
mod sizes;
mod stream;
#[cfg(test)]
mod tests;
mod zipf;

pub use choose::Chooser;
pub use data::DataShape;
pub use due::{DueTimes, due_count};
pub use fill::{load_order, phase_updates};
pub use mixgraph::range_weights;
pub use partition::Partition;
pub use rng::{Rng, mix};
pub use sizes::pareto;
pub use stream::{Op, OpStream};
pub use zipf::zipf_rank;
