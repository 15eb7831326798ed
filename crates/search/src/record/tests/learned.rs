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
        Written::of(fresh(), trials)
    }

    fn of(search: Search, trials: usize) -> Written {
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

    /// Tells that the search chose this trial.
    fn choose(&mut self, trial: u64) {
        let decision = Decision::Done {
            best: Some(TrialId(trial)),
            reason: "a test".to_owned(),
        };
        self.note(&Event::Decision { at: 2.0, decision });
    }

    /// Tells of a round of repeats: of the best and of the runner-up.
    fn repeat(&mut self, round: u32, values: [Option<f64>; 2]) {
        let contenders = [Contender::Best, Contender::RunnerUp];
        for (contender, value) in contenders.into_iter().zip(values) {
            let repeated = Repeated {
                round,
                contender,
                metrics: value.map(throughput),
            };
            self.note(&Event::Repeated { at: 3.0, repeated });
        }
    }

    fn repeat_default(&mut self, round: u32, value: f64) {
        let repeated = Repeated {
            round,
            contender: Contender::Default,
            metrics: Some(throughput(value)),
        };
        self.note(&Event::Repeated { at: 3.0, repeated });
    }

    /// Tells that three rounds of repeats follow, of so many seconds each.
    fn plan_repeats(&mut self, seconds: f64) {
        self.note(&Event::Repeats {
            at: 2.0,
            rounds: 3,
            seconds,
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
fn what_failed_as_the_program_had_broken_is_not_learned() {
    let mut log = Written::with(7);
    for trial in 1..=3 {
        log.tell(trial, measured(50.0, 7.0));
    }
    for at in 0..18 {
        log.tell(4 + at % 3, failed(Cause::Crash));
    }
    let known = |log: &Written| {
        let learned = log.learned();
        let failed = learned.iter().filter(|it| it.measured.is_none());
        (learned.len(), failed.count())
    };
    // Without a metric that is needed it is a failure, too.
    log.tell(4, measured_without());
    assert_eq!(known(&log), (6, 3), "they may be bad");
    log.tell(1, failed(Cause::Crash));
    assert_eq!(known(&log), (3, 0), "one that was measured among them");
    log.choose(1);
    log.repeat(1, [None, None]);
    assert_eq!(known(&log), (3, 0), "nor do its repeats tell anything");
    log.tell(7, measured(50.0, 7.0));
    assert_eq!(known(&log), (7, 4), "it was the configurations");
}

fn measured_without() -> Outcome {
    let mut outcome = measured(50.0, 7.0);
    if let Outcome::Measured { metrics, .. } = &mut outcome {
        *metrics = Metrics::default();
    }
    outcome
}

#[test]
fn a_best_that_failed_in_a_repeat_is_not_begun_with() {
    let mut log = Written::with(2);
    for trial in [1, 2] {
        log.tell(trial, measured(50.0, 7.0));
    }
    log.choose(2);
    log.repeat(1, [Some(7.0), None]);
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

#[test]
fn a_best_that_another_beats_in_its_repeats_is_not_begun_with() {
    for (best, seconds, default, refuted) in [
        (6.0, 50.0, Some(5.0), true),
        (8.0, 50.0, Some(5.0), false),
        // What leads for a while may not do so to the end of what the search went by.
        (6.0, 43.0, Some(5.0), false),
        // But who does not even lead the default is not applied.
        (6.0, 43.0, Some(7.0), true),
        // It was not run again as itself, so it is the runner-up.
        (6.0, 43.0, None, true),
    ] {
        let mut log = Written::with(2);
        for trial in [1, 2] {
            log.tell(trial, measured(50.0, 7.0));
        }
        log.choose(2);
        log.plan_repeats(seconds);
        for round in 1..=3 {
            log.repeat(round, [Some(best), Some(7.0)]);
            if let Some(value) = default {
                log.repeat_default(round, value);
            }
        }
        let measured = |it: &Earlier| it.measured.is_some();
        let learned: Vec<bool> = log.learned().iter().map(measured).collect();
        assert_eq!(
            learned,
            [true, !refuted],
            "{best} in {seconds} s, {default:?}"
        );
    }
}

#[test]
fn repeats_must_run_as_long_as_a_best_that_ran_on() {
    for (seconds, refuted) in [(50.0, false), (70.0, true)] {
        let mut log = Written::with(2);
        for (trial, reached) in [(1, 50.0), (2, 50.0), (2, 70.0)] {
            log.tell(trial, measured(reached, 7.0));
        }
        log.choose(2);
        log.plan_repeats(seconds);
        for round in 1..=3 {
            log.repeat(round, [Some(6.0), Some(7.0)]);
            log.repeat_default(round, 5.0);
        }
        let is_known = log.learned()[1].measured.is_some();
        assert_eq!(is_known, !refuted, "{seconds} s");
    }
}

/// What is learned of a search of two trials by so many workers and its ablations.
fn ablated(workers: usize) -> (Configuration, Vec<Earlier>) {
    let mut setup = setup();
    setup.method.workers = workers;
    let search = Search::new(&space(), setup, &[]).expect("legal");
    let mut log = Written::of(search, 2);
    for trial in [1, 2] {
        log.tell(trial, measured(50.0, 7.0));
    }
    log.choose(2);
    log.plan_repeats(60.0);
    let best = log.search.trial(TrialId(2)).expect("it was started");
    let best = best.configuration.clone();
    let mut without = best.clone();
    without.set("write_buffer_size", Setting::Integer(1 << 20));
    let mut failing = without.clone();
    failing.set("max_background_compactions", Setting::Integer(1));
    for (configuration, value) in [
        (Some(without.clone()), Some(9.0)),
        (Some(best), Some(7.5)),
        (Some(failing), None),
        // As in logs that do not tell it.
        (None, Some(8.0)),
    ] {
        let ablated = Ablated {
            parameter: "a test".to_owned(),
            configuration,
            metrics: value.map(throughput),
        };
        log.note(&Event::Ablated { at: 4.0, ablated });
    }
    (without, log.learned())
}

#[test]
fn ablations_count_as_tried() {
    let (without, learned) = ablated(1);
    assert_eq!(learned.len(), 3, "two trials, and one ablation more");
    let last = learned.last().expect("three");
    assert_eq!(last.configuration, without);
    let reading = last.measured.as_ref().expect("measured");
    assert_eq!(
        (reading.seconds, reading.metrics.get(THROUGHPUT)),
        (50.0, Some(9.0))
    );
    assert_eq!(ablated(2).1.len(), 2, "trials ran beside each other");
}
