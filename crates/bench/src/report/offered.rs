//! Sessions with an offered rate: throughput against it, latency, overloads, and the
//! load models.

use super::grid::Grid;
use super::labels::Labels;
use super::over_rounds::{cell, judged, latency, told};
use super::parts::parts;
use super::words::{bracketed, figure, micros};
use crate::judge::{
    Bytes, Figure, MODELS, ModelError, ModelErrors, Offered, Overload, PhaseShortfall, Processors,
    Scheduled, judge_load_models, judge_offered, judge_overload, overload_of,
};
use crate::run::{ArmRun, Results};
use crate::workload::{Periodic, Session};

/// How to read these tables.
const LEGEND: &str = "
Late: how long after the offered load's end an arm had done all of it.
Debt: of Lissom's arms, files of merges and drains that have begun, and L0 from its trigger on;
of stock arms, RocksDB's estimate of what compactions have to move; it has none for its universal
style. These are two quantities.
Write amp is of what the session wrote: what the debt at its end will cost is not in it.
L0 under the offered load: files at the ends of intervals; merges are counted by falls of that
number. Runs in level 1: at the ends of intervals, too; what is merged apart stands there as runs
of its own until L0 is merged as usual.
Shares of intervals: held high, an arm's schedule held the load for high; L0 waits, L0 was due and
waited; merged apart, L0 was due and merged by itself only; deeper held back, what lies deeper was
not let go on as it liked, whether anything was due there or not.
p99 back after: until ten seconds on end began in which no interval's p99 was over twice the
median of the session before, or over the highest there; the share of that session's own
intervals over twice it stands beside.
An interval in which nothing ended has no p99; it counts as one that carried nothing.
";

/// Tables of each session with an offered rate; empty without one.
pub(super) fn render_offered(results: &Results, rounds: usize, labels: &Labels) -> String {
    let sessions = results.parameters.workload.measured_sessions();
    let mut text = String::new();
    let mut any = false;
    for (number, session) in sessions.iter().enumerate() {
        if !session.is_open() {
            continue;
        }
        any = true;
        let (name, rate) = (&session.name, session.rate);
        let seen = seen(results, number, session, labels);
        let no_claim = writes_too_little(results, number, rounds);
        text += &format!(
            "\nAgainst the offered load: {name}, {rate}\n{}",
            offered(&seen, no_claim)
        );
        text += &format!("\nL0 under the offered load: {name}\n{}", level0(&seen));
        if let Some(grid) = parts(results, number, session, labels) {
            text += &format!("\nFrom part to part of {name}\n{grid}");
        }
        if let Some(rates) = overload_of(&sessions, number) {
            let grid = overload(results, number, &rates, labels);
            text += &format!("\nThrough the overload of {name}, and after it\n{grid}");
        }
        if let Some(grid) = load_models(results, number, labels) {
            text += &format!(
                "\nLoad models against the kernel's counters of I/O and of time: {name}; all of it, \
                 mean distance, and that after the best constant factor, %\n{grid}"
            );
        }
    }
    if any {
        text += LEGEND;
    }
    text
}

/// How the runs of each arm met the load, by its label.
type Seen = Vec<(String, Vec<Offered>)>;

fn seen(results: &Results, number: usize, session: &Session, labels: &Labels) -> Seen {
    let parameters = &results.parameters;
    let entries = parameters.workload.entries;
    let trigger = parameters.resources.level0_file_num_compaction_trigger;
    let trigger = u32::try_from(trigger).unwrap_or(0);
    let judge = |run: &ArmRun| judge_offered(run, number, session, entries, trigger);
    let arms = results.parameters.arms.iter();
    arms.map(|arm| (labels.of(arm), judged(results, arm, judge)))
        .collect()
}

fn offered(seen: &Seen, no_claim: bool) -> Grid {
    let mut grid = Grid::new(&[
        "arm",
        "under 95 %, % of intervals",
        "variation, %",
        "slowest, %",
        "late, s",
        "p99",
        "p99.9",
        "longest (max)",
        "stalled, s",
        "write amp",
        "most debt, MB",
        "debt at the end, MB",
    ]);
    for (label, seen) in seen {
        let longest = Figure::of(seen.iter().map(|it| it.latency.max));
        let written = Figure::of(seen.iter().filter_map(|it| it.write_amplification));
        grid.row([
            label.clone(),
            cell(seen, |it| it.dips * 100.0),
            told(seen, |it| it.variation.map(|share| share * 100.0)),
            cell(seen, |it| it.slowest * 100.0),
            cell(seen, |it| it.late),
            latency(seen, |it| it.latency.p99),
            latency(seen, |it| it.latency.p999),
            longest.map_or("-".into(), |it| micros(it.max)),
            cell(seen, |it| it.stall_seconds),
            written.map_or("-".into(), |it| bracketed(figure(&it), no_claim)),
            told(seen, |it| it.most_debt.map(|bytes| bytes / 1e6)),
            told(seen, |it| it.end_debt.map(|bytes| bytes / 1e6)),
        ]);
    }
    grid
}

