//! What the engine counts, per column family.
//!
//! `counters` are written by user threads and by RocksDB's events, without
//! locks. Each write is timed; of reads one in 128, on average, is, and looked at level by
//! level.
//! `totals` are their sums at one instant, and a mission is the difference of
//! two of them.

pub(crate) mod counters;
mod histogram;
mod report;
pub(crate) mod sample;
mod totals;

use std::time::Duration;

pub use report::{FamilyStatistics, FilterMemory, Pieces, Statistics, TunerWork};
pub(crate) use totals::Totals;

/// A time as it is counted, in nanoseconds.
pub(crate) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
