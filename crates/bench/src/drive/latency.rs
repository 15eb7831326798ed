//! Latency histograms by kind of operation.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Kinds of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpKind {
    /// Point read of a key that exists.
    GetPresent,
    /// Point read of a key that does not exist.
    GetAbsent,
    /// Write of a new key.
    Put,
    /// Write of an existing key.
    Update,
    /// Delete of an existing key.
    Delete,
    /// Range read.
    Scan,
    /// Read and write of one key.
    ReadModifyWrite,
}

impl OpKind {
    /// All kinds, in the order of mix weights.
    pub const ALL: [Self; 7] = [
        Self::GetPresent,
        Self::GetAbsent,
        Self::Put,
        Self::Update,
        Self::Delete,
        Self::Scan,
        Self::ReadModifyWrite,
    ];

    /// Whether the operation writes.
    pub fn writes(self) -> bool {
        matches!(
            self,
            Self::Put | Self::Update | Self::Delete | Self::ReadModifyWrite
        )
    }

    /// Whether the operation writes and does nothing else.
    pub fn writes_alone(self) -> bool {
        self.writes() && self != Self::ReadModifyWrite
    }

    /// Whether the operation reads one key and does nothing else.
    pub fn reads_a_point(self) -> bool {
        matches!(self, Self::GetPresent | Self::GetAbsent)
    }

    /// Whether the operation reads, whatever else it does.
    pub fn reads(self) -> bool {
        self.reads_a_point() || matches!(self, Self::Scan | Self::ReadModifyWrite)
    }

    /// Name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::GetPresent => "get_present",
            Self::GetAbsent => "get_absent",
            Self::Put => "put",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Scan => "scan",
            Self::ReadModifyWrite => "read_modify_write",
        }
    }
}

/// Longest latency that is told apart, in nanoseconds; 1000 s.
const LONGEST: u64 = 1_000_000_000_000;

/// Histogram of nanoseconds, exact to 1 %.
pub fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST, 2).expect("1 < LONGEST and 2 digits are legal bounds")
}

/// Histograms of one session, by kind.
#[derive(Debug, Clone)]
pub struct Latencies(Vec<Histogram<u64>>);

impl Default for Latencies {
    fn default() -> Self {
        Self(OpKind::ALL.iter().map(|_| new_histogram()).collect())
    }
}

impl Latencies {
    /// Notes one latency.
    pub fn record(&mut self, kind: OpKind, latency: Duration) {
        self.0[kind as usize].saturating_record(nanos(latency));
    }

    /// Adds those of another thread or session.
    pub fn add(&mut self, other: &Self) {
        for (own, others) in self.0.iter_mut().zip(&other.0) {
            own.add(others)
                .expect("all histograms have the same bounds");
        }
    }

    /// Summary of each kind that occurred.
    pub fn by_kind(&self) -> Vec<(OpKind, LatencySummary)> {
        let kinds = OpKind::ALL
            .iter()
            .zip(&self.0)
            .filter(|(_, h)| !h.is_empty());
        kinds
            .map(|(kind, h)| (*kind, LatencySummary::of(h)))
            .collect()
    }

    /// Summary over all kinds for which `wanted` holds.
    pub fn over(&self, wanted: impl Fn(OpKind) -> bool) -> LatencySummary {
        let mut sum = new_histogram();
        for (kind, histogram) in OpKind::ALL.iter().zip(&self.0) {
            if wanted(*kind) {
                sum.add(histogram)
                    .expect("all histograms have the same bounds");
            }
        }
        LatencySummary::of(&sum)
    }
}

/// A duration as whole nanoseconds, at least 1.
pub fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos())
        .unwrap_or(u64::MAX)
        .max(1)
}

/// Latencies in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencySummary {
    /// Operations.
    pub count: u64,
    /// Mean.
    pub mean: f64,
    /// Half of the operations took no longer.
    pub p50: f64,
    /// 99 % took no longer.
    pub p99: f64,
    /// 99.9 % took no longer.
    pub p999: f64,
    /// Longest.
    pub max: f64,
}

impl LatencySummary {
    /// Whether it is of no operation.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Summary of a histogram of nanoseconds.
    pub fn of(histogram: &Histogram<u64>) -> Self {
        let micros = |quantile| histogram.value_at_quantile(quantile) as f64 / 1000.0;
        if histogram.is_empty() {
            return Self::default();
        }
        Self {
            count: histogram.len(),
            mean: histogram.mean() / 1000.0,
            p50: micros(0.5),
            p99: micros(0.99),
            p999: micros(0.999),
            max: histogram.max() as f64 / 1000.0,
        }
    }
}
