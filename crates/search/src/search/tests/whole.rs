//! What is done with the budget that the published method leaves.

use super::*;
use crate::record::Event;
use crate::space::BuiltIn;

/// The default and an arm's first each, compared after 60 and 100 s: 420 s, and 40 s more for
/// two of three to run on.
fn five(budget: f64) -> Search {
    let mut setup = setup(budget);
    setup.method.whole_budget = true;
    setup.method.rounds = 0;
    setup.method.points = TimePoints::Fixed(vec![60.0, 100.0]);
    search(setup)
}

/// Obeys a search with one worker, for which a second of running takes `pace` by the clock.
fn obey(search: &mut Search, pace: f64, fails: impl Fn(&Trial) -> bool) {
    let mut clock = 0.0;
    loop {
        let (trial, until) = match search.ask(clock) {
            Decision::Start { trial, until, .. } | Decision::Continue { trial, until, .. } => {
                (trial, until)
            }
            Decision::Stop { .. } => continue,
            Decision::Wait { reason } => panic!("{reason}"),
            Decision::Done { .. } => return,
        };
        let known = search.trial(trial).expect("exists");
        clock += pace * (until - known.reached());
        let mut report = measured(trial, until, trial.0 as f64);
        if fails(known) {
            report.outcome = Outcome::Failed {
                cause: Cause::OutOfMemory,
                detail: "a test".to_owned(),
            };
        }
        search.tell(report).expect("it runs");
    }
}

fn seconds_reached(search: &Search) -> Vec<f64> {
    let mut reached: Vec<f64> = search.trials().iter().map(Trial::reached).collect();
    reached.sort_by(f64::total_cmp);
    reached
}

#[test]
fn the_better_half_runs_on_behind_the_last_point() {
    let mut search = five(470.0);
    let mut lab = Lab::new(&slope);
    let best = lab.run(&mut search, |_| {}).expect("reports are taken");
    assert_eq!(seconds_reached(&search), [60.0, 60.0, 100.0, 120.0, 120.0]);
    assert_eq!(search.points(), Some(&[60.0, 100.0, 120.0][..]));
    let best = search.trial(best.expect("a best")).expect("exists");
    assert_eq!(best.reached(), 120.0, "of those that ran the longest");
    assert_eq!(lab.clock, 460.0);
}

#[test]
fn nobody_runs_on_alone_or_without_time() {
    let mut search = five(455.0);
    let mut lab = Lab::new(&slope);
    lab.run(&mut search, |_| {}).expect("reports are taken");
    assert_eq!(seconds_reached(&search), [60.0, 60.0, 100.0, 100.0, 100.0]);
    assert_eq!(search.points(), Some(&[60.0, 100.0][..]));
    assert_eq!(search.cut_off(), None, "nothing was");
}

#[test]
fn who_fails_behind_the_last_point_gives_way() {
    let mut search = five(470.0);
    // The later the better: 3, 4 and 5 come to 100 s, and 4 and 5 run on.
    obey(&mut search, 1.0, |it| it.reached() >= 100.0);
    let failed = search.trials().iter().filter(|it| it.has_failed());
    assert_eq!(failed.count(), 2);
    assert_eq!(search.best(), Some(TrialId(3)));
}

#[test]
fn no_trial_runs_longer_than_twice_a_full_evaluation() {
    // Up to 272 trials of 90 s; then 136 run to 100 s, and 68, 34, 17, 9 and 5 each 20 s more: of
    // these five three would run on to 220 s, for which there is time.
    let mut setup = setup(29_000.0);
    setup.method.whole_budget = true;
    setup.method.buckets = 16;
    setup.method.samples = 4_000;
    setup.method.points = TimePoints::Fixed(vec![90.0, 100.0]);
    let mut search = search(setup);
    let mut lab = Lab::new(&slope);
    lab.run(&mut search, |_| {}).expect("reports are taken");
    let reached = seconds_reached(&search);
    let farthest: Vec<&f64> = reached.iter().filter(|it| **it >= 200.0).collect();
    assert!(farthest.len() > 2, "{farthest:?}");
    assert!(farthest.iter().all(|it| **it == 200.0), "{farthest:?}");
}

