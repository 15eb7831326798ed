//! A long session in parts: does an arm fade?

use super::figure::median;
use super::intervals::{Interval, Intervals};
use super::level0::judge_level0;
use super::offered::Carried;
use crate::run::ArmRun;
use crate::workload::Session;

/// Sessions with a shorter offer are told as a whole only.
const LONG_SECONDS: f64 = 600.0;
/// Parts of equal length.
const PARTS: u32 = 4;

/// How a run met the load that was offered in one part of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Seconds from the session's start at which it began and ended.
    pub between: (f64, f64),
    /// Share of intervals that carried less than 95 % of their offer.
    pub dips: f64,
    /// Least share of its offered operations that an interval saw done.
    pub slowest: f64,
    /// Median of the intervals' 99th percentiles, in microseconds.
    pub median_p99: f64,
    /// The highest of them.
    pub worst_p99: f64,
    /// Most files in L0 at an interval's end.
    pub most_level0_files: u32,
    /// Most bytes that the arm wanted to merge.
    pub most_debt: f64,
}

/// Judges session number `number` part by part. Empty in a closed loop, and where the
/// offer was short.
pub fn judge_parts(run: &ArmRun, number: usize, session: &Session, entries: u64) -> Vec<Part> {
    let offered = session.offered_seconds(entries);
    let Some(seconds) = offered.filter(|seconds| *seconds >= LONG_SECONDS) else {
        return Vec::new();
    };
    let intervals = Intervals::of(run, number);
    let border = |part: u32| seconds * f64::from(part) / f64::from(PARTS);
    (0..PARTS)
        .filter_map(|part| {
            let (from, to) = (border(part), border(part + 1));
            judge_part(&intervals, (from, to), session)
        })
        .collect()
}

/// `None` without a whole interval.
fn judge_part(all: &Intervals<'_>, between: (f64, f64), session: &Session) -> Option<Part> {
    let own: Vec<&Interval<'_>> = all.between(between.0, between.1).collect();
    let carried = Carried::of(&own, session.rate)?;
    let p99s: Vec<f64> = own.iter().map(|it| it.sample.latency.p99).collect();
    Some(Part {
        between,
        dips: carried.dips,
        slowest: carried.slowest,
        median_p99: median(&p99s)?,
        worst_p99: p99s.into_iter().max_by(f64::total_cmp)?,
        most_level0_files: judge_level0(&own)?.most,
        most_debt: own.iter().map(|it| it.sample.debt_bytes).max()? as f64,
    })
}
