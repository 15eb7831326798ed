//! More is offered than the machine carries: how deep an arm falls, and when it is back.

use super::figure::median;
use super::intervals::{Interval, Intervals};
use super::level0::level0_files;
use crate::run::ArmRun;
use crate::workload::{Periodic, Rate, Session};

/// A 99th percentile of more than this times the median of before is no calm one, unless
/// some were as high before.
const BACK: f64 = 2.0;

/// Latencies are back when they have been calm for so many seconds on end: flushes and
/// merges make a second slow now and then under any load.
const CALM_SECONDS: f64 = 10.0;

/// How a run met an overload.
#[derive(Debug, Clone, PartialEq)]
pub struct Overload {
    /// Mean operations per second while too much was offered.
    pub carried: f64,
    /// Those of the worst interval then, as a share of the mean.
    pub worst_share: f64,
    /// The same as a share of what was offered then.
    pub worst_of_offer: f64,
    /// Highest 99th percentile of an interval, in microseconds.
    pub worst_p99: f64,
    /// Median 99th percentile of the intervals before in which anything ended, in
    /// microseconds.
    pub calm_p99: f64,
    /// Share of the intervals before with more than twice that.
    pub calm_over: f64,
    /// Seconds from the end of the overload until ten seconds on end began in which no
    /// interval's 99th percentile was more than twice that of before, or than the highest
    /// of before; absent where they did not come in this session.
    pub back_after: Option<f64>,
    /// Most files in L0 at an interval's end.
    pub most_level0_files: u32,
    /// Seconds that RocksDB held writers back.
    pub stall_seconds: f64,
    /// Seconds at whose ends L0 had come to the arm's own bound; absent for an arm that
    /// does not tell it.
    pub at_bound_seconds: Option<f64>,
}

/// The overload that session number `number` stands for: one high phase of a periodic
/// rate, with a session of nothing but its low rate before it.
pub fn overload_of(sessions: &[Session], number: usize) -> Option<Periodic> {
    let Rate::Periodic(periodic) = sessions.get(number)?.rate else {
        return None;
    };
    let Rate::Constant { per_second } = sessions.get(number.checked_sub(1)?)?.rate else {
        return None;
    };
    // Scaled rates are products: equal only nearly.
    ((per_second / periodic.low - 1.0).abs() < 1e-6).then_some(periodic)
}

/// Judges session number `number`, in which the rates are those of [`overload_of`].
/// `None` where one of its phases, or the session before, has no whole interval, and where
/// nothing ended in that session.
pub fn judge_overload(run: &ArmRun, number: usize, rates: &Periodic) -> Option<Overload> {
    let record = run.sessions.get(number)?;
    let before = Intervals::of(run, number.checked_sub(1)?);
    let p99s: Vec<f64> = before.all().iter().filter_map(Interval::p99).collect();
    let calm_p99 = median(&p99s)?;
    let highest = p99s.iter().copied().fold(0.0, f64::max);
    let over = before.all().iter();
    let over = over.filter(|it| !is_calm(it, BACK * calm_p99)).count();
    let intervals = Intervals::of(run, number);
    let done: Vec<f64> = intervals
        .between(0.0, rates.seconds)
        .map(|it| it.sample.operations_per_second)
        .collect();
    let carried = done.iter().sum::<f64>() / done.len() as f64;
    let worst = done.iter().copied().min_by(f64::total_cmp)?;
    let p99s_of_all = intervals.all().iter().filter_map(Interval::p99);
    let files = intervals.all().iter().map(|it| level0_files(it.sample));
    Some(Overload {
        carried,
        worst_share: if carried > 0.0 { worst / carried } else { 0.0 },
        worst_of_offer: worst / rates.high,
        worst_p99: p99s_of_all.fold(0.0, f64::max),
        calm_p99,
        calm_over: over as f64 / before.all().len() as f64,
        back_after: back_after(&intervals, rates.seconds, highest.max(BACK * calm_p99))?,
        most_level0_files: files.max().unwrap_or(0),
        stall_seconds: record.counters.stall_micros as f64 / 1e6,
        at_bound_seconds: at_bound_seconds(&intervals),
    })
}

/// `None` without an interval after `end`; `Some(None)` where it is never calm for long.
fn back_after(intervals: &Intervals<'_>, end: f64, calm: f64) -> Option<Option<f64>> {
    let after: Vec<&Interval<'_>> = intervals.between(end, f64::INFINITY).collect();
    after.first()?;
    // The end of the last unrest: until then it was none of calm.
    let mut back = end;
    for it in after {
        if !is_calm(it, calm) {
            back = it.to;
        } else if it.to - back >= CALM_SECONDS - 1e-6 {
            return Some(Some(back - end));
        }
    }
    Some(None)
}

fn at_bound_seconds(intervals: &Intervals<'_>) -> Option<f64> {
    let told = |it: &Interval<'_>| Some((it.seconds(), it.sample.user_load?.at_bound));
    let told: Option<Vec<(f64, bool)>> = intervals.all().iter().map(told).collect();
    let at_bound = told?.into_iter().filter(|(_, at_bound)| *at_bound);
    Some(at_bound.map(|(seconds, _)| seconds).sum())
}

/// An interval in which nothing ended is a stall, whatever its latencies.
fn is_calm(interval: &Interval<'_>, calm: f64) -> bool {
    interval.p99().is_some_and(|p99| p99 <= calm)
}
