//! Time, windows and lines, with a clock of the test's own.

use std::collections::BTreeMap;
use std::time::Duration;

use lissom_search::objective::metrics;
use serde_json::Value;

use super::small;
use crate::drive::testing::{FakeClock, millis};
use crate::drive::{Clock, Latencies, OpKind};
use crate::generate::{DataShape, Partition};
use crate::store::Counters;
use crate::trial::board::Board;
use crate::trial::line::{self, Sample};
use crate::trial::run_clock::RunClock;
use crate::trial::watch::{Seen, timed};
use crate::trial::window::{Stops, TICK, Windows};

/// Windows of a second over these gaps between looks, of which some end a stop.
fn cut(gaps: impl IntoIterator<Item = (Duration, bool)>) -> Vec<Duration> {
    let machine = FakeClock::default();
    let clock = RunClock::new(&machine);
    let mut windows = Windows::new(millis(1000), clock.now());
    let mut stops = Stops::new(clock.machine_now());
    gaps.into_iter()
        .filter_map(|(gap, resumed)| {
            machine.pass(gap);
            clock.note_stop(stops.look(clock.machine_now(), resumed));
            windows.cut(clock.now())
        })
        .collect()
}

#[test]
fn windows_follow_running_time() {
    let steady = cut((0..150).map(|_| (TICK, false)));
    assert_eq!(steady, [millis(1000); 3]);
    // Ten seconds of a stop within the second window.
    let stopped = cut((0..150).map(|look| match look {
        70 => (millis(10_000) + TICK, true),
        _ => (TICK, false),
    }));
    assert_eq!(stopped, [millis(1000); 3]);
}

#[test]
fn a_late_look_makes_one_window_longer_and_the_next_shorter() {
    let gaps = [
        (millis(900), false),
        (millis(600), false),
        (millis(500), false),
    ];
    assert_eq!(cut(gaps), [millis(1500), millis(500)]);
    // A machine that sleeps over several windows has one long one.
    let gaps = [(millis(3400), false), (millis(600), false)];
    assert_eq!(cut(gaps), [millis(3400), millis(600)]);
}

#[test]
fn only_long_gaps_ask_again_for_a_signal() {
    let stops = Stops::new(millis(100));
    assert!(!stops.is_suspicious(millis(150)));
    assert!(stops.is_suspicious(millis(400)));
}

#[test]
fn what_is_due_waits_for_running_time() {
    let machine = FakeClock::default();
    let clock = RunClock::new(&machine);
    machine.pass(millis(5000));
    clock.note_stop(millis(4000));
    assert_eq!(clock.now(), millis(1000));
    clock.wait_until(millis(1500));
    assert_eq!(machine.now(), millis(5500));
    clock.wait_until(millis(1200));
    assert_eq!(machine.now(), millis(5500));
}

fn seen() -> Seen {
    Seen {
        first: Counters::default(),
        latencies: Latencies::default(),
        stopped: false,
    }
}

#[test]
fn throughput_is_of_a_window_and_latencies_are_of_all() {
    let workload = small("update-only");
    let data = DataShape::new(&workload);
    let board = Board::new(&Partition::all(2, &workload, &data));
    let live = board.live_bytes();
    board.note_sessions(3);
    assert_eq!(board.sessions(), 3);
    let mut seen = seen();
    let mut window = |took| {
        let window = board.take();
        seen.take(&window);
        timed(&window, &seen.latencies, took)
    };
    // A stall.
    board.note(0, (OpKind::Update, millis(60_000)), 5000, 100);
    assert!(window(millis(1000)).p99_micros > Some(1e7));
    board.note(1, (OpKind::GetPresent, millis(1)), 7000, 50);
    let sample = window(millis(500));
    assert_eq!(sample.throughput, 2.0);
    assert!(sample.get_p99_micros < Some(2000.0), "{sample:?}");
    assert!(sample.p99_micros > Some(1e7), "the stall does not vanish");
    assert_eq!(sample.scan_p99_micros, None);
    let nothing = window(millis(500));
    assert_eq!(nothing.throughput, 0.0);
    assert_eq!(nothing.p99_micros, sample.p99_micros);
    assert_eq!((board.live_bytes(), board.user_bytes()), (12_000, 150));
    assert!(live > 12_000);
}

#[test]
fn a_window_with_a_stop_tells_no_latencies() {
    let of = |latency| {
        let mut latencies = Latencies::default();
        latencies.record(OpKind::Update, latency);
        latencies
    };
    let mut seen = seen();
    seen.take(&of(millis(1)));
    seen.stopped = true;
    // An operation that was in flight meanwhile.
    seen.take(&of(millis(60_000)));
    seen.take(&of(millis(1)));
    let all = seen.latencies.over(|_| true);
    assert_eq!(all.count, 2);
    assert!(all.max < 2000.0, "{all:?}");
}

#[test]
fn lines_have_the_names_of_a_search() {
    let mut latencies = Latencies::default();
    for kind in OpKind::ALL {
        latencies.record(kind, millis(1));
    }
    let sample = Sample {
        space_amplification: Some(1.5),
        write_amplification: Some(0.0),
        ..timed(&latencies, &latencies, millis(1000))
    };
    let mut output = Vec::new();
    line::ready(&mut output).unwrap();
    line::sample(&mut output, &sample).unwrap();
    line::failure(&mut output, "cannot open: \"x\"").unwrap();
    let text = String::from_utf8(output).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "{\"ready\":true}");
    assert_eq!(lines[2], "{\"error\":\"cannot open: \\\"x\\\"\"}");
    let mut members: BTreeMap<String, Value> = serde_json::from_str(lines[1]).unwrap();
    let cumulative = members.remove("cumulative").unwrap();
    let numbers: BTreeMap<String, f64> = members
        .into_iter()
        .map(|(name, value)| (name, value.as_f64().unwrap()))
        .collect();
    for name in cumulative.as_array().unwrap() {
        let name = name.as_str().unwrap();
        assert!(numbers.contains_key(name), "{name}: {text}");
    }
    for name in [metrics::P99, metrics::GET_P99, metrics::PUT_P99] {
        assert!(line::CUMULATIVE.contains(&name), "{name}");
    }
    for name in [
        metrics::THROUGHPUT,
        metrics::P99,
        metrics::GET_P99,
        metrics::PUT_P99,
        metrics::MEMORY,
        metrics::SPACE_AMPLIFICATION,
        metrics::WRITE_AMPLIFICATION,
        metrics::SESSIONS,
        metrics::SESSIONS_VISITED,
        "scan_p99_micros",
        "seconds",
    ] {
        assert!(numbers.contains_key(name), "{name}: {text}");
    }
    assert_eq!(numbers.len(), 11);
}
