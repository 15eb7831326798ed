//! Memory in the course of a long run, as text.

use super::grid::Grid;
use super::labels::Labels;
use super::over_rounds::{cell, judged};
use crate::judge::{TENTHS, Tenth, judge_tenths};
use crate::run::Results;

/// How to read the table.
const NOTE: &str =
    "  Beside the harness's own. Caches fill first, and every open table file takes some of it.\n";

const MEBI: f64 = (1 << 20) as f64;

/// Two rows for each arm whose runs were long; empty without one.
pub(super) fn render_tenths(results: &Results, labels: &Labels) -> String {
    let ends: Vec<String> = (1..=TENTHS).map(|tenth| format!("{tenth}0 %")).collect();
    let mut titles = vec!["arm", ""];
    titles.extend(ends.iter().map(String::as_str));
    let mut grid = Grid::new(&titles);
    let mut any = false;
    for arm in &results.parameters.arms {
        let seen: Vec<[Tenth; TENTHS]> = judged(results, arm, judge_tenths);
        if seen.is_empty() {
            continue;
        }
        any = true;
        let memory = |at: usize| cell(&seen, |it| it[at].memory_bytes as f64 / MEBI);
        let files = |at: usize| cell(&seen, |it| f64::from(it[at].files));
        grid.row(row(labels.of(arm), "memory, MiB", memory));
        grid.row(row(String::new(), "table files", files));
    }
    if !any {
        return String::new();
    }
    format!(
        "\nMemory and table files at the end of each tenth of a run, over all its sessions\n\
         {grid}{NOTE}"
    )
}

fn row(arm: String, what: &str, of: impl Fn(usize) -> String) -> Vec<String> {
    let mut row = vec![arm, what.to_string()];
    row.extend((0..TENTHS).map(of));
    row
}
