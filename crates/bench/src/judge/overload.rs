//! More is offered than the machine carries: how deep an arm falls, and when it is back.

use super::figure::median;
use super::intervals::{Interval, Intervals};
use crate::run::ArmRun;
use crate::workload::{Periodic, Rate, Session};

/// Latencies are back when no 99th percentile is more than this times that of before.
const BACK: f64 = 2.0;

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
    /// Median 99th percentile of the intervals before, in microseconds.
    pub calm_p99: f64,
    /// Seconds from the end of the overload until no interval's 99th percentile was more
    /// than twice that of before; absent where that did not come in this session.
    pub back_after: Option<f64>,
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
/// `None` where one of its phases, or the session before, has no whole interval.
pub fn judge_overload(run: &ArmRun, number: usize, rates: &Periodic) -> Option<Overload> {
    let before = Intervals::of(run, number.checked_sub(1)?);
    let p99s = before.all().iter().map(|it| it.sample.latency.p99);
    let calm_p99 = median(&p99s.collect::<Vec<f64>>())?;
    let intervals = Intervals::of(run, number);
    let done: Vec<f64> = intervals
        .between(0.0, rates.seconds)
        .map(|it| it.sample.operations_per_second)
        .collect();
    let carried = done.iter().sum::<f64>() / done.len() as f64;
    let worst = done.iter().copied().min_by(f64::total_cmp)?;
    let all = intervals.all().iter();
    Some(Overload {
        carried,
        worst_share: if carried > 0.0 { worst / carried } else { 0.0 },
        worst_of_offer: worst / rates.high,
        worst_p99: all.map(|it| it.sample.latency.p99).fold(0.0, f64::max),
        calm_p99,
        back_after: back_after(&intervals, rates.seconds, BACK * calm_p99)?,
    })
}

/// `None` without an interval after `end`; `Some(None)` where the last is not calm.
fn back_after(intervals: &Intervals<'_>, end: f64, calm: f64) -> Option<Option<f64>> {
    let after: Vec<&Interval<'_>> = intervals.between(end, f64::INFINITY).collect();
    let last = after.last()?;
    if !is_calm(last, calm) {
        return Some(None);
    }
    let unrest = after.iter().rfind(|it| !is_calm(it, calm));
    Some(Some(unrest.map_or(0.0, |it| it.to - end)))
}

/// An interval in which nothing ended is a stall, whatever its latencies.
fn is_calm(interval: &Interval<'_>, calm: f64) -> bool {
    let latency = &interval.sample.latency;
    !latency.is_empty() && latency.p99 <= calm
}
