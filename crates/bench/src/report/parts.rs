//! A long session with an offered rate, part by part.

use super::grid::Grid;
use super::labels::Labels;
use super::over_rounds::{cell, judged, told, told_latency};
use crate::judge::{Part, judge_part, parts_of};
use crate::run::{ArmRun, Results};
use crate::workload::Session;

/// A row for each arm and part; `None` where no run was long.
pub(super) fn parts(
    results: &Results,
    number: usize,
    session: &Session,
    labels: &Labels,
) -> Option<Grid> {
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
        for between in parts_of(session, entries) {
            let judge = |run: &ArmRun| judge_part(run, number, session, between);
            let seen: Vec<Part> = judged(results, arm, judge);
            if seen.is_empty() {
                continue;
            }
            any = true;
            grid.row([
                labels.of(arm),
                format!("{:.0}", between.0),
                format!("{:.0}", between.1),
                cell(&seen, |it| it.dips * 100.0),
                cell(&seen, |it| it.slowest * 100.0),
                told_latency(&seen, |it| it.median_p99),
                told_latency(&seen, |it| it.worst_p99),
                cell(&seen, |it| f64::from(it.most_level0_files)),
                told(&seen, |it| it.most_debt.map(|bytes| bytes / 1e6)),
            ]);
        }
    }
    any.then_some(grid)
}
