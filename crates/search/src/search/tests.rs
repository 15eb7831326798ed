//! The search step by step.

mod anew;

use super::*;
use crate::objective::Metrics;
use crate::objective::metrics::THROUGHPUT;
use crate::space::{Configuration, Constants, Setting, Space, SpaceFile};
use crate::testing::{Answer, Lab};

/// Two parameters, one feature each.
fn space() -> Space {
    let mut text = "name = \"small\"\nabout = \"A test.\"\nheuristic = \"x\"\n".to_owned();
    for name in ["x", "y"] {
        text += &format!(
            "[[parameter]]\nname = \"p{name}\"\nkind = \"integer\"\nrange = [0, 99]\n\
             default = 50\nchange = \"reopen\"\nsource = \"a test\"\n\
             [[feature]]\nname = \"{name}\"\nexpression = \"p{name}\"\nsource = \"a test\"\n"
        );
    }
    let file = SpaceFile::parse(&text).expect("reads");
    file.with(&Constants::new()).expect("is legal")
}

fn setup(budget_seconds: f64) -> Setup {
    let mut setup = Setup::new("throughput".parse().expect("an objective"), budget_seconds);
    setup.method.samples = 400;
    setup.method.points = TimePoints::Fixed(vec![60.0, 80.0, 100.0]);
    setup
}

fn search(setup: Setup) -> Search {
    Search::new(&space(), setup, &[]).expect("legal")
}

fn number(configuration: &Configuration, name: &str) -> f64 {
    configuration
        .get(name)
        .and_then(Setting::number)
        .expect(name)
}

/// More is better, up to 1,100 at px = py = 99; below px = 10 it crashes.
fn surface(configuration: &Configuration) -> Answer {
    let (x, y) = (number(configuration, "px"), number(configuration, "py"));
    if x < 10.0 {
        return Err(Cause::Crash);
    }
    Ok([(THROUGHPUT.to_owned(), 110.0 + 5.0 * (x + y))].into())
}

fn measured(trial: TrialId, seconds: f64, throughput: f64) -> Measurement {
    let metrics = [(THROUGHPUT.to_owned(), throughput)];
    Measurement {
        trial,
        outcome: Outcome::Measured {
            seconds,
            setup_seconds: 0.0,
            metrics: Metrics::new(metrics.into()).expect("finite"),
            series: Vec::new(),
        },
    }
}

#[test]
fn a_whole_search_keeps_its_promises() {
    let mut search = search(setup(10_000.0));
    let mut decisions = Vec::new();
    let mut lab = Lab::new(&surface);
    let best = lab.run(&mut search, |event| {
        if let crate::record::Event::Decision { decision, .. } = event {
            decisions.push(decision.clone());
        }
    });
    let best = best.expect("reports are taken").expect("a best");
    assert!(search.is_done());
    // The default, four arms, and three rounds of at most four arms.
    assert_eq!(search.arms().count(), 4);
    assert_eq!(search.trials().len(), 1 + 4 + 3 * 4);
    assert!(decisions.iter().all(|it| !it.reason().is_empty()));
    let starts = |it: &&Decision| matches!(it, Decision::Start { .. });
    assert_eq!(
        decisions.iter().filter(starts).count(),
        search.trials().len()
    );
    let last = decisions.last().expect("decisions");
    assert!(matches!(last, Decision::Done { best: Some(it), .. } if *it == best));
    let live: Vec<TrialId> = search.alive();
    assert!(live.is_empty(), "{live:?}");
    let chosen = &search.trial(best).expect("exists").configuration;
    assert!(
        number(chosen, "px") + number(chosen, "py") > 120.0,
        "{chosen}"
    );
}

#[test]
fn halving_stops_the_worse_half_and_lets_the_better_run_on() {
    let mut setup = setup(100_000.0);
    setup.method.rounds = 0;
    setup.method.with_default = false;
    let mut search = search(setup);
    let mut started = Vec::new();
    while let Decision::Start { trial, until, .. } = search.ask(0.0) {
        assert_eq!(until, 60.0);
        started.push(trial);
    }
    assert_eq!(started.len(), 4);
    assert!(matches!(search.ask(0.0), Decision::Wait { .. }));
    for trial in &started {
        search
            .tell(measured(*trial, 60.0, trial.0 as f64))
            .expect("runs");
    }
    let stop = search.ask(60.0);
    assert_eq!(stop.trial(), Some(TrialId(2)), "{stop}");
    assert_eq!(stop.reason(), "it is 3 of 4 after 60 s");
    assert_eq!(search.ask(60.0).trial(), Some(TrialId(1)));
    // The best of them first.
    for (trial, until) in [(4, 80.0), (3, 80.0)] {
        let next = search.ask(60.0);
        assert!(
            matches!(next, Decision::Continue { trial: TrialId(it), until: to, .. }
                if it == trial && to == until),
            "{next}"
        );
    }
    search.tell(measured(TrialId(3), 80.0, 9.0)).expect("runs");
    search.tell(measured(TrialId(4), 80.0, 8.0)).expect("runs");
    assert_eq!(
        search.ask(80.0).trial(),
        Some(TrialId(4)),
        "the ranks changed"
    );
    let next = search.ask(80.0);
    assert!(
        matches!(next, Decision::Continue { until: 100.0, .. }),
        "{next}"
    );
    search.tell(measured(TrialId(3), 100.0, 7.0)).expect("runs");
    assert!(matches!(
        search.ask(100.0),
        Decision::Stop {
            trial: TrialId(3),
            ..
        }
    ));
    let done = search.ask(100.0);
    assert!(
        matches!(
            done,
            Decision::Done {
                best: Some(TrialId(3)),
                ..
            }
        ),
        "{done}"
    );
    assert_eq!(search.ask(200.0), done, "asking again gives the same");
    assert_eq!(
        search.order(),
        [TrialId(3), TrialId(4), TrialId(2), TrialId(1)]
    );
}

