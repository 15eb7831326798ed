//! Judgements over whole sessions and rounds.

mod claims;
mod counted;
mod to_win;

use super::*;
use crate::arms::ArmName;
use crate::run::{LoadRecord, RunPlan, SessionRecord, Totals};
use crate::store::Counters;
use crate::workload::{CLOSING_SESSION, load_workload};

fn arm(name: &str) -> ArmName {
    name.parse().unwrap()
}

pub(super) fn parameters(arms: &[&str]) -> Parameters {
    let workload = load_workload("update-only").unwrap();
    let arms = arms.iter().map(|name| arm(name)).collect();
    let plan = RunPlan::new(workload, arms, "unused".into()).unwrap();
    Parameters {
        // No run here says how long it took to come to rest.
        settle_seconds: None,
        ..plan.parameters()
    }
}

fn session(name: &str, seconds: f64, open: bool) -> SessionRecord {
    SessionRecord {
        name: name.to_string(),
        open,
        operations: 100,
        seconds,
        latencies: Vec::new(),
        latency: Default::default(),
        user_bytes: 1000,
        verified: 1,
        counters: Counters::default(),
        live_bytes: 1000,
        disk_bytes: 1000,
        peak_space_amplification: 1.0,
    }
}

/// A run with sessions `a`, `b` and the closing one, each of the given seconds.
pub(super) fn run(name: &str, round: u32, seconds: [f64; 3]) -> ArmRun {
    let sessions = vec![
        session("a", seconds[0], false),
        session("b", seconds[1], false),
        session("offered", 100.0, true),
        session(CLOSING_SESSION, seconds[2], false),
    ];
    let totals = Totals {
        user_bytes: 4_000_000_000,
        peak_space_amplification: 1.5,
        debt_bytes: Some(0),
        ..Totals::default()
    };
    let load = LoadRecord {
        settled: true,
        ..LoadRecord::default()
    };
    ArmRun {
        arm: arm(name),
        round,
        program: None,
        boot: None,
        sitting: None,
        load,
        sessions,
        totals,
        samples: Vec::new(),
    }
}

#[test]
fn medians_and_spreads() {
    assert_eq!(median(&[]), None);
    assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    let figure = Figure::of([1.0, 2.0, 9.0]).unwrap();
    assert_eq!(
        (figure.median, figure.min, figure.max, figure.mad),
        (2.0, 1.0, 9.0, 1.0)
    );
    assert_eq!(Figure::of([]), None);
}

#[test]
fn a_difference_inside_the_spread_is_a_tie() {
    let figure = |values: [f64; 3]| Figure::of(values).unwrap();
    let base = figure([10.0, 11.0, 12.0]);
    assert_eq!(figure([7.0, 8.0, 9.0]).against(&base), Standing::Win);
    assert_eq!(figure([7.0, 8.0, 10.0]).against(&base), Standing::Tie);
    assert_eq!(figure([11.5, 13.0, 14.0]).against(&base), Standing::Tie);
    assert_eq!(figure([12.1, 13.0, 14.0]).against(&base), Standing::Loss);
}

#[test]
fn who_is_ahead_is_so_outside_its_own_range() {
    let figure = |values: [f64; 3]| Figure::of(values).unwrap();
    let best = figure([9.9, 10.0, 10.1]);
    let ahead_of = |values| best.is_ahead_of(&figure(values));
    assert!(!ahead_of([10.0, 10.1, 20.0]), "its median is in the range");
    assert!(!ahead_of([10.0, 10.4, 20.0]), "5 % away, and ranges meet");
    assert!(ahead_of([10.0, 10.6, 20.0]), "farther, however wide");
    assert!(ahead_of([10.2, 10.3, 10.4]), "near, and ranges are apart");
    assert!(!ahead_of([9.0, 9.5, 9.8]) && !best.is_ahead_of(&best));
    let wide = figure([5.0, 10.0, 15.0]);
    assert!(!wide.is_ahead_of(&figure([14.0, 14.5, 15.0])));
}
