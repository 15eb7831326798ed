//! Reads against the number of files in L0.

use std::collections::BTreeMap;

use super::intervals::Intervals;
use crate::drive::{LatencySummary, Sample};
use crate::run::ArmRun;

/// Numbers of files that are looked at together.
pub const STEP: u32 = 10;

/// Intervals with about the same number of files in L0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadsByFiles {
    /// Least number of files; the most is [`STEP`] - 1 more.
    pub files: u32,
    /// Intervals.
    pub intervals: usize,
    /// Mean of the point reads in microseconds; absent without any.
    pub point_reads: Option<f64>,
    /// Mean of the scans in microseconds; absent without any.
    pub scans: Option<f64>,
}

/// Means of session number `session`, by files in L0, fewest first. An interval counts
/// for the files that L0 had at its end.
pub fn reads_by_level0_files(run: &ArmRun, session: usize) -> Vec<ReadsByFiles> {
    let intervals = Intervals::of(run, session);
    let mut groups: BTreeMap<u32, Vec<&Sample>> = BTreeMap::new();
    for it in intervals.all() {
        let least = level0_files(it.sample) / STEP * STEP;
        groups.entry(least).or_default().push(it.sample);
    }
    let judged = |(files, samples): (u32, Vec<&Sample>)| ReadsByFiles {
        files,
        intervals: samples.len(),
        point_reads: mean(samples.iter().map(|it| it.point_reads)),
        scans: mean(samples.iter().map(|it| it.scans)),
    };
    groups.into_iter().map(judged).collect()
}

fn level0_files(sample: &Sample) -> u32 {
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