#[test]
fn the_first_trial_finds_the_time_points() {
    let mut setup = setup(10_000.0);
    setup.method.points = TimePoints::default();
    let mut search = search(setup);
    let mut lab = Lab::new(&surface);
    lab.settling = 10.0;
    lab.workers = 2;
    let best = lab.run(&mut search, |_| {}).expect("reports are taken");
    assert!(best.is_some());
    // 1 + e^(-t/10) deviates by 17 % over the first 20 s and by 8 % over (10, 30].
    let points = search.points().expect("found");
    assert_eq!(points.len(), 3);
    assert_eq!(points[0], 30.0);
    assert_eq!(points[2], 100.0);
    let first = search.trials().first().expect("the default");
    assert!(first.readings.len() > 1, "it went on by steps");
    assert!(search.notes().iter().any(|note| note.contains("settled")));
}

#[test]
fn failures_are_bad_samples_not_the_end() {
    let all_fail = |_: &Configuration| -> Answer { Err(Cause::CannotOpen) };
    let mut failing = search(setup(10_000.0));
    let mut lab = Lab::new(&all_fail);
    let mut last = None;
    let best = lab.run(&mut failing, |event| last = Some(event.clone()));
    assert_eq!(best, Ok(None));
    assert_eq!(failing.trials().len(), 5, "that is enough");
    let crate::record::Event::Decision { decision, .. } = last.expect("an end") else {
        panic!("the end is a decision");
    };
    assert!(decision.reason().contains("it did not open"), "{decision}");
    let mut setup_of_seven = setup(10_000.0);
    setup_of_seven.method.workers = 7;
    let mut failing = search(setup_of_seven);
    let mut lab = Lab::new(&all_fail);
    lab.workers = 7;
    assert_eq!(lab.run(&mut failing, |_| {}), Ok(None));
    let failed = failing.trials().iter().filter(|it| it.has_failed());
    assert_eq!(failed.count(), 7, "as many as run at once");
    let mut some = search(setup(10_000.0));
    let best = Lab::new(&surface)
        .run(&mut some, |_| {})
        .expect("reports are taken");
    assert!(
        some.trials().iter().any(Trial::has_failed),
        "px < 10 was tried"
    );
    assert!(best.is_some());
}

#[test]
fn a_metric_that_is_missing_is_a_failure_with_a_sentence() {
    let mut search = search(setup(10_000.0));
    let first = search.ask(0.0);
    let trial = first.trial().expect("a start");
    let mut report = measured(trial, 60.0, 1.0);
    if let Outcome::Measured { metrics, .. } = &mut report.outcome {
        *metrics = Metrics::default();
    }
    search.tell(report).expect("taken");
    let State::Failed(cause, detail) = &search.trial(trial).expect("exists").state else {
        panic!("it failed");
    };
    assert_eq!(*cause, Cause::NoMetric);
    assert!(
        detail.contains("no metric throughput, but nothing"),
        "{detail}"
    );
}

#[test]
fn wrong_reports_change_nothing() {
    let mut search = search(setup(10_000.0));
    let trial = search.ask(0.0).trial().expect("a start");
    for (report, says) in [
        (measured(TrialId(99), 60.0, 1.0), "there is no trial 99"),
        (
            measured(trial, 20.0, 1.0),
            "was to run until 60 s and reports after 20 s",
        ),
        (measured(trial, f64::NAN, 1.0), "NaN as seconds"),
    ] {
        let error = search.tell(report).expect_err(says).to_string();
        assert!(error.contains(says), "{error}");
    }
    search
        .tell(measured(trial, 59.9, 1.0))
        .expect("near enough");
    let twice = search.tell(measured(trial, 60.0, 1.0)).expect_err("twice");
    assert!(twice.to_string().contains("does not run"), "{twice}");
}

#[test]
fn a_lost_trial_begins_anew() {
    let mut search = search(setup(10_000.0));
    let start = search.ask(0.0);
    let trial = start.trial().expect("a start");
    assert_eq!(search.alive(), [trial]);
    let lost = Outcome::Lost {
        why: "the machine was restarted".to_owned(),
    };
    let measurement = Measurement {
        trial,
        outcome: lost,
    };
    search.tell(measurement).expect("taken");
    assert!(search.alive().is_empty());
    let again = search.ask(5.0);
    assert_eq!(again.without_reason(), start.without_reason());
}

