//! What a budget pays for, and what is kept of it.

use super::*;

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
    let trial = start(&mut search);
    search.reserve(0.0);
    assert!(search.affordable(5, 0.0));
    search.reserve(1e9);
    let wait = search.ask(1.0);
    assert!(
        matches!(wait, Decision::Wait { .. }),
        "nothing to repeat: {wait}"
    );
    set_up(&mut search, trial, 1.0);
    let stop = search.ask(61.0);
    assert!(matches!(stop, Decision::Stop { .. }), "{stop}");
}

/// A search of so many seconds that expects 7 s of set-up.
fn expecting(budget: f64) -> Search {
    let mut setup = setup(budget);
    setup.method.setup_seconds = 7.0;
    search(setup)
}

fn start(search: &mut Search) -> TrialId {
    search.ask(0.0).trial().expect("a start")
}

/// Tells that a trial has run to the first point behind such a set-up.
fn set_up(search: &mut Search, trial: TrialId, seconds: f64) {
    let mut report = measured(trial, 60.0, 1.0);
    if let Outcome::Measured { setup_seconds, .. } = &mut report.outcome {
        *setup_seconds = seconds;
    }
    search.tell(report).expect("it runs");
}

fn lose(search: &mut Search, trial: TrialId) {
    let why = "an interruption".to_owned();
    let outcome = Outcome::Lost { why };
    search
        .tell(Measurement { trial, outcome })
        .expect("it was there");
}

#[test]
fn set_ups_that_began_before_any_had_ended_do_not_count() {
    let mut search = expecting(10_000.0);
    // Three that begin at once: one loads, the others wait for it.
    let first = [(); 3].map(|()| start(&mut search));
    for trial in first {
        set_up(&mut search, trial, 90.0);
        assert_eq!(search.setup_estimate(), 7.0, "as expected");
    }
    // One of them loads again, as on another machine.
    for (seconds, estimate) in [(10.0, 10.0), (20.0, 15.0), (900.0, 20.0), (12.0, 16.0)] {
        let trial = start(&mut search);
        set_up(&mut search, trial, seconds);
        assert_eq!(search.setup_estimate(), estimate);
    }
    assert_eq!(search.typical_set_ups(), 4);
}

#[test]
fn set_ups_count_no_more_until_one_is_ready_when_all_were_lost() {
    let mut search = expecting(10_000.0);
    let first = start(&mut search);
    set_up(&mut search, first, 90.0);
    let second = start(&mut search);
    // The other one still has what both share.
    lose(&mut search, second);
    assert_eq!(start(&mut search), second);
    set_up(&mut search, second, 10.0);
    assert_eq!(search.setup_estimate(), 10.0);
    lose(&mut search, first);
    lose(&mut search, second);
    for (seconds, estimate) in [(80.0, 10.0), (20.0, 15.0)] {
        let trial = start(&mut search);
        set_up(&mut search, trial, seconds);
        assert_eq!(search.setup_estimate(), estimate);
    }
}

#[test]
fn a_load_is_charged_to_nobody_else() {
    let mut search = expecting(400.0);
    let first = start(&mut search);
    set_up(&mut search, first, 200.0);
    // Another one takes 67 s, and then the better one 40 s, of the 140 s that are left.
    let next = search.ask(260.0);
    assert!(matches!(next, Decision::Start { .. }), "{next}");
}

#[test]
fn no_more_trials_are_alive_than_the_budget_can_halve() {
    for budget in (100i32..3_000).step_by(170) {
        for (workers, whole_budget) in [(1, false), (3, false), (1, true), (3, true)] {
            let mut setup = setup(f64::from(budget));
            setup.method.workers = workers;
            setup.method.whole_budget = whole_budget;
            setup.method.rounds = 20;
            setup.method.points = TimePoints::default();
            let mut search = search(setup);
            let affordable = search.most_affordable();
            let (mut alive, mut most) = (0usize, 0usize);
            let mut lab = Lab::new(&slope);
            lab.workers = workers;
            lab.run(&mut search, |event| {
                if let crate::record::Event::Decision { decision, .. } = event {
                    match decision {
                        Decision::Start { .. } => alive += 1,
                        Decision::Stop { .. } => alive -= 1,
                        _ => {}
                    }
                }
                most = most.max(alive);
            })
            .expect("reports are taken");
            assert!(
                (1..=affordable).contains(&most),
                "{most} of {affordable} in {budget} s"
            );
        }
    }
}

#[test]
fn every_budget_is_kept() {
    for budget in (100i32..2_000).step_by(130) {
        for (workers, whole_budget) in [(1, false), (3, false), (1, true), (3, true)] {
            let budget = f64::from(budget);
            let mut setup = setup(budget);
            setup.method.workers = workers;
            setup.method.whole_budget = whole_budget;
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
