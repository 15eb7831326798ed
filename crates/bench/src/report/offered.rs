//! Throughput against the offered load, interval by interval.

use super::grid::Grid;
use super::words::figure;
use crate::drive::Sample;
use crate::judge::Figure;
use crate::run::{ArmRun, Results};
use crate::workload::{Rate, Session};

/// An interval under this share of its offered operations is a dip.
const CARRIED: f64 = 0.95;

/// Points at which the offered rate of an interval is looked at.
const POINTS: u32 = 20;

/// A table of each session with an offered rate; empty without one.
pub(super) fn render_offered(results: &Results) -> String {
    let sessions = results.parameters.workload.measured_sessions();
    let mut text = String::new();
    for (number, session) in sessions.iter().enumerate() {
        if session.is_open() {
            let grid = grid(results, number, session);
            text += &format!("\nAgainst the offered load: {}\n{grid}", session.name);
        }
    }
    text
}

fn grid(results: &Results, number: usize, session: &Session) -> Grid {
    let mut grid = Grid::new(&[
        "arm",
        "intervals under 95 %, %",
        "variation at the highest rate, %",
        "slowest interval, %",
        "most debt, MB",
    ]);
    for arm in &results.parameters.arms {
        let seen: Vec<Seen> = results
            .runs
            .iter()
            .filter(|run| run.arm == *arm)
            .filter_map(|run| Seen::of(run, number, session.rate))
            .collect();
        let cell = |of: fn(&Seen) -> f64| {
            Figure::of(seen.iter().map(of)).map_or("-".into(), |it| figure(&it))
        };
        grid.row([
            arm.to_string(),
            cell(|seen| seen.dips * 100.0),
            cell(|seen| seen.variation * 100.0),
            cell(|seen| seen.slowest * 100.0),
            cell(|seen| seen.most_debt / 1e6),
        ]);
    }
    grid
}

/// One run's session.
struct Seen {
    /// Share of intervals that were dips.
    dips: f64,
    /// Standard deviation over mean of the throughput, over intervals in which the
    /// highest rate was offered throughout.
    variation: f64,
    /// Least share of its offered operations that an interval saw done.
    slowest: f64,
    /// Bytes.
    most_debt: f64,
}

impl Seen {
    /// `None` without a whole interval: the last one is shorter, and left out.
    fn of(run: &ArmRun, session: usize, rate: Rate) -> Option<Seen> {
        let samples: Vec<&Sample> = run
            .samples
            .iter()
            .filter(|it| it.session == session)
            .collect();
        let (_, whole) = samples.split_last()?;
        let began = whole.first()?.at - whole.first()?.seconds;
        let shares: Vec<f64> = whole
            .iter()
            .map(|sample| sample.operations_per_second / offered(rate, sample, began))
            .collect();
        let highest = rate.highest()?;
        let at_highest: Vec<f64> = whole
            .iter()
            .filter(|sample| offered(rate, sample, began) >= highest * (1.0 - 1e-9))
            .map(|sample| sample.operations_per_second)
            .collect();
        let dips = shares.iter().filter(|share| **share < CARRIED).count();
        Some(Seen {
            dips: dips as f64 / shares.len() as f64,
            variation: variation(&at_highest),
            slowest: shares.iter().copied().fold(f64::INFINITY, f64::min),
            most_debt: samples.iter().map(|it| it.debt_bytes).max()? as f64,
        })
    }
}

/// The mean rate that was offered in an interval.
fn offered(rate: Rate, sample: &Sample, began: f64) -> f64 {
    let first = sample.at - sample.seconds - began;
    let sum: f64 = (0..POINTS)
        .map(|point| (f64::from(point) + 0.5) / f64::from(POINTS))
        .filter_map(|share| rate.at(first + share * sample.seconds))
        .sum();
    sum / f64::from(POINTS)
}

/// Standard deviation over mean; 0 for less than two values.
fn variation(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count.max(1.0);
    if count < 2.0 || mean <= 0.0 {
        return 0.0;
    }
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (count - 1.0)).sqrt() / mean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Periodic;

    #[test]
    fn dips_are_seen_against_what_was_offered() {
        let rate = Rate::Periodic(Periodic {
            high: 100.0,
            low: 10.0,
            seconds: 2.0,
            low_seconds: Some(1.0),
        });
        let sample = |at: f64, done: f64| Sample {
            at: at + 5.0,
            seconds: 1.0,
            operations_per_second: done,
            ..Sample::default()
        };
        let run = ArmRun {
            arm: "fixed-1".parse().expect("an arm"),
            round: 0,
            load: Default::default(),
            sessions: Vec::new(),
            totals: Default::default(),
            samples: vec![
                sample(1.0, 100.0),
                sample(2.0, 50.0),
                sample(3.0, 10.0),
                sample(4.0, 100.0),
                sample(4.5, 1.0),
            ],
        };
        let seen = Seen::of(&run, 0, rate).expect("intervals");
        assert_eq!((seen.dips, seen.slowest), (0.25, 0.5));
        assert!((seen.variation - 0.3464).abs() < 1e-3, "{}", seen.variation);
    }
}