#[test]
fn a_short_budget_leaves_out_what_it_cannot_pay() {
    // One trial of 100 s, and another one to the first point.
    let mut short = search(setup(165.0));
    let mut lab = Lab::new(&surface);
    let best = lab.run(&mut short, |_| {}).expect("reports are taken");
    assert!(best.is_some());
    assert!(lab.clock <= 165.0, "{}", lab.clock);
    assert!(short.trials().len() < 4, "{}", short.trials().len());
    assert!(short.notes().iter().any(|note| note.contains("left out")));
    let error = Search::new(&space(), setup(99.0), &[]).expect_err("too short");
    assert!(
        error.to_string().contains("too short for one trial"),
        "{error}"
    );
}

#[test]
fn what_is_kept_for_repeats_may_change() {
    let mut search = search(setup(1_000.0));
    assert!(search.affordable(5, 0.0));
    search.reserve(800.0);
    assert!(!search.affordable(5, 0.0));
    assert!(matches!(search.ask(0.0), Decision::Start { .. }));
    search.reserve(0.0);
    assert!(search.affordable(5, 0.0));
    search.reserve(1e9);
    let stop = search.ask(1.0);
    assert!(matches!(stop, Decision::Stop { .. }), "{stop}");
}

#[test]
fn the_first_set_up_counts_only_while_it_is_alone() {
    let mut search = search(setup(10_000.0));
    assert_eq!(search.setup_estimate(), 0.0);
    for (set_up, estimate) in [(90.0, 90.0), (10.0, 10.0), (20.0, 15.0)] {
        let trial = search.ask(0.0).trial().expect("a start");
        let mut report = measured(trial, 60.0, 1.0);
        if let Outcome::Measured { setup_seconds, .. } = &mut report.outcome {
            *setup_seconds = set_up;
        }
        search.tell(report).expect("it runs");
        assert_eq!(search.setup_estimate(), estimate);
    }
}

#[test]
fn every_budget_is_kept() {
    for budget in (100i32..2_000).step_by(130) {
        for workers in [1, 3] {
            let budget = f64::from(budget);
            let mut setup = setup(budget);
            setup.method.workers = workers;
            let mut search = search(setup);
            let mut lab = Lab::new(&surface);
            lab.workers = workers;
            lab.run(&mut search, |_| {}).expect("reports are taken");
            // With several workers the arithmetic is an estimate, but a trial that
            // runs when the time is used up is stopped at the next report.
            let slack = if workers == 1 { 0.0 } else { 100.0 };
            assert!(lab.clock <= budget + slack, "{} of {budget}", lab.clock);
        }
    }
}

#[test]
fn earlier_measurements_choose_the_first_of_an_arm() {
    let configuration = |x: i64, y: i64| {
        let settings = [("px", x), ("py", y)];
        let settings = settings.map(|(name, value)| (name.to_owned(), Setting::Integer(value)));
        settings.into_iter().collect::<Configuration>()
    };
    let reading = |throughput: f64| EarlierReading {
        seconds: 100.0,
        metrics: Metrics::new([(THROUGHPUT.to_owned(), throughput)].into()).expect("finite"),
    };
    let earlier = [
        Earlier {
            configuration: configuration(90, 90),
            measured: Some(reading(5.0)),
        },
        Earlier {
            configuration: configuration(95, 91),
            measured: Some(reading(7.0)),
        },
        Earlier {
            configuration: configuration(97, 97),
            measured: None,
        },
    ];
    let mut search = Search::new(&space(), setup(10_000.0), &earlier).expect("legal");
    let default = search.ask(0.0);
    let first = search.ask(0.0);
    assert!(matches!(default, Decision::Start { .. }));
    let Decision::Start {
        configuration: found,
        reason,
        ..
    } = &first
    else {
        panic!("{first}");
    };
    assert_eq!(*found, configuration(95, 91));
    assert!(reason.contains("earlier searches"), "{reason}");
}

#[test]
fn random_search_runs_everything_to_the_end() {
    let mut setup = setup(1_050.0);
    setup.method = Method {
        samples: 400,
        ..Method::random_search(100.0)
    };
    let mut search = search(setup);
    let mut lab = Lab::new(&surface);
    lab.run(&mut search, |_| {}).expect("reports are taken");
    assert_eq!(search.arms().count(), 1);
    let ran = search.trials().iter().filter(|it| it.reached() == 100.0);
    let failed = search.trials().iter().filter(|it| it.has_failed());
    assert!(ran.count() + failed.count() >= 10);
    assert!(lab.clock <= 1_050.0);
}

#[test]
fn progress_counts_down() {
    let mut search = search(setup(10_000.0));
    let before = search.progress(0.0).seconds_left;
    assert!(before > 0.0 && before <= 10_000.0);
    Lab::new(&surface)
        .run(&mut search, |_| {})
        .expect("reports are taken");
    let after = search.progress(3_000.0);
    assert_eq!((after.seconds_left, after.stage.as_str()), (0.0, "done"));
    assert!(
        after
            .to_string()
            .starts_with("done: 17 trials, 0 live, 0 running")
    );
}
