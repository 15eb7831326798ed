//! Time, windows and lines, with a clock of the test's own.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use lissom_search::objective::metrics;

use super::{millis, small};
use crate::drive::{Clock, Latencies, OpKind};
use crate::generate::{DataShape, Partition};
use crate::trial::board::Board;
use crate::trial::line::{self, Sample};
use crate::trial::run_clock::RunClock;
use crate::trial::watch::timed;
use crate::trial::window::{Stops, TICK, Windows};

/// A clock that moves only when told to, or when somebody waits.
#[derive(Default)]
struct FakeClock(Mutex<Duration>);

impl FakeClock {
    fn pass(&self, time: Duration) {
        *self.0.lock().unwrap() += time;
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Duration {
        *self.0.lock().unwrap()
    }

    fn wait_until(&self, due: Duration) {
        let mut now = self.0.lock().unwrap();
        *now = due.max(*now);
    }
}

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

#[test]
fn each_window_has_latencies_of_its_own() {
    let workload = small("update-only");
    let data = DataShape::new(&workload);
    let board = Board::new(&Partition::all(2, workload.entries, &data));
    let live = board.live_bytes();
    // An operation that was in flight during a stop.
    board.note(0, (OpKind::Update, millis(60_000)), 5000, 100);
    assert!(timed(&board.take(), millis(1000)).p99_micros > Some(1e7));
    board.note(1, (OpKind::GetPresent, millis(1)), 7000, 50);
    let sample = timed(&board.take(), millis(500));
    assert_eq!(sample.throughput, 2.0);
    assert!(sample.p99_micros < Some(2000.0), "{sample:?}");
    assert_eq!(sample.put_p99_micros, None);
    assert_eq!((board.live_bytes(), board.user_bytes()), (12_000, 150));
    assert!(live > 12_000);
    assert_eq!(timed(&board.take(), millis(500)).p99_micros, None);
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
        ..timed(&latencies, millis(1000))
    };
    let mut output = Vec::new();
    line::ready(&mut output).unwrap();
    line::sample(&mut output, &sample).unwrap();
    line::failure(&mut output, "cannot open: \"x\"").unwrap();
    let text = String::from_utf8(output).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "{\"ready\":true}");
    assert_eq!(lines[2], "{\"error\":\"cannot open: \\\"x\\\"\"}");
    let numbers: BTreeMap<String, f64> = serde_json::from_str(lines[1]).unwrap();
    for name in [
        metrics::THROUGHPUT,
        metrics::P99,
        metrics::GET_P99,
        metrics::PUT_P99,
        metrics::MEMORY,
        metrics::SPACE_AMPLIFICATION,
        metrics::WRITE_AMPLIFICATION,
        "scan_p99_micros",
        "seconds",
    ] {
        assert!(numbers.contains_key(name), "{name}: {text}");
    }
    assert_eq!(numbers.len(), 9);
}
