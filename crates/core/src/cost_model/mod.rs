//! What an operation costs in a tree of given shape, in I/Os.
//!
//! Endure's model (Huynh et al., VLDB 2022, section 5), which builds on Monkey
//! (Dayan et al., SIGMOD 2017): a tree of
//! L = ceil(log_T(N * E / m_buf + 1)) levels, level i of (T-1) * T^(i-1) buffers,
//! blocks uncached, keys uniform. Four kinds of operation have a cost: gets of
//! absent keys (Z0), gets of present keys (Z1), scans (Q) and writes (W).
//! Leveling and tiering are the published formulas; run limits between them
//! follow the Fluid LSM-tree of Dostoevsky (Dayan and Idreos, SIGMOD 2018),
//! which meets both at its ends.
//!
//! Memory is shared between filters (m_filt) and the write buffer (m_buf); more
//! of the one is less of the other.
//!
//! Read on in this order: [`System`] (what is given), [`Tuning`] (what is
//! chosen), [`CostModel`] (the formulas), [`Workload`] (what is asked of it). What a change
//! of run limits costs is RusKey's, and stands apart: [`LevelInTransition`]. So does what
//! missions are compared by: [`AccessPattern`], and what RocksDB reads ahead: [`readahead`].

mod costs;
mod error;
mod pattern;
mod published;
mod rates;
pub mod readahead;
mod system;
mod transition;
mod tuning;
mod workload;

pub use costs::{CostModel, Costs};
pub(crate) use costs::{ModelTree, smallest_share};
pub use error::ModelError;
pub use pattern::AccessPattern;
pub use published::{ExpectedWorkload, PublishedTunings, expected_workloads, published_tunings};
pub use system::System;
pub use transition::{LevelInTransition, TransitionCost};
pub(crate) use tuning::Ratio;
pub use tuning::{RunPolicy, Tuning};
pub(crate) use workload::Percent;
pub use workload::{OperationKind, Workload};
