//! Trials that begin anew, and what that costs.

use super::*;

/// A search of so many seconds by four trials, the later the better, after the first point.
fn four(budget: f64, set_up: f64) -> Search {
    let mut setup = setup(budget);
    setup.method.rounds = 0;
    setup.method.with_default = false;
    setup.method.setup_seconds = set_up;
    let mut search = search(setup);
    for trial in 1..=4 {
        assert_eq!(search.ask(0.0).trial(), Some(TrialId(trial)));
    }
    for trial in 1..=4 {
        let report = after(set_up, measured(TrialId(trial), 60.0, trial as f64));
        search.tell(report).expect("it runs");
    }
    search
}

/// The same report with a set-up.
fn after(set_up: f64, mut report: Measurement) -> Measurement {
    if let Outcome::Measured { setup_seconds, .. } = &mut report.outcome {
        *setup_seconds = set_up;
    }
    report
}

fn lose(search: &mut Search, trials: &[u64]) {
    for trial in trials {
        let outcome = Outcome::Lost {
            why: "an interruption".to_owned(),
        };
        let trial = TrialId(*trial);
        search
            .tell(Measurement { trial, outcome })
            .expect("it was there");
    }
}

#[test]
fn what_was_lost_is_charged_as_if_it_were_new() {
    // 160 s are left: enough for two of 20 s that wait, and then one, but not for two of 10
    // and 80 s that begin anew, and then one of 20 s.
    let mut waiting = four(400.0, 10.0);
    let next: Vec<_> = (0..4).map(|_| waiting.ask(240.0).trial()).collect();
    let ids = [2, 1, 4, 3].map(|it| Some(TrialId(it)));
    assert_eq!(next, ids, "two stop, two run on");
    let mut lost = four(400.0, 10.0);
    lose(&mut lost, &[1, 2, 3, 4]);
    let next = lost.ask(240.0);
    assert!(
        matches!(
            next,
            Decision::Start {
                trial: TrialId(4),
                until: 80.0,
                ..
            }
        ),
        "{next}"
    );
    assert_eq!(lost.alive(), [TrialId(4)], "the others are not wanted");
    let again = after(10.0, measured(TrialId(4), 80.0, 4.0));
    lost.tell(again).expect("it runs");
    assert_eq!(lost.setup_estimate(), 10.0, "as expected");
    assert_eq!(lost.trial(TrialId(4)).expect("exists").attempts, 2);
}

#[test]
fn the_trial_that_tells_the_points_goes_on_where_it_was() {
    let mut setup = setup(2_000.0);
    setup.method.rounds = 0;
    setup.method.points = TimePoints::settled_within(100.0);
    setup.method.setup_seconds = 5.0;
    let mut search = search(setup);
    search.note_restarts(true);
    let first = search.ask(0.0).trial().expect("a start");
    let mut set_up = 5.0;
    for seconds in [20.0, 30.0, 40.0, 50.0] {
        assert!(!search.goes_on_at_once(first), "it runs");
        let report = after(std::mem::take(&mut set_up), measured(first, seconds, 1.0));
        search.tell(report).expect("it runs");
        assert!(search.goes_on_at_once(first), "it has not settled");
        // What is left to the first point, not a set-up and all of it.
        let trial = search.trial(first).expect("exists");
        assert_eq!(search.seconds_to(trial, 60.0), 60.0 - seconds);
        let next = search.ask(seconds + 5.0);
        assert!(matches!(next, Decision::Continue { trial, .. } if trial == first));
    }
    search.tell(measured(first, 60.0, 1.0)).expect("it runs");
    assert_eq!(search.points(), Some(&[60.0, 80.0, 100.0][..]));
    assert!(!search.goes_on_at_once(first), "like all others");
    let trial = search.trial(first).expect("exists");
    assert_eq!((trial.attempts, search.setup_estimate()), (1, 5.0));
    assert_eq!(search.seconds_to(trial, 80.0), 85.0, "anew");
}

#[test]
fn trials_that_begin_anew_leave_room_for_fewer() {
    // 2 of 60 s, then one of 80 s and of 100 s: 300 s; a third one makes 440 s.
    let mut setup = setup(400.0);
    setup.method.rounds = 0;
    setup.method.with_default = false;
    let mut search = search(setup);
    search.note_restarts(true);
    let mut decisions = std::iter::repeat_with(|| search.ask(0.0));
    let waits = decisions.position(|it| matches!(it, Decision::Wait { .. }));
    assert_eq!(waits, Some(2));
}

#[test]
fn the_best_of_those_that_were_lost_runs_first_and_what_is_cut_off_is_known() {
    let mut search = four(400.0, 0.0);
    for _ in 0..4 {
        search.ask(240.0);
    }
    assert_eq!(search.alive(), [TrialId(3), TrialId(4)]);
    lose(&mut search, &[3, 4]);
    let first = search.ask(250.0);
    assert_eq!(first.trial(), Some(TrialId(4)), "{first}");
    search.tell(measured(TrialId(4), 80.0, 4.0)).expect("runs");
    let second = search.ask(330.0);
    assert_eq!(second.trial(), Some(TrialId(3)), "{second}");
    assert_eq!(search.cut_off(), None, "before the end");
    let stop = search.ask(400.0);
    assert!(matches!(stop, Decision::Stop { .. }), "{stop}");
    assert_eq!(search.best(), Some(TrialId(4)));
    let cut_off = CutOff {
        trials: 2,
        short: 1,
        until: 80.0,
    };
    assert_eq!(search.cut_off(), Some(cut_off));
    // The report had been on its way.
    search.tell(measured(TrialId(3), 80.0, 3.0)).expect("taken");
    assert_eq!(search.cut_off(), None);
}
