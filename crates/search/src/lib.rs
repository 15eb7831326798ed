//! The decisions of a search for a configuration by experiment.
//!
//! Which of RocksDB's hundred options suit a workload and a machine is found out by
//! trying, in minutes: Dremel (Zhao et al., SIGMETRICS 2022). This crate decides
//! what to try, how long, and what to believe; it runs nothing. It holds no clock,
//! no file and no thread: time, randomness (as a seed) and measurements are
//! arguments, and every decision is data with a reason. So a trial can run
//! anywhere: in a child process, in a program of the user's, on several machines.
//!
//! The modules read in this order: [`expression`] (the language of rules and
//! features), [`space`] (parameters, rules and features, from TOML), [`features`]
//! (quantile buckets), [`objective`] (what is sought, and bounds), [`search`] (ask
//! and tell), [`record`] (the log, and resuming from it), [`verdict`] (how sure one
//! can be), [`export`] (configurations as files that other programs read).

#![forbid(unsafe_code)]

mod error;
pub mod export;
pub mod expression;
pub mod features;
mod fingerprint;
pub mod objective;
mod random;
pub mod record;
pub mod search;
pub mod space;
pub mod testing;
pub mod verdict;

pub use error::{Result, SearchError};
pub use fingerprint::Fingerprint;
pub use random::Random;
