//! What a running arm tells.

use serde::{Deserialize, Serialize};

use super::record::ArmRun;

/// One line from a child, as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// Progress within a part of the run.
    Progress(Progress),
    /// The run has ended; nothing follows.
    Done(Box<ArmRun>),
    /// The run has failed with this sentence; nothing follows.
    Failed(String),
}

/// Progress within a part of the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// `load`, `phase`, `settle`, `verify`, or a session's name.
    pub part: String,
    /// Operations done in this part.
    pub done: u64,
    /// Operations of this part.
    pub total: u64,
    /// Operations per second in the last interval.
    pub operations_per_second: f64,
    /// Their 99th percentile, in microseconds.
    pub p99: f64,
}
