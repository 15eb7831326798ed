//! What a later search takes from a log.

use super::*;
use crate::search::{Cause, Earlier, Measurement, TrialId};

/// The log of a search as it goes.
struct Written {
    search: Search,
    text: String,
}

impl Written {
    /// One that was asked so often, and began as many trials.
    fn with(trials: usize) -> Written {
        let search = fresh();
        let text = first_line(&search);
        let mut written = Written { search, text };
        for _ in 0..trials {
            let decision = written.search.ask(0.0);
            written.note(&Event::Decision { at: 0.0, decision });
        }
        written
    }

    fn note(&mut self, event: &Event) {
        self.text += &encode(event).expect("numbers");
    }

    fn tell(&mut self, trial: u64, outcome: Outcome) {
        let trial = TrialId(trial);
        let measurement = Measurement { trial, outcome };
        self.note(&Event::Measurement {
            at: 1.0,
            measurement,
        });
    }

    fn learned(&self) -> Vec<Earlier> {
        let log = Log::parse(&self.text).expect("whole");
        log.earlier(&space(), &target())
    }
}

fn throughput(value: f64) -> Metrics {
    Metrics::new([(THROUGHPUT.to_owned(), value)].into()).expect("finite")
}

fn measured(seconds: f64, value: f64) -> Outcome {
    Outcome::Measured {
        seconds,
        setup_seconds: 0.0,
        metrics: throughput(value),
        series: Vec::new(),
        notes: Vec::new(),
    }
}

fn failed(cause: Cause) -> Outcome {
    Outcome::Failed {
        cause,
        detail: "a test".to_owned(),
    }
}

#[test]
fn how_far_a_trial_ran_on_does_not_count_for_later_searches() {
    let mut log = Written::with(3);
    for (trial, seconds, value) in [(1, 40.0, 8.0), (1, 50.0, 7.0), (1, 70.0, 6.0)] {
        log.tell(trial, measured(seconds, value));
    }
    log.tell(2, measured(50.0, 9.0));
    // It was lost behind the last point and begun anew.
    log.tell(3, measured(70.0, 5.0));
    let learned = log.learned();
    let read = |it: &Earlier| {
        let reading = it.measured.as_ref().expect("measured");
        (reading.seconds, reading.metrics.get(THROUGHPUT))
    };
    let wanted = [7.0, 9.0, 5.0].map(|value| (50.0, Some(value)));
    assert_eq!(learned.iter().map(read).collect::<Vec<_>>(), wanted);
}

#[test]
fn a_failure_behind_a_full_evaluation_is_learned() {
    let mut log = Written::with(2);
    for trial in [1, 2] {
        log.tell(trial, measured(50.0, 7.0));
    }
    log.tell(1, failed(Cause::OutOfMemory));
    let learned = log.learned();
    assert_eq!(learned[0].measured, None);
    assert!(learned[1].measured.is_some());
}

#[test]
fn what_hung_after_it_was_measured_is_known_to_hang() {
    let mut log = Written::with(2);
    log.tell(1, measured(50.0, 7.0));
    log.tell(1, failed(Cause::Hang));
    assert!(log.learned().is_empty(), "all of them hang");
    log.tell(2, measured(50.0, 7.0));
    let learned = log.learned();
    assert!(learned[0].hung && learned[0].measured.is_none());
    assert!(!learned[1].hung && learned[1].measured.is_some());
}

#[test]
fn a_best_that_failed_in_a_repeat_is_not_begun_with() {
    let mut log = Written::with(2);
    for trial in [1, 2] {
        log.tell(trial, measured(50.0, 7.0));
    }
    let done = Decision::Done {
        best: Some(TrialId(2)),
        reason: "a test".to_owned(),
    };
    log.note(&Event::Decision {
        at: 2.0,
        decision: done,
    });
    for (contender, metrics) in [
        (Contender::Best, Some(throughput(7.0))),
        (Contender::RunnerUp, None),
    ] {
        let repeated = Repeated {
            round: 1,
            contender,
            metrics,
        };
        log.note(&Event::Repeated { at: 3.0, repeated });
    }
    assert!(log.learned().iter().all(|it| it.measured.is_some()));
    let repeated = Repeated {
        round: 2,
        contender: Contender::Best,
        metrics: None,
    };
    log.note(&Event::Repeated { at: 4.0, repeated });
    let measured = |it: &Earlier| it.measured.is_some();
    let learned: Vec<bool> = log.learned().iter().map(measured).collect();
    assert_eq!(learned, [true, false]);
}
