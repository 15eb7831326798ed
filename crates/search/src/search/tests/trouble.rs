//! Trials that fail or are lost, and reports that cannot be.

use super::*;

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
fn a_program_that_breaks_ends_the_search_with_what_was_measured() {
    use std::cell::Cell;
    for workers in [1, 7] {
        let mut setup = setup(100_000.0);
        setup.method.workers = workers;
        setup.method.whole_budget = true;
        let (left, works) = (Cell::new(12), surface);
        let breaks = |configuration: &Configuration| -> Answer {
            if left.get() == 0 {
                return Err(Cause::Crash);
            }
            left.set(left.get() - 1);
            works(configuration)
        };
        let mut search = search(setup);
        let mut lab = Lab::new(&breaks);
        lab.workers = workers;
        let mut last = None;
        let best = lab.run(&mut search, |event| last = Some(event.clone()));
        assert!(best.expect("reports are taken").is_some());
        let failed = search.trials().iter().filter(|it| it.has_failed()).count();
        let least = if workers == 1 { 20 } else { 28 };
        assert!((least..least + 12 + workers).contains(&failed), "{failed}");
        let Some(crate::record::Event::Decision { decision, .. }) = last else {
            panic!("the end is a decision");
        };
        assert!(
            decision.reason().contains("were all failures"),
            "{decision}"
        );
    }
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
