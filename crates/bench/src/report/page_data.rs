//! What the page is drawn from: the verdict and a thinned series of each run.

use serde::Serialize;

use super::headroom::empty_hull;
use super::labels::Labels;
use super::supplement::Supplement;
use crate::drive::{LatencySummary, Sample};
use crate::judge::Verdict;
use crate::run::{ArmRun, Failure, LEAST_ROUNDS, Machine, Parameters, Results};
use crate::store::LevelShape;

/// Most points of a line; more cannot be told apart on a screen.
const MOST_POINTS: usize = 300;

#[derive(Serialize)]
pub struct PageData {
    parameters: Parameters,
    machine: Machine,
    /// The programs that made the runs.
    programs: Vec<String>,
    /// What the page shows for arms, which have their names here; sentences have labels.
    labels: Labels,
    verdict: Verdict,
    /// Why the verdict tells of no headroom, where arms were judged.
    empty_hull: Option<&'static str>,
    least_rounds: u32,
    failures: Vec<Failure>,
    runs: Vec<RunSeries>,
    #[serde(skip_serializing_if = "Option::is_none")]
    supplement: Option<Supplement>,
}

#[derive(Serialize)]
struct RunSeries {
    arm: String,
    /// Whether its debt is RocksDB's own estimate.
    stock: bool,
    round: u32,
    /// Operations of each session, and its seconds.
    sessions: Vec<SessionSpan>,
    points: Vec<Point>,
}

#[derive(Serialize)]
struct SessionSpan {
    name: String,
    open: bool,
    operations: u64,
    seconds: f64,
}

#[derive(Default, Serialize)]
struct Point {
    /// Seconds from the first session's start to the middle of the interval.
    at: f64,
    /// Number of the session.
    session: usize,
    /// Share of the session's operations that had ended.
    share: f64,
    rate: f64,
    /// Latencies are absent where nothing ended.
    p50: Option<f64>,
    p99: Option<f64>,
    max: Option<f64>,
    disk: u64,
    debt: Option<u64>,
    memory: u64,
    levels: Vec<LevelShape>,
}

/// Gathers the page's data; a supplement stands behind all else.
pub fn page_data(results: &Results, supplement: Option<&Supplement>) -> PageData {
    let labels = Labels::of_plan(&results.parameters.arms);
    let mut verdict = super::verdict_of(results);
    for caution in &mut verdict.cautions {
        *caution = labels.in_sentence(caution);
    }
    let mut failures = results.failures.clone();
    for failure in &mut failures {
        failure.sentence = labels.in_sentence(&failure.sentence);
    }
    PageData {
        parameters: results.parameters.clone(),
        machine: results.machine.clone(),
        programs: results.programs().iter().map(ToString::to_string).collect(),
        labels,
        empty_hull: empty_hull(&verdict),
        verdict,
        least_rounds: LEAST_ROUNDS,
        failures,
        runs: results.runs.iter().map(series).collect(),
        supplement: supplement.cloned(),
    }
}

fn series(run: &ArmRun) -> RunSeries {
    let sessions = run.sessions.iter().map(|session| SessionSpan {
        name: session.name.clone(),
        open: session.open,
        operations: session.operations,
        seconds: session.seconds,
    });
    let step = run.samples.len().div_ceil(MOST_POINTS).max(1);
    let mut points = Vec::new();
    for (number, session) in run.sessions.iter().enumerate() {
        let own: Vec<&Sample> = run.samples.iter().filter(|s| s.session == number).collect();
        let mut done = 0.0;
        for group in own.chunks(step) {
            let ended: f64 = group
                .iter()
                .map(|s| s.operations_per_second * s.seconds)
                .sum();
            let middle = done + ended / 2.0;
            done += ended;
            points.push(point(
                group,
                middle / session.operations.max(1) as f64,
                ended,
            ));
        }
    }
    RunSeries {
        arm: run.arm.to_string(),
        stock: run.arm.is_stock(),
        round: run.round,
        sessions: sessions.collect(),
        points,
    }
}

/// One point for several samples: the mean rate, the worst latency, the last state.
fn point(group: &[&Sample], share: f64, ended: f64) -> Point {
    let [first, .., last] = group else {
        return group.first().map_or(Point::default(), |only| {
            merged(only, only, group, share, ended)
        });
    };
    merged(first, last, group, share, ended)
}

fn merged(first: &Sample, last: &Sample, group: &[&Sample], share: f64, ended: f64) -> Point {
    let highest = |pick: fn(&LatencySummary) -> f64| {
        let latencies = group.iter().map(|s| &s.latency);
        let seen = latencies.filter(|it| !it.is_empty());
        seen.map(pick).max_by(f64::total_cmp)
    };
    let seconds: f64 = group.iter().map(|sample| sample.seconds).sum();
    Point {
        at: (first.at - first.seconds + last.at) / 2.0,
        session: last.session,
        share: share.clamp(0.0, 1.0),
        rate: ended / seconds.max(1e-9),
        p50: highest(|it| it.p50),
        p99: highest(|it| it.p99),
        max: highest(|it| it.max),
        disk: group
            .iter()
            .map(|sample| sample.disk_bytes)
            .max()
            .unwrap_or(0),
        debt: last.debt_bytes,
        memory: last.process.resident_bytes,
        levels: last.levels.clone(),
    }
}
