//! What pictures must not make look better than it was.

use super::rows::Line;
use super::*;
use crate::drive::{LatencySummary, Sample};
use crate::workload::{Workload, parse_workload};

/// The end of a second in which so many operations ended, with a p99 in microseconds.
fn second(at: u32, count: u64, p99: f64) -> Sample {
    Sample {
        at: 100.0 + f64::from(at),
        seconds: 1.0,
        operations_per_second: count as f64,
        latency: LatencySummary {
            count,
            p99,
            ..LatencySummary::default()
        },
        ..Sample::default()
    }
}

fn row(samples: &[Sample], is_stock: bool) -> Row<'_> {
    Row {
        label: "arm".into(),
        is_stock,
        began: 100.0,
        samples: samples.iter().collect(),
    }
}

fn between(from: f64, to: f64) -> View {
    View {
        from,
        to,
        offered: to,
        ending: "",
    }
}

const P99: usize = 1;
const DEBT: usize = 2;

#[test]
fn a_second_in_which_nothing_ends_is_no_low_latency() {
    let samples = [
        second(1, 5, 1e3),
        second(2, 5, 1e4),
        second(3, 0, 0.0),
        second(4, 0, 0.0),
        second(5, 1, 1e6),
    ];
    let row = row(&samples, false);
    let all = between(0.0, 10.0);
    let of = |at: usize| row.lines(COLUMNS[at].of, &all);
    let lines: [Line; 2] = [vec![(1.0, 3.0), (2.0, 4.0)], vec![(5.0, 6.0)]];
    assert_eq!(of(P99), lines);
    assert_eq!(row.without_operations(&all), [(2.0, 3.0), (3.0, 4.0)]);
    assert_eq!(of(0).len(), 1, "the throughput is 0 then");
    assert_eq!(of(0)[0][2], (3.0, 0.0));
    assert_eq!(of(DEBT), [] as [Line; 0], "nobody told it");
    let part = between(2.5, 4.5);
    assert_eq!(row.without_operations(&part), [(2.5, 3.0), (3.0, 4.0)]);
    assert_eq!(row.lines(COLUMNS[P99].of, &part), [] as [Line; 0]);
    let scale = |rows: &[Row<'_>]| COLUMNS[P99].scale(rows, false, 0.0);
    assert_eq!(scale(&[row]), (3.0, 6.0));
    let (low, high) = scale(&[]);
    assert!(low.is_finite() && low < high, "{low} {high}");
}

#[test]
fn two_kinds_of_debt_have_two_scales() {
    let owing = |bytes: u64| {
        [Sample {
            debt_bytes: Some(bytes),
            ..second(1, 1, 1.0)
        }]
    };
    let (own, stock) = (owing(10_000_000), owing(1_000_000_000));
    let untold = [second(1, 1_000, 1.0)];
    let rows = [row(&own, false), row(&stock, true), row(&untold, true)];
    let top = |column: usize, is_stock| COLUMNS[column].scale(&rows, is_stock, 0.0).1;
    assert_eq!((top(DEBT, false), top(DEBT, true)), (10.5, 1_050.0));
    assert_eq!((top(0, false), top(0, true)), (1_050.0, 1_050.0));
    let title = |is_stock| COLUMNS[DEBT].title(is_stock);
    assert_ne!(title(false), title(true));
}

fn session(seconds: u32, rate: &str) -> Session {
    let text = format!(
        "name = \"w\"\nabout = \"For tests.\"\nentries = 1000\n[[session]]\nname = \"s\"\n\
         seconds = {seconds}.0\nrate = {{ {rate} }}\nmix = {{ update = 1 }}\n"
    );
    let workload: Workload = parse_workload(&text, "f").unwrap();
    workload.sessions[0].clone()
}

#[test]
fn a_long_session_shows_its_first_and_its_last_periods_too() {
    let waves = "periodic = { high = 10, low = 5, seconds = 15, low_seconds = 3 }";
    let shown = |seconds: u32, rate: &str| {
        let seen = views(&session(seconds, rate), f64::from(seconds), 4_321.0);
        let of = |it: &View| (it.from, it.to, it.ending);
        seen.iter().map(of).collect::<Vec<_>>()
    };
    let all = (0.0, 4_321.0, "");
    let first = (0.0, 180.0, "-first");
    assert_eq!(
        shown(4_000, waves),
        [all, first, (3_820.0, 4_000.0, "-last")]
    );
    assert_eq!(shown(144, waves), [all], "it is short");
    assert_eq!(shown(4_000, "constant = { per_second = 9 }"), [all]);
    let last = views(&session(4_000, waves), 4_000.0, 4_321.0)[2];
    let points = offered(&session(4_000, waves), &last);
    assert_eq!(points.first().map(|it| it.0), Some(3_820.0));
    assert_eq!(points.last().map(|it| it.0), Some(4_000.0));
}
