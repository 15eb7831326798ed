//! A campaign as tables: gains, predicted against measured I/Os, tunings.

use std::fmt::Write as _;

use lissom::core::cost_model::{OperationKind, expected_workloads, published_tunings};

use super::campaign::{Campaign, Experiment, TuningKind};
use super::engine::SessionCost;
use super::sessions::SessionKind;

/// Both tunings of one expected workload.
struct Pair<'a> {
    nominal: &'a Experiment,
    robust: &'a Experiment,
}

impl Pair<'_> {
    /// Gain of the robust tuning over all sessions, by a cost.
    fn gain(&self, cost: &dyn Fn(&Experiment) -> f64) -> f64 {
        cost(self.nominal) / cost(self.robust) - 1.0
    }
}

/// The cost of an experiment: the mean of its sessions' I/Os per query.
fn ios(experiment: &Experiment) -> f64 {
    mean(experiment, &|session| session.ios_per_query())
}

fn predicted(experiment: &Experiment) -> f64 {
    mean(experiment, &|session| {
        session.predicted(&experiment.tuned.costs)
    })
}

fn seconds(experiment: &Experiment) -> f64 {
    mean(experiment, &|session| session.seconds)
}

fn mean(experiment: &Experiment, of: &dyn Fn(&SessionCost) -> f64) -> f64 {
    let sum: f64 = experiment.sessions.iter().map(of).sum();
    sum / experiment.sessions.len().max(1) as f64
}

/// The campaign as tables: gains, and predicted against measured I/Os.
pub fn render_campaign(campaign: &Campaign) -> String {
    let plan = &campaign.plan;
    let mut text = format!(
        "{} entries of 1 KB, {} sessions of {} workloads of {} queries, seed {}\n\n",
        plan.entries,
        SessionKind::ALL.len(),
        plan.workloads,
        plan.queries,
        plan.seed
    );
    let _ = writeln!(
        text,
        "{:<5}{:>6}  {:<52}{:<52}{:>9}{:>9}{:>9}",
        "", "rho", "nominal", "robust", "I/Os", "model", "time"
    );
    let mut won = 0;
    let mut pairs = 0;
    for expected in expected_workloads() {
        let Some(pair) = pair(campaign, expected.name) else {
            continue;
        };
        let gain = pair.gain(&ios);
        won += usize::from(gain >= 0.0);
        pairs += 1;
        let _ = writeln!(
            text,
            "{:<5}{:>6.2}  {:<52}{:<52}{:>+8.1}%{:>+8.1}%{:>+8.1}%",
            expected.name,
            pair.robust.rho,
            pair.nominal.tuned.tuning.to_string(),
            pair.robust.tuned.tuning.to_string(),
            100.0 * gain,
            100.0 * pair.gain(&predicted),
            100.0 * pair.gain(&seconds),
        );
    }
    let _ = writeln!(
        text,
        "\nThe robust tuning wins or ties {won} of {pairs} by measured I/Os. Gains are of \
         throughput over all six sessions: by I/Os per query, by the model, by time.\n"
    );
    text += &correlations(campaign);
    text += &sequences(campaign);
    text + &side_by_side(campaign)
}

/// Expected workloads whose sessions are shown one by one, as in Endure's figures 7
/// to 9.
const SHOWN: [&str; 2] = ["w7", "w11"];

/// I/Os per query of each session, predicted and measured, under both tunings.
fn sequences(campaign: &Campaign) -> String {
    let mut text = String::new();
    for name in SHOWN {
        let Some(pair) = pair(campaign, name) else {
            continue;
        };
        let _ = writeln!(
            text,
            "\n{name}, I/Os per query\n  {:<18}{:>12}{:>12}{:>12}{:>12}{:>10}",
            "session", "nominal", "by model", "robust", "by model", "gain"
        );
        let sessions = pair.nominal.sessions.iter().zip(&pair.robust.sessions);
        for (nominal, robust) in sessions {
            let (before, after) = (nominal.ios_per_query(), robust.ios_per_query());
            let _ = writeln!(
                text,
                "  {:<18}{:>12.3}{:>12.3}{:>12.3}{:>12.3}{:>+9.1}%",
                nominal.kind.name(),
                before,
                nominal.predicted(&pair.nominal.tuned.costs),
                after,
                robust.predicted(&pair.robust.tuned.costs),
                100.0 * (before / after - 1.0),
            );
        }
    }
    text
}

