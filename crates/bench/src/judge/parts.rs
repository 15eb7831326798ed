//! A long session in parts: does an arm fade?

use super::figure::median;
use super::intervals::{Interval, Intervals};
use super::level0::judge_level0;
use super::offered::Carried;
use crate::run::ArmRun;
use crate::workload::Session;

/// Sessions with a shorter offer, and shorter runs, are told as a whole only.
pub(crate) const LONG_SECONDS: f64 = 600.0;
/// Parts of equal length.
const PARTS: u32 = 4;

/// How a run met the load that was offered in one part of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Share of intervals that carried less than 95 % of their offer.
    pub dips: f64,
    /// Least share of its offered operations that an interval saw done.
    pub slowest: f64,
    /// Median of the 99th percentiles, in microseconds, of intervals in which anything ended;
    /// absent where nothing did.
    pub median_p99: Option<f64>,
    /// The highest of them.
    pub worst_p99: Option<f64>,
    /// Most files in L0 at an interval's end.
    pub most_level0_files: u32,
    /// Most bytes that the arm wanted to merge, where it tells them.
    pub most_debt: Option<f64>,
}

/// The parts of a session: seconds from its start at which each begins and ends. None in a
/// closed loop, and where the offer is short.
pub fn parts_of(session: &Session, entries: u64) -> Vec<(f64, f64)> {
    let offered = session.offered_seconds(entries);
    let Some(seconds) = offered.filter(|seconds| *seconds >= LONG_SECONDS) else {
        return Vec::new();
    };
    let border = |part: u32| seconds * f64::from(part) / f64::from(PARTS);
    (0..PARTS)
        .map(|part| (border(part), border(part + 1)))
        .collect()
}

/// Judges session number `number` between two of its seconds; `None` without a whole
/// interval.
pub fn judge_part(
    run: &ArmRun,
    number: usize,
    session: &Session,
    (from, to): (f64, f64),
) -> Option<Part> {
    let intervals = Intervals::of(run, number);
    let own: Vec<&Interval<'_>> = intervals.between(from, to).collect();
    let carried = Carried::of(&own, session.rate)?;
    let p99s: Vec<f64> = own.iter().filter_map(|it| it.p99()).collect();
    let debts = own.iter().filter_map(|it| it.sample.debt_bytes);
    Some(Part {
        dips: carried.dips,
        slowest: carried.slowest,
        median_p99: median(&p99s),
        worst_p99: p99s.into_iter().max_by(f64::total_cmp),
        most_level0_files: judge_level0(&own)?.most,
        most_debt: debts.max().map(|bytes| bytes as f64),
    })
}
