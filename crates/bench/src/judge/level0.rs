//! Files in L0: how many there were, how often they went, and what reads paid for them.

use std::collections::BTreeMap;

use super::figure::median;
use super::intervals::{Interval, Intervals};
use crate::drive::{LatencySummary, Sample};
use crate::run::ArmRun;

/// Numbers of files that are looked at together.
pub const STEP: u32 = 10;

/// Intervals with about the same number of files in L0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadsByFiles {
    /// Least number of files; the most is [`STEP`] - 1 more.
    pub files: u32,
    /// In all of these intervals.
    pub all: Reads,
    /// In those in which no compaction moved a byte: what it takes of cores and device is
    /// no cost of the files.
    pub quiet: Reads,
}

/// What reads took in some intervals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reads {
    /// Intervals.
    pub intervals: usize,
    /// Mean of the point reads in microseconds; absent without any.
    pub point_reads: Option<f64>,
    /// Mean of the scans in microseconds; absent without any.
    pub scans: Option<f64>,
}

impl Reads {
    fn of(samples: &[&Sample]) -> Self {
        Self {
            intervals: samples.len(),
            point_reads: mean(samples.iter().map(|it| it.point_reads)),
            scans: mean(samples.iter().map(|it| it.scans)),
        }
    }
}

/// The files in L0 while a rate was offered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level0Files {
    /// Mean of the intervals' ends.
    pub mean: f64,
    /// The most at an interval's end.
    pub most: u32,
    /// Times that they began to grow fewer: merges that outlast an interval, or end in
    /// one, count once, and several within one interval count once together.
    pub merges: usize,
}

/// Counts the files of the intervals, which follow each other; `None` without any.
pub fn judge_level0(intervals: &[&Interval<'_>]) -> Option<Level0Files> {
    let files: Vec<u32> = intervals.iter().map(|it| level0_files(it.sample)).collect();
    let falls: Vec<bool> = files.windows(2).map(|pair| pair[1] < pair[0]).collect();
    let begins = falls.iter().enumerate();
    let begins = begins.filter(|(at, falls_now)| **falls_now && (*at == 0 || !falls[at - 1]));
    let sum: f64 = files.iter().copied().map(f64::from).sum();
    Some(Level0Files {
        mean: sum / files.len() as f64,
        most: files.iter().copied().max()?,
        merges: begins.count(),
    })
}

/// The runs in level 1 at the ends of intervals: merges of L0 shape it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level1Runs {
    /// Median.
    pub median: f64,
    /// The most.
    pub most: u32,
}

/// Counts the runs in level 1; `None` without an interval.
pub(super) fn judge_level1(intervals: &[&Interval<'_>]) -> Option<Level1Runs> {
    let runs = |it: &&Interval<'_>| {
        let level1 = it.sample.levels.iter().find(|it| it.level == 1);
        level1.map_or(0, |it| it.runs)
    };
    let most = intervals.iter().map(runs).max()?;
    let all: Vec<f64> = intervals.iter().map(|it| f64::from(runs(it))).collect();
    Some(Level1Runs {
        median: median(&all)?,
        most,
    })
}

/// Means of session number `session`, by files in L0, fewest first. An interval counts
/// for the files that L0 had at its end.
pub fn reads_by_level0_files(run: &ArmRun, session: usize) -> Vec<ReadsByFiles> {
    let intervals = Intervals::of(run, session);
    let mut groups: BTreeMap<u32, (Vec<&Sample>, Vec<&Sample>)> = BTreeMap::new();
    // What was counted before the first interval is not known.
    let mut moved = None;
    for it in intervals.all() {
        let least = level0_files(it.sample) / STEP * STEP;
        let (all, quiet) = groups.entry(least).or_default();
        all.push(it.sample);
        let before = moved.replace(compacted_bytes(it.sample));
        if before == moved {
            quiet.push(it.sample);
        }
    }
    let judged = |(files, (all, quiet)): (u32, (Vec<&Sample>, Vec<&Sample>))| ReadsByFiles {
        files,
        all: Reads::of(&all),
        quiet: Reads::of(&quiet),
    };
    groups.into_iter().map(judged).collect()
}

fn compacted_bytes(sample: &Sample) -> u64 {
    let background = sample.background;
    background.compaction_read_bytes + background.compaction_written_bytes
}

/// Files in L0 at an interval's end.
pub(super) fn level0_files(sample: &Sample) -> u32 {
    let level0 = sample.levels.iter().find(|it| it.level == 0);
    level0.map_or(0, |it| it.files)
}

/// The mean over all operations.
fn mean(summaries: impl Iterator<Item = LatencySummary>) -> Option<f64> {
    let (count, sum) = summaries.fold((0.0, 0.0), |(count, sum), it| {
        (count + it.count as f64, sum + it.mean * it.count as f64)
    });
    (count > 0.0).then(|| sum / count)
}
