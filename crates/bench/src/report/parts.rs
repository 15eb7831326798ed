//! A long session with an offered rate, part by part.

use super::grid::Grid;
use super::over_rounds::{cell, judged, latency};
use crate::judge::{Part, judge_parts};
use crate::run::{ArmRun, Results};
use crate::workload::Session;

/// A row for each arm and part; `None` where no run was long.
pub(super) fn parts(results: &Results, number: usize, session: &Session) -> Option<Grid> {
    let mut grid = Grid::new(&[
        "arm",
        "from, s",
        "to, s",
        "under 95 %, % of intervals",
        "slowest, %",
        "p99, median",
        "p99, worst",
        "L0 files, most",
        "most debt, MB",
    ]);
    let entries = results.parameters.workload.entries;
    let mut any = false;
    for arm in &results.parameters.arms {
        let judge = |run: &ArmRun| Some(judge_parts(run, number, session, entries));
        for seen in by_part(judged(results, arm, judge)) {
            let Some((from, to)) = seen.first().map(|it| it.between) else {
                continue;
            };
            any = true;
            grid.row([
                arm.to_string(),
                format!("{from:.0}"),
                format!("{to:.0}"),
                cell(&seen, |it| it.dips * 100.0),
                cell(&seen, |it| it.slowest * 100.0),
                latency(&seen, |it| it.median_p99),
                latency(&seen, |it| it.worst_p99),
                cell(&seen, |it| f64::from(it.most_level0_files)),
                cell(&seen, |it| it.most_debt / 1e6),
            ]);
        }
    }
    any.then_some(grid)
}

/// From parts by run to runs by part. The parts of all runs are the same ones, unless a run
/// had no whole interval in one; they are told apart by when they began.
fn by_part(runs: Vec<Vec<Part>>) -> Vec<Vec<Part>> {
    let mut parts: Vec<Vec<Part>> = Vec::new();
    for part in runs.into_iter().flatten() {
        match parts.iter_mut().find(|it| it[0].between == part.between) {
            Some(same) => same.push(part),
            None => parts.push(vec![part]),
        }
    }
    parts
}
