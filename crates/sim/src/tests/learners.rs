//! Learners that are held, and learners that have kept something.

use super::*;

fn learned(sessions: Vec<Session>) -> Scenario {
    scenario("learned".parse().expect("a policy"), sessions)
}

fn reads_and_writes() -> Vec<Session> {
    vec![
        session("r", 60_000, reads()),
        session("u", 400_000, updates()),
        session("again", 60_000, reads()),
    ]
}

#[test]
fn limits_that_are_held_are_those_of_the_load() {
    let free = run(&learned(reads_and_writes()));
    assert!(free.decisions.iter().any(|it| it.session == 1), "{free:?}");
    let frozen = Scenario {
        frozen: true,
        ..learned(reads_and_writes())
    };
    let held = run(&frozen);
    let began = &held.held[0].limits;
    assert_eq!(*began, free.held[0].limits, "the load is the same");
    assert!(held.held.iter().all(|it| it.limits == *began));
    assert!(
        held.sessions
            .iter()
            .all(|it| it.limits == began.to_string())
    );
    assert!(held.decisions.is_empty());
    assert!(held.missions > 0, "it is asked all the same");
}

/// `learned` takes a step with each mission that its model takes up.
#[test]
fn sessions_tell_the_steps_of_learning() {
    let steps = |policy: &str, frozen: bool| {
        let policy = policy.parse().expect("a policy");
        let scenario = Scenario {
            frozen,
            ..scenario(policy, reads_and_writes())
        };
        let sessions = run(&scenario).sessions.into_iter();
        let counts = sessions.map(|it| (it.steps, it.missions));
        counts.collect::<Vec<(u64, u64)>>()
    };
    for frozen in [false, true] {
        let of_learned = steps("learned", frozen);
        for (steps, missions) in &of_learned {
            assert!((1..=*missions).contains(steps), "{of_learned:?}");
        }
    }
    let of_constant = steps("fixed-4", false);
    assert!(of_constant.iter().all(|it| it.0 == 0 && it.1 > 0));
}

#[test]
fn the_limits_over_time_are_those_that_were_decided() {
    let seen = run(&learned(reads_and_writes()));
    for (at, session) in seen.sessions.iter().enumerate() {
        let own: Vec<_> = seen.held.iter().filter(|it| it.session == at).collect();
        assert_eq!(own[0].operations, 0.0, "a session begins with its limits");
        let last = own.last().expect("limits");
        assert_eq!(last.limits.to_string(), session.limits);
        assert!(last.operations <= session.operations && session.levels > 0);
        // What is only merged changes no limits.
        let decided = seen.decisions.iter().filter(|it| it.session == at);
        let decided: Vec<_> = decided.map(|it| (it.at, it.limits.clone())).collect();
        for change in &own[1..] {
            let known = (change.at, change.limits.to_string());
            assert!(decided.contains(&known), "{known:?} of {decided:?}");
        }
        assert_eq!(own.len() - 1, seen.changes(at).0, "{}", session.name);
    }
    let times = seen.held.iter().map(|it| it.at);
    assert!(times.is_sorted());
}

#[test]
fn lerp_propagates_by_the_filters_of_the_store() {
    let outcome = |policy: &str| {
        let policy = policy.parse().expect("a policy");
        let mut scenario = scenario(policy, reads_and_writes());
        scenario.store.filters = FilterAllocation::Monkey;
        run(&scenario)
    };
    let seen = outcome("lerp");
    assert!(!seen.decisions.is_empty());
    assert_eq!(seen, outcome("lerp-monkey"));
}

#[test]
fn who_kept_something_begins_with_it() {
    let scenario = learned(reads_and_writes());
    let [first, second] = simulate_reopened(&scenario).expect("writes go on");
    assert_eq!(first, run(&scenario), "the first knows nothing");
    assert_ne!(first, second);
    // A constant and RusKey's learner keep nothing, so that both times are one.
    for policy in ["fixed-4", "lerp"] {
        let policy = policy.parse().expect("a policy");
        let scenario = super::scenario(policy, reads_and_writes());
        let [first, second] = simulate_reopened(&scenario).expect("writes go on");
        assert_eq!(first, second);
    }
}

/// What the load and the tree have brought may be written on top, which is less than three bytes
/// for each of these users'; and a merge that has begun, less than one.
#[test]
fn what_is_written_for_reads_is_bounded_where_most_operations_read() {
    let mix = Mix {
        get_present: 0.9,
        update: 0.1,
        ..Mix::default()
    };
    let written = |bound: Option<f64>| {
        let mut scenario = learned(vec![session("mostly reads", 1_000_000, mix)]);
        scenario.allowance.max_write_amplification = bound;
        run(&scenario).write_amplification()
    };
    let [least, some, free] = [Some(0.0), Some(10.0), None].map(written);
    assert!(some <= 1.1 * least.max(10.0 + 4.0), "{some} beside {least}");
    assert!(least <= 1.1 * free, "{least} beside {free}");
}