/// What became of L0, and what a schedule had to do with it.
fn level0(seen: &Seen) -> Grid {
    let mut grid = Grid::new(&[
        "arm",
        "files, mean",
        "files, most",
        "merges",
        "runs in level 1, median",
        "most",
        "held high, %",
        "L0 waits, %",
        "merged apart, %",
        "deeper held back, %",
    ]);
    for (label, seen) in seen {
        let schedules: Vec<Scheduled> = seen.iter().filter_map(|it| it.schedule).collect();
        grid.row([
            label.clone(),
            cell(seen, |it| it.level0.mean),
            cell(seen, |it| f64::from(it.level0.most)),
            cell(seen, |it| it.level0.merges as f64),
            cell(seen, |it| it.level1.median),
            cell(seen, |it| f64::from(it.level1.most)),
            cell(&schedules, |it| it.high * 100.0),
            cell(&schedules, |it| it.waits * 100.0),
            cell(&schedules, |it| it.apart * 100.0),
            cell(&schedules, |it| it.deep_delayed * 100.0),
        ]);
    }
    grid
}

/// Whether one session spans too little for its write amplification to be a claim.
fn writes_too_little(results: &Results, number: usize, rounds: usize) -> bool {
    let shortfall = |run: &ArmRun| {
        let data_bytes = run.data_bytes()?;
        let written = run.sessions.get(number)?.user_bytes;
        PhaseShortfall::of(&results.parameters, data_bytes, written, rounds)
    };
    results.runs.first().and_then(shortfall).is_some()
}

fn overload(results: &Results, number: usize, rates: &Periodic, labels: &Labels) -> Grid {
    let mut grid = Grid::new(&[
        "arm",
        "carried, /s",
        "worst interval, % of it",
        "of the offer",
        "worst p99",
        "p99 before",
        "over twice it before, %",
        "p99 back after, s",
        "L0 files, most",
        "stalled, s",
        "at the bound, s",
    ]);
    for arm in &results.parameters.arms {
        let judge = |run: &ArmRun| judge_overload(run, number, rates);
        let seen: Vec<Overload> = judged(results, arm, judge);
        let back: Vec<f64> = seen.iter().filter_map(|it| it.back_after).collect();
        let at_bound: Vec<f64> = seen.iter().filter_map(|it| it.at_bound_seconds).collect();
        grid.row([
            labels.of(arm),
            cell(&seen, |it| it.carried),
            cell(&seen, |it| it.worst_share * 100.0),
            cell(&seen, |it| it.worst_of_offer * 100.0),
            latency(&seen, |it| it.worst_p99),
            latency(&seen, |it| it.calm_p99),
            cell(&seen, |it| it.calm_over * 100.0),
            if back.len() < seen.len() {
                format!("not in {} of {}", seen.len() - back.len(), seen.len())
            } else {
                cell(&back, |it| *it)
            },
            cell(&seen, |it| f64::from(it.most_level0_files)),
            cell(&seen, |it| it.stall_seconds),
            cell(&at_bound, |it| *it),
        ]);
    }
    grid
}

/// Models as columns; `None` where no arm counts a load.
fn load_models(results: &Results, number: usize, labels: &Labels) -> Option<Grid> {
    let mut titles = vec!["arm", "users by the kernel, MB/s"];
    titles.extend(MODELS.iter().map(|(name, _)| *name));
    titles.extend(["processors by the kernel, %", "processors"]);
    let cores = results.machine.cores;
    let mut grid = Grid::new(&titles);
    let mut any = false;
    for arm in &results.parameters.arms {
        let judge = |run: &ArmRun| judge_load_models(run, number, cores);
        let seen: Vec<ModelErrors> = judged(results, arm, judge);
        if seen.is_empty() {
            continue;
        }
        any = true;
        let bytes: Vec<&Bytes> = seen.iter().filter_map(|it| it.bytes.as_ref()).collect();
        let busy: Vec<Processors> = seen.iter().filter_map(|it| it.processors).collect();
        let mut row = vec![labels.of(arm), cell(&bytes, |it| it.kernel / 1e6)];
        row.extend((0..MODELS.len()).map(|model| model_cell(&bytes, |it| it.models[model])));
        row.push(cell(&busy, |it| it.kernel * 100.0));
        row.push(model_cell(&busy, |it| it.model));
        grid.row(row);
    }
    any.then_some(grid)
}

/// Bias of a model, its error and the scaled one, percent: `-12.0 ±1.5, 34.0 ±2.0, 9.0 ±1.0`.
fn model_cell<T>(seen: &[T], model: impl Fn(&T) -> ModelError) -> String {
    let percent =
        |of: fn(&ModelError) -> f64| Figure::of(seen.iter().map(|it| of(&model(it)) * 100.0));
    let errors = [percent(|it| it.error), percent(|it| it.scaled_error)];
    let (Some(bias), [Some(error), Some(scaled)]) = (percent(|it| it.bias), errors) else {
        return "-".into();
    };
    let sign = if bias.median < 0.0 { "" } else { "+" };
    let figures = [&bias, &error, &scaled].map(figure);
    format!("{sign}{}", figures.join(", "))
}
