//! Reads against the number of files in L0, where that number varied.

use std::collections::BTreeMap;

use super::grid::Grid;
use super::labels::Labels;
use super::over_rounds::whole;
use super::words::micros_figure;
use crate::arms::ArmName;
use crate::judge::{Figure, LEVEL0_STEP, Reads, ReadsByFiles, reads_by_level0_files};
use crate::run::Results;

/// Groups of numbers of files without which there is nothing to compare.
const ENOUGH: usize = 3;

/// Tables of closed sessions with reads in which L0 had few files and many; empty
/// without one. Where a rate is offered, latency would count waiting too. Quiet intervals
/// stand apart: an L0 of many files is merged, and the merge costs reads, too.
pub(super) fn render_level0(results: &Results, labels: &Labels) -> String {
    let sessions = results.parameters.workload.measured_sessions();
    let mut text = String::new();
    for (number, session) in sessions.iter().enumerate() {
        if session.is_open() {
            continue;
        }
        if let Some(grid) = grid(results, number, labels) {
            text += &format!(
                "\nReads against files in L0: {}; quiet: without intervals in which compactions \
                 moved bytes\n{grid}",
                session.name
            );
        }
    }
    text
}

/// One arm's figures of the same number of files, over rounds.
type ByFiles = BTreeMap<u32, Vec<ReadsByFiles>>;

fn grid(results: &Results, number: usize, labels: &Labels) -> Option<Grid> {
    let mut grid = Grid::new(&[
        "arm",
        "files in L0",
        "intervals",
        "point reads",
        "scans",
        "quiet",
        "point reads",
        "scans",
    ]);
    let mut any = false;
    for arm in &results.parameters.arms {
        let seen = by_files(results, arm, number);
        if seen.len() < ENOUGH || seen.values().flatten().all(reads_nothing) {
            continue;
        }
        any = true;
        for (files, rounds) in seen {
            let mut row = vec![
                labels.of(arm),
                format!("{files} to {}", files + LEVEL0_STEP - 1),
            ];
            row.extend(cells(rounds.iter().map(|it| it.all)));
            row.extend(cells(rounds.iter().map(|it| it.quiet)));
            grid.row(row);
        }
    }
    any.then_some(grid)
}

/// How many intervals there were in all rounds, and what reads took in them.
fn cells(rounds: impl Iterator<Item = Reads> + Clone) -> [String; 3] {
    let mean = |of: fn(Reads) -> Option<f64>| {
        let figure = Figure::of(rounds.clone().filter_map(of));
        figure.map_or("-".into(), |it| micros_figure(&it))
    };
    let intervals: usize = rounds.clone().map(|it| it.intervals).sum();
    [
        intervals.to_string(),
        mean(|it| it.point_reads),
        mean(|it| it.scans),
    ]
}

fn by_files(results: &Results, arm: &ArmName, number: usize) -> ByFiles {
    let mut seen = ByFiles::new();
    for run in whole(results, arm) {
        for it in reads_by_level0_files(run, number) {
            seen.entry(it.files).or_default().push(it);
        }
    }
    seen
}

fn reads_nothing(it: &ReadsByFiles) -> bool {
    it.all.point_reads.is_none() && it.all.scans.is_none()
}
