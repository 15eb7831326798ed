//! Arms that learn: when they were near, their steps, seeds, holds and reopenings.

use super::*;
use crate::report::testing::single_spaced;

#[test]
fn missions_until_an_arm_is_as_good_as_the_best_static_one_are_told() {
    let arms = ["fixed-1", "fixed-10", "thresholds-30-70"];
    let mut seen = run_simulation(&learning(&arms), &mut |_| ()).expect("simulated");
    for arm in &seen.arms {
        for session in &arm.outcome.sessions {
            assert_eq!(
                session.course.len() as u64,
                session.missions + 1,
                "{}",
                arm.arm
            );
            let end = (session.operations, session.seconds);
            assert_eq!(session.course.last(), Some(&end));
        }
    }
    // A copy of the best static arm is as good from the first mission on.
    let took = |arm: &SimulatedArm| arm.outcome.sessions[0].seconds;
    let best = if took(&seen.arms[0]) <= took(&seen.arms[1]) {
        0
    } else {
        1
    };
    seen.arms[2].outcome = seen.arms[best].outcome.clone();
    let first_row = |seen: &Simulation| {
        let text = render_simulation(seen);
        let (_, table) = text.split_once("Missions until the rest").expect("a table");
        let row = table.lines().nth(2).expect("the first session");
        let cells = row.split_whitespace().map(str::to_owned);
        cells.collect::<Vec<String>>()
    };
    let first = |seen: &Simulation| first_row(seen)[2..].join(" ");
    let missions = seen.arms[2].outcome.sessions[0].missions;
    assert_eq!(first(&seen), "-", "that tells nothing of learning");
    // Twice as long all the way.
    for (_, seconds) in &mut seen.arms[2].outcome.sessions[0].course {
        *seconds *= 2.0;
    }
    assert_eq!(first(&seen), format!("not in {missions}"));
    // A session that is too short has no row; where all are, there is no table.
    seen.arms[2].outcome.sessions[0].missions = 1;
    assert_eq!(first_row(&seen)[0], seen.arms[0].outcome.sessions[1].name);
    for session in &mut seen.arms[2].outcome.sessions {
        session.missions = 1;
    }
    let text = render_simulation(&seen);
    assert!(text.contains(crate::report::TOO_SHORT), "{text}");
    assert!(!text.contains("Missions until the rest"), "{text}");
}

#[test]
fn nothing_is_told_where_the_learner_that_is_held_does_as_well() {
    let arms = ["fixed-1", "learned", "learned-frozen"];
    let mut plan = plan("update-only", &arms);
    plan.resources.mission_operations = 2_000;
    let mut seen = run_simulation(&plan, &mut |_| ()).expect("simulated");
    let course = |seconds: &[f64; 10]| -> Vec<(f64, f64)> {
        let end = |part: usize| (10.0 * part as f64, seconds[..part].iter().sum::<f64>());
        (1..=10).map(end).collect()
    };
    let mut slow_at_first = [1.0; 10];
    slow_at_first[..3].fill(1.1);
    let all = [[1.0; 10], slow_at_first, [2.0; 10]];
    for (arm, seconds) in seen.arms.iter_mut().zip(&all) {
        let session = &mut arm.outcome.sessions[0];
        session.operations = 100.0;
        session.course = course(seconds);
        session.seconds = seconds.iter().sum::<f64>();
    }
    let first = |seen: &Simulation| {
        let text = render_simulation(seen);
        let (_, table) = text.split_once("Missions until the rest").expect("a table");
        let row = table.lines().nth(2).expect("the first session");
        single_spaced(row)
    };
    let missions = |seen: &Simulation, arm: usize| seen.arms[arm].outcome.sessions[0].missions;
    let (free, held) = (missions(&seen, 1), missions(&seen, 2));
    let told = format!(" fixed-1 0 of {free} not in {held}");
    assert!(first(&seen).ends_with(&told), "{}", first(&seen));
    seen.arms[2].outcome = seen.arms[0].outcome.clone();
    assert!(first(&seen).ends_with(" fixed-1 - -"), "{}", first(&seen));
}

#[test]
fn a_learner_that_took_no_step_is_told() {
    let arms = ["fixed-1", "learned", "thresholds-30-70"];
    let mut seen = run_simulation(&learning(&arms), &mut |_| ()).expect("simulated");
    let sessions = &seen.arms[1].outcome.sessions;
    assert!(sessions[..5].iter().all(|it| it.steps > 0), "{sessions:?}");
    let cell = format!("{} in {}", sessions[0].steps, sessions[0].missions);
    let text = render_simulation(&seen);
    assert!(!text.contains("took no step in session updates-"), "{text}");
    let (_, table) = text.split_once("Steps of learning").expect("a table");
    let table = table.split("\n\n").next().expect("its end");
    assert!(table.contains(&cell), "{table}");
    assert!(!table.contains("thresholds"), "it does not learn: {table}");
    for at in [0, 2] {
        seen.arms[1].outcome.sessions[at].steps = 0;
    }
    let text = render_simulation(&seen);
    let told = "  ! learned took no step in session updates-10, updates-90";
    assert!(text.contains(told), "{text}");
}

