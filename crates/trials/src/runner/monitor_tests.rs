//! What follows from lines and times.

use std::collections::BTreeMap;

use super::*;
use crate::protocol::said;
use lissom_search::objective::metrics::{MEMORY, THROUGHPUT};

const BOUNDS: Bounds = Bounds {
    memory_bytes: 100 << 20,
    deadline: 10.0,
    setup_deadline: 60.0,
    grain: 0.5,
};

fn monitor() -> Monitor {
    Monitor::new(BOUNDS, 100.0, 5.0)
}

fn samples(monitor: &mut Monitor, from: u32, to: u32, throughput: f64) {
    for second in from..=to {
        let line = format!("{{\"throughput\": {throughput}}}");
        monitor.hear(said(&line), f64::from(second));
    }
}

fn failed(finding: Finding) -> (Cause, String) {
    match finding {
        Finding::Failed(cause, detail) => (cause, detail),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_good_child_is_reported_when_its_time_has_come() {
    let mut monitor = monitor();
    monitor.hear(said("{\"ready\": true}"), 103.0);
    samples(&mut monitor, 104, 107, 50.0);
    monitor.weigh(7 << 20);
    monitor.weigh(5 << 20);
    assert_eq!(monitor.look(107.9), Finding::Fine);
    assert_eq!(monitor.look(108.0), Finding::Reached);
    monitor.pause(108.25);
    let Outcome::Measured {
        seconds,
        setup_seconds,
        metrics,
        series,
        ..
    } = monitor.report(200.0)
    else {
        panic!("measured");
    };
    assert_eq!((seconds, setup_seconds, series.len()), (5.25, 3.0, 4));
    assert_eq!(metrics.get(THROUGHPUT), Some(50.0));
    assert_eq!(metrics.get(MEMORY), Some(f64::from(7 << 20)));
}

#[test]
fn the_sample_that_spans_a_pause_is_dropped() {
    let mut monitor = monitor();
    monitor.hear(Said::Ready, 100.0);
    samples(&mut monitor, 101, 105, 50.0);
    monitor.pause(105.5);
    // It was in the pipe already.
    samples(&mut monitor, 106, 106, 50.0);
    let _ = monitor.report(106.0);
    assert_eq!(monitor.look(500.0), Finding::Fine, "a pause is no silence");
    monitor.resume(500.0, 8.0);
    samples(&mut monitor, 500, 500, 1.0);
    samples(&mut monitor, 501, 503, 80.0);
    assert_eq!(monitor.look(503.0), Finding::Reached);
    let Outcome::Measured {
        seconds,
        setup_seconds,
        metrics,
        series,
        ..
    } = monitor.report(503.0)
    else {
        panic!("measured");
    };
    assert_eq!((seconds, setup_seconds), (8.5, 0.0));
    // 5.5 s of 50, 3 s of 80.
    assert_eq!(
        metrics.get(THROUGHPUT),
        Some((5.5 * 50.0 + 3.0 * 80.0) / 8.5)
    );
    let points: Vec<f64> = series.iter().map(|it| it.second).collect();
    assert_eq!(points, [6.5, 7.5, 8.5]);
}

#[test]
fn time_in_which_everything_stands_still_does_not_count() {
    let mut monitor = monitor();
    monitor.halt(110.0);
    monitor.proceed(1_110.0);
    assert_eq!(monitor.look(1_150.0), Finding::Fine, "50 s of set-up");
    monitor.hear(Said::Ready, 1_150.0);
    samples(&mut monitor, 1_151, 1_152, 50.0);
    monitor.halt(1_152.5);
    monitor.halt(1_153.0);
    monitor.proceed(2_152.5);
    monitor.proceed(9_999.0);
    assert_eq!(monitor.seconds(2_152.5), 2.5);
    // The one that spans it does not count.
    samples(&mut monitor, 2_153, 2_153, 1.0);
    samples(&mut monitor, 2_154, 2_155, 50.0);
    assert_eq!(monitor.look(2_155.0), Finding::Reached);
    let Outcome::Measured {
        seconds,
        setup_seconds,
        metrics,
        ..
    } = monitor.report(2_155.0)
    else {
        panic!("measured");
    };
    assert_eq!((seconds, setup_seconds), (5.0, 50.0));
    assert_eq!(metrics.get(THROUGHPUT), Some(50.0));
}

#[test]
fn a_child_that_never_says_ready_is_so_with_its_first_sample() {
    let mut monitor = monitor();
    samples(&mut monitor, 110, 112, 50.0);
    assert_eq!(monitor.seconds(112.0), 2.0);
    assert_eq!(monitor.gauge.samples(), 2);
    let Outcome::Measured { setup_seconds, .. } = monitor.report(115.0) else {
        panic!("measured");
    };
    assert_eq!(setup_seconds, 10.0);
}

#[test]
fn notes_are_told_once_each() {
    let mut monitor = monitor();
    let note = |number: u32| said(&format!("{{\"note\": \"a is used as {number}\"}}"));
    for number in [3, 3, 4] {
        monitor.hear(note(number), 101.0);
    }
    monitor.hear(Said::Ready, 102.0);
    samples(&mut monitor, 103, 107, 50.0);
    let Outcome::Measured { notes, .. } = monitor.report(107.0) else {
        panic!("measured");
    };
    assert_eq!(notes, ["a is used as 3", "a is used as 4"]);
    (0..1_000).for_each(|number| monitor.hear(note(number), 108.0));
    assert_eq!(monitor.notes.len(), NOTES, "without end");
}

#[test]
fn who_falls_silent_is_not_measured() {
    let mut monitor = monitor();
    monitor.hear(Said::Ready, 100.0);
    samples(&mut monitor, 101, 103, 50.0);
    assert_eq!(
        monitor.look(105.0),
        Finding::Reached,
        "one is about to come"
    );
    assert_eq!(
        monitor.look(105.5),
        Finding::Fine,
        "it has stood still since"
    );
    assert_eq!(failed(monitor.look(113.5)).0, Cause::Hang);
    samples(&mut monitor, 106, 106, 0.0);
    assert_eq!(monitor.look(107.0), Finding::Reached, "the silence counts");
}

#[test]
fn silence_is_a_hang() {
    let mut monitor = monitor();
    monitor.hear_words("loading");
    assert_eq!(monitor.look(160.0), Finding::Fine);
    let (cause, detail) = failed(monitor.look(161.0));
    assert_eq!(cause, Cause::Hang);
    assert!(
        detail.contains("not ready after 61 s; its last words: loading"),
        "{detail}"
    );
    monitor.hear(Said::Ready, 161.0);
    assert_eq!(monitor.look(170.0), Finding::Fine, "no sample: it runs on");
    let (cause, detail) = failed(monitor.look(171.5));
    assert_eq!(cause, Cause::Hang);
    assert!(detail.contains("no sample came for 10.5 s"), "{detail}");
    samples(&mut monitor, 172, 172, 1.0);
    assert_eq!(monitor.look(172.0), Finding::Reached);
}

#[test]
fn endings_have_their_causes() {
    let mut monitor = monitor();
    let (cause, detail) = failed(monitor.ended("exit status: 2", Fault::Own, 101.0));
    assert_eq!(cause, Cause::Crash);
    assert_eq!(
        detail,
        "it ended by itself before it was ready (exit status: 2); it said nothing"
    );
    let mut failing = monitor.clone();
    failing.hear(said("{\"error\": \"cannot open: x\"}"), 102.0);
    let wanted = (Cause::CannotOpen, "cannot open: x".to_owned());
    assert_eq!(failed(failing.look(102.0)), wanted);
    assert_eq!(
        failed(failing.ended("exit status: 1", Fault::Own, 102.0)),
        wanted
    );
    monitor.hear(Said::Ready, 102.0);
    monitor.hear(said("{\"error\": \"a bad block\"}"), 104.0);
    let (cause, detail) = failed(monitor.look(104.0));
    assert_eq!(cause, Cause::Crash);
    assert_eq!(detail, "after 2.0 s of running: a bad block");
}

#[test]
fn what_others_do_to_a_trial_is_forgiven() {
    assert_eq!(Fault::of(true, true), Fault::Others);
    assert_eq!(Fault::of(false, true), Fault::Unknown);
    assert_eq!(Fault::of(false, false), Fault::Own);
    let mut monitor = monitor();
    monitor.hear(Said::Ready, 101.0);
    monitor.weigh(7 << 20);
    let gone = |fault| match monitor.ended("signal: 9 (SIGKILL)", fault, 103.0) {
        Finding::Gone { why, forgiven } => (why, forgiven),
        other => panic!("{other:?}"),
    };
    let (why, forgiven) = gone(Fault::Others);
    assert_eq!(
        (why.as_str(), forgiven),
        ("it was ended while it waited (signal: 9 (SIGKILL))", 2)
    );
    let (why, forgiven) = gone(Fault::Unknown);
    assert!(
        why.contains("after 2.0 s of running") && why.contains("7 MiB of 100 MiB"),
        "{why}"
    );
    assert_eq!(forgiven, 1);
    let mut large = monitor.clone();
    large.weigh(101 << 20);
    let (cause, _) = failed(large.ended("signal: 9 (SIGKILL)", Fault::Unknown, 103.0));
    assert_eq!(cause, Cause::OutOfMemory);
    monitor.hear(said("{\"error\": \"out of memory\"}"), 103.0);
    let (cause, _) = failed(monitor.ended("signal: 9 (SIGKILL)", Fault::Unknown, 103.0));
    assert_eq!(cause, Cause::Crash, "its own words count");
}

#[test]
fn the_memory_of_the_set_up_is_no_metric_but_bounded() {
    let mut monitor = monitor();
    let held = |monitor: &Monitor| {
        let Outcome::Measured { metrics, .. } = monitor.clone().report(103.0) else {
            panic!("measured");
        };
        metrics.get(MEMORY).expect("weighed") / f64::from(1 << 20)
    };
    monitor.weigh(90 << 20);
    monitor.weigh(20 << 20);
    monitor.hear(Said::Ready, 101.0);
    samples(&mut monitor, 102, 102, 50.0);
    assert_eq!(held(&monitor), 20.0, "the last that is known");
    for mebibytes in [10, 12, 11] {
        monitor.weigh(mebibytes << 20);
    }
    assert_eq!(held(&monitor), 12.0);
    let mut large = self::monitor();
    large.weigh(101 << 20);
    let (cause, _) = failed(large.look(100.5));
    assert_eq!(cause, Cause::OutOfMemory);
}

#[test]
fn memory_is_bounded() {
    let mut monitor = monitor();
    monitor.weigh(100 << 20);
    assert_eq!(monitor.look(101.0), Finding::Fine);
    monitor.hear(Said::Ready, 101.0);
    monitor.weigh(101 << 20);
    let (cause, detail) = failed(monitor.look(103.0));
    assert_eq!(cause, Cause::OutOfMemory);
    assert!(
        detail.contains("held 101 MiB, where 100 MiB are allowed"),
        "{detail}"
    );
}

#[test]
fn another_attempt_reports_only_what_is_new() {
    let mut monitor = monitor().again(3.0);
    monitor.hear(Said::Ready, 100.0);
    samples(&mut monitor, 101, 105, 50.0);
    let Outcome::Measured {
        series, seconds, ..
    } = monitor.report(105.0)
    else {
        panic!("measured");
    };
    let points: Vec<f64> = series.iter().map(|it| it.second).collect();
    assert_eq!((points, seconds), (vec![4.0, 5.0], 5.0));
}

/// Lines with their times, and what they come to.
#[derive(serde::Deserialize)]
struct Recorded {
    name: String,
    lines: Vec<(f64, String)>,
    weighed: u64,
    seconds: f64,
    setup_seconds: f64,
    metrics: BTreeMap<String, f64>,
}

/// `bench/dremel` runs the trials of other methods itself; its tests read the same file.
#[test]
fn recorded_lines_come_to_the_same_here_and_in_bench_dremel() {
    let trials: Vec<Recorded> =
        serde_json::from_str(include_str!("recorded.json")).expect("recorded trials");
    assert!(!trials.is_empty());
    for trial in trials {
        let mut monitor = Monitor::new(BOUNDS, 0.0, trial.seconds);
        for (at, line) in &trial.lines {
            monitor.hear(said(line), *at);
        }
        monitor.weigh(trial.weighed);
        let end = trial.setup_seconds + trial.seconds;
        assert_eq!(monitor.look(end), Finding::Reached, "{}", trial.name);
        let Outcome::Measured {
            seconds,
            setup_seconds,
            metrics,
            ..
        } = monitor.report(end)
        else {
            panic!("measured: {}", trial.name);
        };
        let times = (trial.seconds, trial.setup_seconds);
        assert_eq!((seconds, setup_seconds), times, "{}", trial.name);
        assert_eq!(BTreeMap::from(metrics), trial.metrics, "{}", trial.name);
    }
}

#[test]
fn numbers_beyond_measure_are_no_metric() {
    let mut monitor = monitor();
    monitor.hear(Said::Ready, 100.0);
    for second in 101..=104 {
        monitor.hear(said("{\"throughput\": 1.7e308}"), f64::from(second));
    }
    let Outcome::Failed { cause, detail } = monitor.report(105.0) else {
        panic!("no number");
    };
    assert_eq!(cause, Cause::NoMetric);
    assert!(detail.contains("throughput is inf"), "{detail}");
}
