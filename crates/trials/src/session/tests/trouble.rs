//! Programs, machines and disks that fail.

use lissom_search::record::Event;
use lissom_search::search::Outcome;

use super::{FOR_EVER, run, whole};
use crate::error::TrialsError;
use crate::session::testing::{Pages, Virtual, Watch, plan};

#[test]
fn what_cannot_be_written_ends_the_session_and_its_trials() {
    let plan = plan(3_000.0, 60.0, 3);
    for at in [0, 1, 2, 17, 40] {
        let mut pages = Pages {
            failing: at..at + 1,
            ..Pages::default()
        };
        let mut trials = Virtual::default();
        let mut watch = Watch::for_looks(FOR_EVER);
        let error = run(&plan, &mut trials, &mut pages, &mut watch).err();
        assert_eq!(error, Some(TrialsError::new("the disk is full")), "{at}");
        assert!(trials.runs.is_empty(), "{at}");
        // Behind the first line the second attempt, with the trials' data gone, took
        // the event, so that nothing measured is lost.
        let taken = if at == 0 { 0 } else { at + 1 };
        assert_eq!(pages.events.len(), taken);
        let mut watch = Watch::for_looks(FOR_EVER);
        pages.failing = 0..0;
        run(&plan, &mut Virtual::default(), &mut pages, &mut watch).expect("it goes on");
    }
}

#[test]
fn a_measurement_that_is_lost_with_its_log_is_told() {
    let plan = plan(3_000.0, 60.0, 3);
    let (_, pages) = whole(&plan, &mut Virtual::default());
    let told = |at: usize| {
        // Nor does ending the trials make room.
        let mut pages = Pages {
            failing: at..at + 2,
            ..Pages::default()
        };
        let mut watch = Watch::for_looks(FOR_EVER);
        let found = run(&plan, &mut Virtual::default(), &mut pages, &mut watch);
        assert_eq!(pages.events.len(), at);
        found.expect_err("no room").to_string()
    };
    let place = |is_meant: fn(&Event) -> bool| pages.events.iter().position(is_meant);
    let measured = [
        place(|it| matches!(it, Event::Measurement { .. })),
        place(|it| matches!(it, Event::Repeated { .. })),
        place(|it| matches!(it, Event::Ablated { .. })),
    ];
    for at in measured {
        let error = told(at.expect("in a whole search"));
        assert!(error.contains("the measurement in hand is lost"), "{error}");
    }
    let decision = place(|it| matches!(it, Event::Decision { .. }));
    assert_eq!(told(decision.expect("the first")), "the disk is full");
}

#[test]
fn a_program_without_the_metric_ends_the_search_at_once() {
    let plan = plan(3_000.0, 60.0, 3);
    let mut trials = Virtual {
        metric: Some("speed"),
        ..Virtual::default()
    };
    let (found, pages) = whole(&plan, &mut trials);
    let error = found.expect_err("nothing to go by").to_string();
    assert!(
        error.contains("trial 1 cannot be judged: it reported no metric throughput, but speed"),
        "{error}"
    );
    assert!(trials.runs.is_empty() && trials.started.len() == 1);
    // The program is mended, and the trial runs again.
    let told = pages.events.iter();
    assert_eq!(
        told.filter(|it| matches!(it, Event::Measurement { .. }))
            .count(),
        0
    );
}

/// Another configuration may give a number.
#[test]
fn a_formula_that_comes_to_no_number_is_a_failed_trial() {
    let mut plan = plan(3_000.0, 60.0, 3);
    let objective = "maximise ln(0 - throughput)".parse();
    plan.setup.objective = objective.expect("an objective");
    let mut trials = Virtual::default();
    let (found, _) = whole(&plan, &mut trials);
    let reason = found.expect("an end").reason;
    assert!(reason.starts_with("the first 5 trials failed"), "{reason}");
    assert!(reason.contains("comes to NaN"), "{reason}");
    assert_eq!(trials.started.len(), 5);
}

#[test]
fn a_program_that_always_hangs_ends_the_search_and_teaches_nothing() {
    let plan = plan(3_000.0, 60.0, 3);
    let mut trials = Virtual {
        broken: true,
        ..Virtual::default()
    };
    let (found, mut pages) = whole(&plan, &mut trials);
    let found = found.expect("an end");
    assert!(found.best.is_none() && found.verdict.is_none());
    assert!(
        found.reason.starts_with("the first 5 trials failed") && found.reason.contains("it hung"),
        "{}",
        found.reason
    );
    assert!(trials.runs.is_empty() && trials.started.len() == 5);
    let log = pages.log();
    assert!(log.searches[0].has_ended());
    assert!(log.earlier(&plan.space, &plan.target).is_empty());
    // The program is mended.
    let (mut mended, mut watch) = (Virtual::default(), Watch::for_looks(FOR_EVER));
    let found = run(&plan, &mut mended, &mut pages, &mut watch);
    assert!(found.expect("another search").best.is_some());
    assert_eq!(pages.log().searches.len(), 2);
}

#[test]
fn the_time_ends_trials_that_never_report() {
    let plan = plan(500.0, 60.0, 3);
    let mut trials = Virtual {
        silent: true,
        ..Virtual::default()
    };
    let (found, pages) = whole(&plan, &mut trials);
    let found = found.expect("an end");
    assert!(found.best.is_none() && found.verdict.is_none());
    assert!(
        found.reason.contains("before any trial was measured"),
        "{}",
        found.reason
    );
    assert!(trials.runs.is_empty() && trials.clock <= 500.0);
    assert!(pages.log().searches[0].has_ended());
}

#[test]
fn lost_runs_are_run_again_but_not_for_ever() {
    let plan = plan(3_000.0, 60.0, 3);
    let losing = [
        ("trial-2".to_owned(), 2),
        ("repeat-1-best".to_owned(), 1),
        ("repeat-2-best".to_owned(), u32::MAX),
    ];
    let mut trials = Virtual {
        losing: losing.into(),
        ..Virtual::default()
    };
    let (found, pages) = whole(&plan, &mut trials);
    found.expect("a result");
    let starts = |label: &str| trials.started.iter().filter(|it| *it == label).count();
    assert_eq!(starts("trial-2"), 3);
    assert_eq!(starts("repeat-1-best"), 2);
    assert_eq!(starts("repeat-2-best"), 3);
    let lost = pages.events.iter().filter(|it| {
        matches!(it, Event::Measurement { measurement, .. }
            if matches!(measurement.outcome, Outcome::Lost { .. }))
    });
    assert_eq!(lost.count(), 2);
}
