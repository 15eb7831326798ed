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
