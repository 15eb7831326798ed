//! Throughput against the offered load, interval by interval.

use super::intervals::{Interval, Intervals};
use super::level0::{Level0Files, Level1Runs, judge_level0, judge_level1, level0_files};
use crate::drive::LatencySummary;
use crate::run::ArmRun;
use crate::store::UserLoad;
use crate::workload::{Rate, Session};

/// An interval under this share of its offered operations is a dip.
const CARRIED: f64 = 0.95;

/// How a run met the load that one session offered.
#[derive(Debug, Clone, PartialEq)]
pub struct Offered {
    /// Share of intervals that were dips.
    pub dips: f64,
    /// Standard deviation over mean of the throughput, over intervals in which the
    /// highest rate was offered throughout; `None` with fewer than two of them.
    pub variation: Option<f64>,
    /// Least share of its offered operations that an interval saw done.
    pub slowest: f64,
    /// Seconds that the last operation ended after the offer did.
    pub late: f64,
    /// Latency of all operations, from the moment they were due.
    pub latency: LatencySummary,
    /// Seconds that RocksDB held writers back.
    pub stall_seconds: f64,
    /// Bytes written to files per byte written by the user; `None` without writes.
    pub write_amplification: Option<f64>,
    /// Most bytes that the arm wanted to merge, where it tells them.
    pub most_debt: Option<f64>,
    /// What of them was left at the session's end: the write amplification does not have it.
    pub end_debt: Option<f64>,
    /// Files in L0.
    pub level0: Level0Files,
    /// Runs in level 1.
    pub level1: Level1Runs,
    /// What the arm's schedule did; absent for an arm without one.
    pub schedule: Option<Scheduled>,
}

/// What a schedule did, as shares of the intervals, at whose ends it was asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scheduled {
    /// It held the load for high.
    pub high: f64,
    /// L0 had files for a merge into level 1, and waited.
    pub waits: f64,
    /// L0 had files for a merge into level 1, and was to be merged by itself only.
    pub apart: f64,
    /// What lies below L0 was not let go on as it liked, whether there was anything or not.
    pub deep_delayed: f64,
}

/// Judges session number `number`. Only intervals in which operations became due count:
/// an arm that is behind goes on after them. From `trigger` files on L0 is due. `None` in a
/// closed loop, and without a whole interval.
pub fn judge_offered(
    run: &ArmRun,
    number: usize,
    session: &Session,
    entries: u64,
    trigger: u32,
) -> Option<Offered> {
    let record = run.sessions.get(number)?;
    let highest = session.rate.highest()?;
    let offered_seconds = session.offered_seconds(entries)?;
    let intervals = Intervals::of(run, number);
    let due: Vec<&Interval<'_>> = intervals.between(0.0, offered_seconds).collect();
    let carried = Carried::of(&due, session.rate)?;
    let at_highest: Vec<f64> = due
        .iter()
        .filter(|it| it.offered(session.rate) >= highest * (1.0 - 1e-9))
        .map(|it| it.sample.operations_per_second)
        .collect();
    let debts = intervals.all().iter();
    let debts = debts.filter_map(|it| it.sample.debt_bytes);
    let last = run.samples.iter().rfind(|it| it.session == number)?;
    let written = record.counters.written_bytes() as f64;
    Some(Offered {
        dips: carried.dips,
        variation: variation(&at_highest),
        slowest: carried.slowest,
        late: (record.seconds - offered_seconds).max(0.0),
        latency: record.latency,
        stall_seconds: record.counters.stall_micros as f64 / 1e6,
        write_amplification: (record.user_bytes > 0).then(|| written / record.user_bytes as f64),
        most_debt: debts.chain(last.debt_bytes).max().map(|bytes| bytes as f64),
        end_debt: last.debt_bytes.map(|bytes| bytes as f64),
        level0: judge_level0(&due)?,
        level1: judge_level1(&due)?,
        schedule: scheduled(&due, trigger),
    })
}

/// Intervals against their offered operations.
pub(super) struct Carried {
    /// Share of intervals that were dips.
    pub dips: f64,
    /// Least share of its offered operations that one saw done.
    pub slowest: f64,
}

impl Carried {
    /// `None` without an interval.
    pub fn of(intervals: &[&Interval<'_>], rate: Rate) -> Option<Self> {
        let share = |it: &&Interval<'_>| it.sample.operations_per_second / it.offered(rate);
        let shares: Vec<f64> = intervals.iter().map(share).collect();
        let dips = shares.iter().filter(|share| **share < CARRIED).count();
        Some(Self {
            dips: dips as f64 / shares.len() as f64,
            slowest: shares.into_iter().min_by(f64::total_cmp)?,
        })
    }
}

fn scheduled(due: &[&Interval<'_>], trigger: u32) -> Option<Scheduled> {
    let seen = |it: &&Interval<'_>| Some((level0_files(it.sample), it.sample.user_load?));
    let seen: Option<Vec<(u32, UserLoad)>> = due.iter().map(seen).collect();
    let seen = seen.filter(|it| !it.is_empty())?;
    let share = |of: &dyn Fn(u32, &UserLoad) -> bool| {
        let such = seen.iter().filter(|(files, load)| of(*files, load));
        such.count() as f64 / seen.len() as f64
    };
    Some(Scheduled {
        high: share(&|_, it| it.high),
        waits: share(&|files, it| it.waits && files >= trigger),
        apart: share(&|files, it| it.apart && files >= trigger),
        deep_delayed: share(&|_, it| it.deep_delayed),
    })
}

/// Standard deviation over mean; `None` for less than two values, and where all are 0.
fn variation(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count.max(1.0);
    if count < 2.0 || mean <= 0.0 {
        return None;
    }
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (count - 1.0)).sqrt() / mean)
}
