//! The best static arm, and what the others won against it.

use std::fmt::Write as _;

use lissom_sim::Outcome;

use super::table::{TIE, number};
use super::{ORACLE, SimulatedArm, Simulation, seconds_before_closing};
use crate::judge::Figure;

/// The best static arm, the sum of the best static sessions, and how the others stand to
/// both; empty without a static arm.
pub(super) fn hull(seen: &Simulation) -> String {
    let Some((best, seconds)) = best_static(seen, Outcome::seconds) else {
        return String::new();
    };
    let sum = sum_of_best_sessions(seen);
    let mut text = format!(
        "\nBest static arm: {}, {} s; the sum of the best static sessions: {} s\n",
        best.arm,
        number(seconds),
        number(sum)
    );
    let oracle = seen.arms.iter().find(|arm| arm.arm == ORACLE);
    let oracle = oracle.map(|arm| arm.outcome.seconds());
    for arm in others(seen) {
        let own = arm.over_seeds(Outcome::seconds);
        let _ = write!(
            text,
            "  {}: {} against it, {:+.1} % over the best of each session",
            arm.arm,
            over(&own, seconds),
            percent(own.median, sum)
        );
        let yardsticks = [("that headroom", Some(sum)), ("the oracle's", oracle)];
        for (whose, least) in yardsticks {
            let to_win = least.filter(|it| arm.is_rival() && seconds > it * (1.0 + TIE));
            if let Some(least) = to_win {
                let won = 100.0 * (seconds - own.median) / (seconds - least);
                let _ = write!(text, ", won {won:.0} % of {whose}");
            }
        }
        text.push('\n');
    }
    text + &before_closing(seen)
}

/// The same without the closing session, which only reads: there a learner gains what it
/// merges while nobody writes, and loses what others have merged before.
fn before_closing(seen: &Simulation) -> String {
    let Some((best, seconds)) = best_static(seen, seconds_before_closing) else {
        return String::new();
    };
    let told = others(seen).map(|arm| {
        let own = arm.over_seeds(seconds_before_closing);
        format!("; {} {}", arm.arm, over(&own, seconds))
    });
    format!(
        "Without the closing session the best static arm is {}, {} s{}\n",
        best.arm,
        number(seconds),
        told.collect::<String>()
    )
}

fn best_static(seen: &Simulation, of: fn(&Outcome) -> f64) -> Option<(&SimulatedArm, f64)> {
    let fixed = seen.arms.iter().filter(|arm| arm.is_static);
    let timed = fixed.map(|arm| (arm, of(&arm.outcome)));
    timed.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// No run of its own: a tree that another limit left behind may be a better start.
fn sum_of_best_sessions(seen: &Simulation) -> f64 {
    let fixed = || seen.arms.iter().filter(|arm| arm.is_static);
    let sessions = fixed().next().map_or(0, |arm| arm.outcome.sessions.len());
    let least = |at: usize| {
        let times = fixed().map(|arm| arm.outcome.sessions[at].seconds);
        times.fold(f64::INFINITY, f64::min)
    };
    (0..sessions).map(least).sum()
}

fn others(seen: &Simulation) -> impl Iterator<Item = &SimulatedArm> {
    seen.arms.iter().filter(|arm| !arm.is_static)
}

/// By how much a time is over another one, with half the range over the seeds.
fn over(own: &Figure, other: f64) -> String {
    let median = percent(own.median, other);
    if own.values.len() < 2 {
        return format!("{median:+.1} %");
    }
    let half = 50.0 * (own.max - own.min) / other;
    format!("{median:+.1} ±{half:.1} %")
}

fn percent(own: f64, other: f64) -> f64 {
    100.0 * (own / other - 1.0)
}