/// The tunings of the whole design space, those that the tree can hold, and the
/// authors'.
fn side_by_side(campaign: &Campaign) -> String {
    let mut text = format!(
        "\nTunings: of the whole design space, those that the tree can hold, the paper's\n{:<5}{:<10}{:<66}{:<52}{}\n",
        "", "", "whole space", "measured here", "paper"
    );
    for (expected, published) in expected_workloads().iter().zip(published_tunings()) {
        let Some(pair) = pair(campaign, expected.name) else {
            continue;
        };
        let rho = pair.robust.rho;
        let advice = campaign.plan.expectation(expected, rho).advise().ok();
        let rows = [
            (pair.nominal, &published.nominal),
            (pair.robust, &published.robust),
        ];
        for (measured, paper) in rows {
            let (name, kind) = match measured.kind {
                TuningKind::Nominal => (expected.name, "nominal"),
                TuningKind::Robust => ("", "robust"),
            };
            let best = advice.as_ref().map(|advice| match measured.kind {
                TuningKind::Nominal => advice.nominal.tuning.clone(),
                TuningKind::Robust => advice.robust.tuning.clone(),
            });
            let whole = best.map_or("-".into(), |tuning| {
                let held = tuning == measured.tuned.tuning;
                let remark = if held { "" } else { " (model only)" };
                format!("{tuning}{remark}")
            });
            let _ = writeln!(
                text,
                "{name:<5}{kind:<10}{whole:<66}{:<52}{}",
                measured.tuned.tuning.to_string(),
                paper,
            );
        }
    }
    text
}

fn pair<'a>(campaign: &'a Campaign, name: &str) -> Option<Pair<'a>> {
    let find = |kind| {
        campaign
            .experiments
            .iter()
            .find(|it| it.workload == name && it.kind == kind)
    };
    Some(Pair {
        nominal: find(TuningKind::Nominal)?,
        robust: find(TuningKind::Robust)?,
    })
}

/// Predicted against measured I/Os of each kind of operation, over all sessions.
fn correlations(campaign: &Campaign) -> String {
    let mut text = format!(
        "{:<24}{:>10}{:>14}{:>14}{:>14}\n",
        "I/Os per operation", "sessions", "correlation", "predicted", "measured"
    );
    for kind in OperationKind::ALL {
        let points: Vec<(f64, f64)> = campaign
            .experiments
            .iter()
            .flat_map(|experiment| {
                experiment.sessions.iter().filter_map(move |session| {
                    let count = session.queries[kind as usize];
                    (count > 0).then(|| {
                        (
                            experiment.tuned.costs[kind],
                            session.ios[kind as usize] / count as f64,
                        )
                    })
                })
            })
            .collect();
        let count = points.len().max(1) as f64;
        let _ = writeln!(
            text,
            "{:<24}{:>10}{:>14.2}{:>14.3}{:>14.3}",
            kind.to_string(),
            points.len(),
            correlation(&points),
            points.iter().map(|point| point.0).sum::<f64>() / count,
            points.iter().map(|point| point.1).sum::<f64>() / count,
        );
    }
    text
}

/// Pearson's coefficient; not a number when one side does not vary.
fn correlation(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let mean_x = points.iter().map(|point| point.0).sum::<f64>() / count;
    let mean_y = points.iter().map(|point| point.1).sum::<f64>() / count;
    let (mut both, mut x, mut y) = (0.0, 0.0, 0.0);
    for point in points {
        let (dx, dy) = (point.0 - mean_x, point.1 - mean_y);
        both += dx * dy;
        x += dx * dx;
        y += dy * dy;
    }
    both / (x * y).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlations_by_hand() {
        assert_eq!(correlation(&[(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)]), 1.0);
        assert_eq!(correlation(&[(1.0, 1.0), (2.0, 0.0)]), -1.0);
        assert!(correlation(&[(1.0, 1.0), (1.0, 2.0)]).is_nan());
    }
}
