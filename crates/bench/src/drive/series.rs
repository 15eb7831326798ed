//! Samples over time, taken beside the workers.

use serde::{Deserialize, Serialize};

use super::latency::LatencySummary;
use super::process::ProcessUse;
use crate::store::{Background, LevelShape, UserLoad};

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
    /// Those of the point reads among them.
    #[serde(default, skip_serializing_if = "LatencySummary::is_empty")]
    pub point_reads: LatencySummary,
    /// Those of the scans among them.
    #[serde(default, skip_serializing_if = "LatencySummary::is_empty")]
    pub scans: LatencySummary,
    /// Process at the interval's end.
    pub process: ProcessUse,
    /// Background work at the interval's end.
    #[serde(default)]
    pub background: Background,
    /// The users' load as the arm counts it, at the interval's end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_load: Option<UserLoad>,
    /// Bytes of table files on disk.
    pub disk_bytes: u64,
    /// Bytes that the arm still wants to merge, where it tells them.
    pub debt_bytes: Option<u64>,
    /// The tree.
    pub levels: Vec<LevelShape>,
}
