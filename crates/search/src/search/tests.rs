//! The search step by step.

mod anew;
mod budget;
mod learned;
mod trouble;
mod whole;

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
    setup.method.whole_budget = false;
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

/// More is better, up to 1,100 at px = py = 99.
fn slope(configuration: &Configuration) -> Answer {
    let (x, y) = (number(configuration, "px"), number(configuration, "py"));
    Ok([(THROUGHPUT.to_owned(), 110.0 + 5.0 * (x + y))].into())
}

/// The same, but that it crashes below px = 10.
fn surface(configuration: &Configuration) -> Answer {
    if number(configuration, "px") < 10.0 {
        return Err(Cause::Crash);
    }
    slope(configuration)
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
            notes: Vec::new(),
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