#[test]
fn only_learners_are_run_with_every_seed() {
    let mut plan = learning(&["fixed-1", "learned", "learned-frozen"]);
    (plan.noise, plan.seeds) = (0.1, 3);
    let seen = run_simulation(&plan, &mut |_| ()).expect("simulated");
    let others: Vec<usize> = seen.arms.iter().map(|arm| arm.others.len()).collect();
    assert_eq!(others, [0, 2, 2, 0], "the oracle is the last");
    let text = render_simulation(&seen);
    assert!(text.contains("Learners with 3 seeds of"), "{text}");
    let total = text.lines().find(|line| line.trim().starts_with("total"));
    assert_eq!(total.expect("a row").matches('±').count(), 2, "{text}");
    // Each is what that seed alone gives.
    (plan.seed, plan.seeds) = (3, 1);
    let third = run_simulation(&plan, &mut |_| ()).expect("simulated");
    assert_eq!(third.arms[1].outcome, seen.arms[1].others[1]);
    assert_eq!(third.arms[0], seen.arms[0]);

    plan.seeds = 2;
    for (noise, arms, says) in [
        (0.0, ["learned"], "add noise"),
        (0.1, ["fixed-1"], "add the arm learned"),
    ] {
        plan.noise = noise;
        let arms = arms.iter();
        plan.arms = arms.map(|arm| arm.parse().expect("an arm")).collect();
        let error = run_simulation(&plan, &mut |_| ()).expect_err("all alike");
        let error = error.to_string();
        assert!(
            error.starts_with("seeds: ") && error.contains(says),
            "{error}"
        );
    }
}

#[test]
fn a_learner_may_begin_at_other_limits() {
    let arms = ["learned-from-10", "learned-from-10-frozen"];
    let mut plan = plan("update-only", &arms);
    // No mission ends in so short a load.
    plan.workload = plan.workload.sized(Some(2_000), 1.0).expect("a small one");
    let seen = run_simulation(&plan, &mut |_| ()).expect("simulated");
    for arm in &seen.arms {
        assert_eq!(arm.outcome.held[0].limits.to_string(), "10", "{}", arm.arm);
    }
}

#[test]
fn a_learner_that_is_held_keeps_the_limits_of_the_load() {
    let arms = ["learned", "learned-frozen", "learned-from-4-frozen"];
    let seen = run_simulation(&learning(&arms), &mut |_| ()).expect("simulated");
    let [free, frozen, from_four] = &seen.arms[..3] else {
        panic!("{} arms", seen.arms.len());
    };
    assert!(!free.outcome.decisions.is_empty());
    assert_eq!(free.outcome.held[0], frozen.outcome.held[0], "one load");
    for arm in [frozen, from_four] {
        assert!(arm.chooses_limits && !arm.is_static, "{}", arm.arm);
        let began = &arm.outcome.held[0].limits;
        assert!(arm.outcome.held.iter().all(|it| it.limits == *began));
        assert!(arm.outcome.decisions.is_empty(), "{}", arm.arm);
    }
    assert!(render_simulation(&seen).contains("learned-from-4-frozen"));
}

#[test]
fn only_who_keeps_something_is_reopened() {
    let mut plan = learning(&["learned", "fixed-4", "lerp", "fixed-1"]);
    plan.reopen = true;
    let seen = run_simulation(&plan, &mut |_| ()).expect("simulated");
    let names: Vec<&str> = seen.arms.iter().map(|arm| &*arm.arm).collect();
    let expected = [
        "learned",
        "learned, reopened",
        "fixed-4",
        "lerp",
        "fixed-1",
        "oracle",
    ];
    assert_eq!(names, expected);
    assert_ne!(seen.arms[0].outcome, seen.arms[1].outcome);
    let text = render_simulation(&seen);
    let (_, table) = text
        .split_once("With what an earlier run")
        .expect("a table");
    let table = table.split("\n\n").next().expect("its end");
    assert!(
        table.contains("learned, reopened") && !table.contains("fixed-4"),
        "{table}"
    );
    let total = table.lines().find(|line| line.trim().starts_with("total"));
    assert_eq!(
        total.expect("a row").split_whitespace().count(),
        4,
        "{table}"
    );
    // The oracle follows the static arms, whoever stands between them.
    let fixed = learning(&["fixed-4", "fixed-1"]);
    let fixed = run_simulation(&fixed, &mut |_| ()).expect("simulated");
    assert_eq!(fixed.arms[2], seen.arms[5]);

    plan.reopen = false;
    let once = run_simulation(&plan, &mut |_| ()).expect("simulated");
    assert_eq!(once.arms[0], seen.arms[0], "the first pass knows nothing");
    assert!(!render_simulation(&once).contains("reopened"));
}

#[test]
fn nothing_is_reopened_where_nothing_is_kept() {
    let mut plan = plan("update-only", &["fixed-4", "lerp"]);
    plan.reopen = true;
    let error = run_simulation(&plan, &mut |_| ()).expect_err("no learner");
    assert!(error.to_string().contains("add the arm learned"), "{error}");
}
