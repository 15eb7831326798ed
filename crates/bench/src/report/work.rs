//! What arms of Lissom did beside serving: pieces over their bound, memory against what
//! their settings state, and learning.

use std::collections::BTreeSet;

use lissom::core::tuner::Policy;

use super::grid::Grid;
use super::labels::Labels;
use super::over_rounds::whole;
use super::words::{figure, figure_with, mebibytes};
use crate::arms::{EXCESSES, excess_name, settings_of};
use crate::judge::Figure;
use crate::run::{ArmRun, Results};
use crate::store::{Counters, TunerCounters};

/// Tables, each only where there is something to tell.
pub(super) fn render_work(results: &Results, labels: &Labels) -> String {
    let mut text = String::new();
    if let Some(grid) = excesses(results, labels) {
        text += &format!("\nPieces over their bound in a run, by cause\n{grid}");
    }
    if let Some(grid) = memory(results, labels) {
        text += &format!("\nMemory of the process, beside the harness's own\n{grid}");
    }
    if let Some(grid) = learners(results, labels) {
        text += &format!("\nWhat the learners did in a run\n{grid}");
    }
    text
}

/// Causes as columns, arms as rows; `None` where no arm has a bound. An arm of Lissom
/// without an excess has its row, too: that there was none is a result.
fn excesses(results: &Results, labels: &Labels) -> Option<Grid> {
    let counters = results.whole_rounds().map(|run| &run.totals.counters);
    let found = counters.flat_map(|it| it.excesses.keys().cloned());
    let causes: BTreeSet<String> = EXCESSES.map(excess_name).into_iter().chain(found).collect();
    let mut titles = vec!["arm", "pieces"];
    titles.extend(causes.iter().map(String::as_str));
    let mut grid = Grid::new(&titles);
    let mut any = false;
    for arm in &results.parameters.arms {
        let runs: Vec<&ArmRun> = whole(results, arm).collect();
        if !runs.iter().any(|run| is_bounded(&run.totals.counters)) {
            continue;
        }
        any = true;
        let cell = |of: &dyn Fn(&ArmRun) -> u64| {
            Figure::of(runs.iter().map(|run| of(run) as f64)).map_or("-".into(), |it| figure(&it))
        };
        let mut row = vec![labels.of(arm), cell(&|run| run.totals.counters.compactions)];
        for cause in &causes {
            row.push(cell(&|run| {
                let excesses = &run.totals.counters.excesses;
                excesses.get(cause).copied().unwrap_or(0)
            }));
        }
        grid.row(row);
    }
    any.then_some(grid)
}

/// Whether an arm cuts its work into pieces that have a bound.
fn is_bounded(counters: &Counters) -> bool {
    counters.drains.is_some() || !counters.excesses.is_empty()
}

/// The most that an arm held in any round, and what its settings state for as many files.
fn memory(results: &Results, labels: &Labels) -> Option<Grid> {
    let resources = &results.parameters.resources;
    let settings = settings_of(Policy::LazyLeveling, resources);
    let file = resources.target_file_size_base.max(1);
    let mut grid = Grid::new(&["arm", "budget", "bound", "held (max)", ""]);
    let mut any = false;
    for arm in &results.parameters.arms {
        let runs = || whole(results, arm);
        if runs().all(|run| run.totals.counters.drains.is_none()) {
            continue;
        }
        any = true;
        let files = runs().map(|run| most_disk_bytes(run) / file).max();
        let bound = settings.memory_bound_bytes(files.unwrap_or(0));
        let held = runs().map(|run| {
            let totals = &run.totals;
            totals
                .peak_resident_bytes
                .saturating_sub(totals.baseline_resident_bytes)
        });
        let held = held.max().unwrap_or(0);
        grid.row([
            labels.of(arm),
            mebibytes(settings.memory_budget_bytes as f64),
            mebibytes(bound as f64),
            mebibytes(held as f64),
            if held > bound { "over its bound" } else { "" }.to_string(),
        ]);
    }
    any.then(|| grid.left_from(4))
}

/// Published results have no samples: there the ends of the sessions have to do.
fn most_disk_bytes(run: &ArmRun) -> u64 {
    let sampled = run.samples.iter().map(|sample| sample.disk_bytes);
    let ends = run.sessions.iter().map(|session| session.disk_bytes);
    sampled.chain(ends).fold(run.load.disk_bytes, u64::max)
}

fn learners(results: &Results, labels: &Labels) -> Option<Grid> {
    let mut grid = Grid::new(&[
        "arm",
        "missions",
        "changes of limits",
        "updates",
        "left out",
        "µs a mission",
        "of the time",
    ]);
    let mut any = false;
    for arm in &results.parameters.arms {
        let runs: Vec<(&ArmRun, TunerCounters)> = whole(results, arm)
            .filter_map(|run| Some((run, run.totals.counters.tuner.filter(learns)?)))
            .collect();
        let cell = |of: &dyn Fn(&ArmRun, &TunerCounters) -> f64| {
            Figure::of(runs.iter().map(|(run, tuner)| of(run, tuner)))
        };
        let Some(asked) = cell(&|_, tuner| tuner.asked as f64) else {
            continue;
        };
        any = true;
        let each = |tuner: &TunerCounters| tuner.micros as f64 / tuner.asked.max(1) as f64;
        let skipped = runs.iter().filter_map(|(_, tuner)| tuner.skipped);
        let rest = [
            cell(&|_, tuner| tuner.changed as f64),
            cell(&|_, tuner| tuner.steps as f64),
            Figure::of(skipped.map(|skipped| skipped as f64)),
            cell(&|_, tuner| each(tuner)),
        ];
        let share = cell(&|run, tuner| {
            let seconds: f64 = run.sessions.iter().map(|session| session.seconds).sum();
            tuner.micros as f64 / 1e6 / seconds.max(1e-9) * 100.0
        });
        let mut row = vec![labels.of(arm), figure(&asked)];
        row.extend(rest.iter().map(|it| it.as_ref().map_or("-".into(), figure)));
        row.push(share.map_or("-".into(), |it| figure_with(&it, 3) + " %"));
        grid.row(row);
    }
    any.then_some(grid)
}

/// Whether a tuner learned, or left out what it could have learned.
fn learns(tuner: &TunerCounters) -> bool {
    tuner.steps > 0 || tuner.skipped.is_some_and(|skipped| skipped > 0)
}
