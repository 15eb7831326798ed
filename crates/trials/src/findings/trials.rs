//! What became of each trial.

use serde::Serialize;

use lissom_search::objective::Metrics;
use lissom_search::record::Event;
use lissom_search::search::{Decision, Outcome, Sample, Search, State, Trial, TrialId};
use lissom_search::space::Difference;

/// A trial.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TrialRow {
    /// Its name.
    pub trial: TrialId,
    /// Its place in the end, from 1 for the best; absent if it failed or was never
    /// measured.
    pub place: Option<usize>,
    /// Why it exists.
    pub origin: String,
    /// The buckets of its features; absent where they are those of no arm.
    pub arm: Option<String>,
    /// Why it was started.
    pub why: String,
    /// Why it was stopped; absent if it failed.
    pub stopped: Option<String>,
    /// How it failed, if it did.
    pub failure: Option<FailureRow>,
    /// Seconds that it was measured for.
    pub seconds: f64,
    /// Seconds before it ran.
    pub setup_seconds: f64,
    /// What was measured, at each comparison.
    pub readings: Vec<ReadingRow>,
    /// Throughput over its running time.
    pub series: Vec<Sample>,
    /// In what it differs from the default configuration.
    pub changes: Vec<Difference>,
}

/// How a trial failed.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FailureRow {
    /// In which way.
    pub cause: String,
    /// What the program or the system said.
    pub detail: String,
}

/// What was measured of a trial up to a time.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ReadingRow {
    /// Seconds that it had run.
    pub seconds: f64,
    /// Seconds by the clock since the search began.
    pub spent: f64,
    /// One for each goal; empty if the goals cannot be computed.
    pub values: Vec<f64>,
    /// All that was reported.
    pub metrics: Metrics,
}

/// All trials.
pub(super) fn rows(search: &Search, events: &[Event]) -> Vec<TrialRow> {
    let order = search.order();
    let trials = search.trials().iter();
    trials
        .map(|trial| row(search, events, &order, trial))
        .collect()
}

fn row(search: &Search, events: &[Event], order: &[TrialId], trial: &Trial) -> TrialRow {
    let default = search.space().default_configuration();
    let failure = match &trial.state {
        State::Failed(cause, detail) => Some(FailureRow {
            cause: cause.to_string(),
            detail: detail.clone(),
        }),
        _ => None,
    };
    TrialRow {
        trial: trial.id,
        place: order.iter().position(|id| *id == trial.id).map(|it| it + 1),
        origin: trial.origin.to_string(),
        arm: trial.arm.map(|arm| search.arms().describe(arm)),
        why: reason(events, trial.id, |it| matches!(it, Decision::Start { .. }))
            .unwrap_or_default(),
        stopped: reason(events, trial.id, |it| matches!(it, Decision::Stop { .. })),
        failure,
        seconds: trial.reached(),
        setup_seconds: trial.setup_seconds,
        readings: readings(search, events, trial),
        series: trial.series.clone(),
        changes: default.differences(&trial.configuration),
    }
}

/// The reason of the first such decision on a trial.
fn reason(events: &[Event], trial: TrialId, wanted: impl Fn(&Decision) -> bool) -> Option<String> {
    events.iter().find_map(|event| match event {
        Event::Decision { decision, .. } if wanted(decision) => {
            (decision.trial() == Some(trial)).then(|| decision.reason().to_owned())
        }
        _ => None,
    })
}

/// Readings are the measurements of a trial that the search could use, in their
/// order.
fn readings(search: &Search, events: &[Event], trial: &Trial) -> Vec<ReadingRow> {
    let told = events.iter().filter_map(|event| match event {
        Event::Measurement { at, measurement } if measurement.trial == trial.id => {
            match &measurement.outcome {
                Outcome::Measured { .. } => Some(*at),
                _ => None,
            }
        }
        _ => None,
    });
    let objective = &search.setup().objective;
    let readings = trial.readings.iter().zip(told);
    readings
        .map(|(reading, spent)| ReadingRow {
            seconds: reading.seconds,
            spent,
            values: objective.values(&reading.metrics).unwrap_or_default(),
            metrics: reading.metrics.clone(),
        })
        .collect()
}
