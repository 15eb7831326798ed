//! What a trial reports, by name.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::{Result, SearchError};

/// Operations per second, all kinds together.
pub const THROUGHPUT: &str = "throughput";
/// 99th percentile of the latency of all operations, microseconds.
pub const P99: &str = "p99_micros";
/// 99th percentile of the latency of gets, microseconds.
pub const GET_P99: &str = "get_p99_micros";
/// 99th percentile of the latency of puts, microseconds.
pub const PUT_P99: &str = "put_p99_micros";
/// The most memory that was held, bytes.
pub const MEMORY: &str = "memory_bytes";
/// Bytes of table files over bytes of existing entries.
pub const SPACE_AMPLIFICATION: &str = "space_amplification";
/// Bytes written to files over bytes written by the user, since the trial was ready.
pub const WRITE_AMPLIFICATION: &str = "write_amplification";
/// Sessions of the workload.
pub const SESSIONS: &str = "sessions";
/// Sessions of the workload of which something was done.
pub const SESSIONS_VISITED: &str = "sessions_visited";

/// Finite numbers by name; in JSON one object.
///
/// The constants of this module are the names that objectives and constraints know;
/// a program may report others for an objective of its own.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, f64>", into = "BTreeMap<String, f64>")]
pub struct Metrics(BTreeMap<String, f64>);

impl Metrics {
    /// From numbers by name.
    ///
    /// # Errors
    /// A metric that is not finite.
    pub fn new(metrics: BTreeMap<String, f64>) -> Result<Metrics> {
        match metrics.iter().find(|(_, value)| !value.is_finite()) {
            None => Ok(Metrics(metrics)),
            Some((name, value)) => Err(SearchError::new(format!(
                "the metric {name} is {value}: report a finite number, or leave it out"
            ))),
        }
    }

    /// A metric by its name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }

    /// A metric that is needed.
    ///
    /// # Errors
    /// It was not reported; what was instead.
    pub fn needed(&self, name: &str) -> Result<f64> {
        self.get(name).ok_or_else(|| {
            let names: Vec<&str> = self.0.keys().map(String::as_str).collect();
            let reported = if names.is_empty() {
                "nothing".to_owned()
            } else {
                names.join(", ")
            };
            SearchError::new(format!(
                "it reported no metric {name}, but {reported}: report it, or choose another \
                 objective or constraint"
            ))
        })
    }

    /// Names and values, in the order of the alphabet.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }
}

impl TryFrom<BTreeMap<String, f64>> for Metrics {
    type Error = SearchError;

    fn try_from(metrics: BTreeMap<String, f64>) -> Result<Metrics> {
        Metrics::new(metrics)
    }
}

impl From<Metrics> for BTreeMap<String, f64> {
    fn from(metrics: Metrics) -> BTreeMap<String, f64> {
        metrics.0
    }
}
