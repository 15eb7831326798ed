//! Which tuning withstands an uncertain workload?
//!
//! The *nominal* tuning costs least if the workload is exactly the expected
//! one. The *robust* tuning has the least worst case over a [`Neighbourhood`]
//! of it (Endure: Huynh et al., VLDB 2022). Both are found by [`tune`]: the
//! nominal one in a neighbourhood of size 0.
//!
//! Whoever has shares, sizes and memory begins with an [`Expectation`]. Read on
//! in this order: [`Neighbourhood`] (the worst case, exactly),
//! [`history`] (how large it should be), [`DesignSpace`] (what may be chosen),
//! [`tune`] and [`tune_limits`] (the search), [`Advice`] (what came of it and
//! why), [`benchmark`] (how tunings fare over sampled workloads).

mod advice;
pub mod benchmark;
mod bounds;
mod expectation;
mod explain;
pub mod history;
mod limits;
mod neighbourhood;
mod report;
mod search;
mod space;

pub use advice::{Advice, advise};
pub use expectation::Expectation;
pub use explain::Difference;
pub use limits::tune_limits;
pub use neighbourhood::{Neighbourhood, WorstCase};
pub use search::{Tuned, tune};
pub use space::{DesignSpace, SizeRatios};

#[cfg(test)]
#[path = "advice_tests.rs"]
mod tests;
