//! A campaign as tables: gains, predicted against measured I/Os, tunings.

use std::fmt::Write as _;

use lissom::core::cost_model::{OperationKind, expected_workloads, published_tunings};

use super::campaign::{Campaign, Experiment, TuningKind};
use super::engine::SessionCost;
use super::sessions::SessionKind;
use crate::distinct::distinct;
use crate::run::Program;

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

    fn is_of_one_tuning(&self) -> bool {
        self.nominal.tuned.tuning == self.robust.tuned.tuning
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
    let mut gains = Vec::new();
    for expected in expected_workloads() {
        let Some(pair) = pair(campaign, expected.name) else {
            continue;
        };
        let gain = pair.gain(&ios);
        gains.push((gain, pair.is_of_one_tuning()));
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
        "\n{} Gains are of throughput over all six sessions: by I/Os per query, by the model, by \
         time.{}\n",
        standing(&gains),
        starts(campaign) + &programs(campaign)
    );
    text += &correlations(campaign);
    text += &sequences(campaign);
    text + &side_by_side(campaign)
}

/// Who was better, by gains and whether they are of one tuning against itself. There is one run of
/// each, so that such pairs alone tell how far two runs lie apart.
fn standing(gains: &[(f64, bool)]) -> String {
    let alike = gains.iter().filter(|(_, alike)| *alike);
    let spread = alike.map(|(gain, _)| gain.abs()).max_by(f64::total_cmp);
    let over = spread.unwrap_or(0.0);
    let better = gains.iter().filter(|(gain, _)| *gain > over).count();
    let worse = gains.iter().filter(|(gain, _)| *gain < -over).count();
    let known = match spread {
        Some(spread) => format!(
            "the others lie within {:.1} %, by which two runs of one tuning differed",
            100.0 * spread
        ),
        None => "how far two runs of one tuning lie apart is not known".to_owned(),
    };
    format!(
        "Of {} pairs, one run each, the robust tuning is better in {better} and worse in {worse} \
         by measured I/Os; {known}.",
        gains.len()
    )
}

/// Times of several machines are no comparison.
fn starts(campaign: &Campaign) -> String {
    let boots = campaign.experiments.iter();
    let boots = distinct(boots.filter_map(|it| it.boot.as_ref())).len();
    if boots < 2 {
        return String::new();
    }
    format!(
        " Measured under {boots} starts of a machine, perhaps on several: times may not compare."
    )
}

/// Another program may merge otherwise: neither I/Os nor times of several compare.
fn programs(campaign: &Campaign) -> String {
    let programs = distinct(campaign.experiments.iter().map(|it| it.program.as_ref()));
    if programs.len() < 2 {
        return String::new();
    }
    let name = |program: &Option<&Program>| {
        program.map_or("one that did not tell".to_owned(), Program::to_string)
    };
    let names: Vec<String> = programs.iter().map(name).collect();
    format!(
        " Measured by several programs, whose figures do not compare: {}.",
        names.join("; ")
    )
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
    use crate::uncertainty::campaign::CampaignPlan;

    #[test]
    fn gains_within_the_difference_of_equal_tunings_are_nobodys() {
        let gains = [(0.3, false), (0.05, false), (-0.105, true), (0.085, true)];
        let told = standing(&gains);
        let words = "Of 4 pairs, one run each, the robust tuning is better in 1 and worse in 0";
        assert!(told.starts_with(words), "{told}");
        assert!(told.contains("within 10.5 %"), "{told}");
        let told = standing(&[(0.3, false), (-0.2, false)]);
        assert!(told.contains("better in 1 and worse in 1"), "{told}");
        assert!(told.ends_with("is not known."), "{told}");
    }

    #[test]
    fn several_starts_of_a_machine_are_told() {
        let plan = CampaignPlan {
            entries: 1_000_000,
            workloads: 1,
            queries: 1,
            seed: 1,
        };
        let expectation = plan.expectation(&expected_workloads()[7], 0.0);
        let tuned = expectation.tune_held().expect("a tuning");
        let of = |boot: Option<&str>| Experiment {
            workload: "w7".to_owned(),
            kind: TuningKind::Nominal,
            rho: 0.0,
            tuned: tuned.clone(),
            sessions: Vec::new(),
            boot: boot.map(str::to_owned),
            program: None,
        };
        let both = |experiments: [Experiment; 2]| Campaign {
            plan: plan.clone(),
            experiments: Vec::from(experiments),
        };
        let told = |boots: [Option<&str>; 2]| starts(&both(boots.map(of)));
        assert_eq!(told([Some("a"), Some("a")]), "");
        assert_eq!(told([None, Some("a")]), "", "an older file");
        let several = told([Some("a"), Some("b")]);
        assert!(several.contains("under 2 starts"), "{several}");
        let by = |commit: &str| Experiment {
            program: Some(Program {
                version: "0.1.0".to_owned(),
                commit: Some(commit.to_owned()),
                dirty: false,
                sources: None,
            }),
            ..of(None)
        };
        assert_eq!(programs(&both([by("a"), by("a")])), "");
        assert_eq!(programs(&both([of(None), of(None)])), "", "an older file");
        let several = programs(&both([by("a"), by("b")]));
        assert!(
            several.contains("commit a; lissom 0.1.0, commit b"),
            "{several}"
        );
    }

    #[test]
    fn correlations_by_hand() {
        assert_eq!(correlation(&[(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)]), 1.0);
        assert_eq!(correlation(&[(1.0, 1.0), (2.0, 0.0)]), -1.0);
        assert!(correlation(&[(1.0, 1.0), (1.0, 2.0)]).is_nan());
    }
}
