//! Samples over time, taken beside the workers.

use serde::{Deserialize, Serialize};

use super::latency::LatencySummary;
use super::process::ProcessUse;
use crate::store::LevelShape;

/// One interval of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Seconds from the start of the measured part to the interval's end.
    pub at: f64,
    /// Seconds of the interval.
    pub seconds: f64,
    /// Number of the session.
    pub session: usize,
    /// Operations that ended in the interval, per second.
    pub operations_per_second: f64,
    /// Their latencies.
    pub latency: LatencySummary,
    /// Process at the interval's end.
    pub process: ProcessUse,
    /// Bytes of table files on disk.
    pub disk_bytes: u64,
    /// Bytes that the arm still wants to merge.
    pub debt_bytes: u64,
    /// The tree.
    pub levels: Vec<LevelShape>,
}