#[test]
fn further_rounds_take_the_places_of_the_worst() {
    let mut setup = setup(5_000.0);
    setup.method.whole_budget = true;
    let mut search = search(setup);
    let planned = 1 + 4 + 3 * 4;
    let (mut alive, mut most) = (0usize, 0usize);
    let mut lab = Lab::new(&slope);
    lab.run(&mut search, |event| {
        if let Event::Decision { decision, .. } = event {
            match decision {
                Decision::Start { .. } => alive += 1,
                Decision::Stop { .. } => alive -= 1,
                _ => {}
            }
        }
        most = most.max(alive);
    })
    .expect("reports are taken");
    assert!(most <= planned, "{most} at once, {planned} planned");
    assert!(search.trials().len() > 3 * planned);
    assert!((4_850.0..=5_000.0).contains(&lab.clock), "{}", lab.clock);
    let rounds = search.trials().iter().filter_map(|it| match it.origin {
        Origin::Round(round) => Some(round),
        _ => None,
    });
    assert!(rounds.max() > Some(6));
}

#[test]
fn failures_of_further_rounds_do_not_thin_out_the_field() {
    let mut setup = setup(5_000.0);
    setup.method.whole_budget = true;
    let own = setup.method.rounds;
    let mut search = search(setup);
    let is_further = |it: &Trial| matches!(it.origin, Origin::Round(round) if round > own);
    obey(&mut search, 1.0, is_further);
    let failed = search.trials().iter().filter(|it| it.has_failed()).count();
    assert_eq!(failed, 20, "then no more are begun");
    // Of 17 the four worst have made place for the first four others, and nobody since then.
    let second = search.trials().iter().filter(|it| it.has_reached(80.0));
    assert_eq!(second.count(), 7);
}

#[test]
fn a_further_round_that_is_not_whole_is_not_worth_a_word() {
    let mut setup = setup(2_155.0);
    setup.method.whole_budget = true;
    setup.method.points = TimePoints::Fixed(vec![100.0]);
    let mut search = search(setup);
    // 17 trials of 103 s leave 404 s: room for four more of 100 s, but after three of 103 s for
    // none.
    obey(&mut search, 1.03, |_| false);
    assert_eq!(search.trials().len(), 17 + 3);
    let notes = search.notes();
    assert!(notes.iter().all(|it| !it.contains("left out")), "{notes:?}");
}

#[test]
fn by_the_heuristic_the_next_of_an_arm_follow() {
    let mut setup = setup(3_000.0);
    setup.method.further = Sampling::Heuristic;
    let mut search = search(setup);
    let mut lab = Lab::new(&slope);
    lab.run(&mut search, |_| {}).expect("reports are taken");
    for arm in search.arms().ids() {
        let trials = search.trials().iter().filter(|it| it.arm == Some(arm));
        let others = trials.filter(|it| it.origin != Origin::Default);
        let values: Vec<f64> = others.map(|it| number(&it.configuration, "px")).collect();
        assert!(values.len() > 1 && values.is_sorted(), "{arm}: {values:?}");
    }
}

#[test]
fn what_is_near_differs_in_two_settings() {
    let file = BuiltIn::Dremel.file().expect("reads");
    let space = file.with(&Constants::new()).expect("is legal");
    let mut setup = setup(3_000.0);
    setup.method.further = Sampling::Near;
    let mut search = Search::new(&space, setup, &[]).expect("legal");
    let wide = |configuration: &Configuration| -> Answer {
        let bytes = number(configuration, "write_buffer_size");
        Ok([(THROUGHPUT.to_owned(), bytes.sqrt())].into())
    };
    let mut lab = Lab::new(&wide);
    lab.run(&mut search, |_| {}).expect("reports are taken");
    let (mut near, mut others) = (0, 0);
    for trial in search.trials() {
        assert_eq!(space.check(&trial.configuration), Ok(()));
        if !matches!(trial.origin, Origin::Round(_)) {
            continue;
        }
        let mut before = search.trials().iter().filter(|it| it.id < trial.id);
        let is_near = before.any(|it| {
            it.arm == trial.arm && it.configuration.differences(&trial.configuration).len() <= 2
        });
        if is_near { near += 1 } else { others += 1 }
    }
    assert!(near >= 10 && others == 0, "{near} near, {others} not");
}
