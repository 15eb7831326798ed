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

/// Scans, which pay for every run, and so few updates that level 1 takes long to fill: reads pay
/// for a rewrite of the deepest level each time that a little has come in above it.
fn mostly_scans(bound: Option<f64>) -> Scenario {
    let mix = Mix {
        scan: 0.98,
        update: 0.02,
        ..Mix::default()
    };
    let mut scenario = learned(vec![session("mostly scans", 3_000_000, mix)]);
    scenario.store.shape.write_buffer_size = 16 << 10;
    scenario.allowance.max_write_amplification = bound;
    scenario
}

/// What may be written over the bound, for each byte of the users': what the load has saved up, a
/// rewrite of the tree and a little of what lies above its deepest level, and what limits ask for at
/// once after the last merge has begun, at most one more.
fn slack(scenario: &Scenario, seen: &Outcome) -> f64 {
    let session = &seen.sessions[0];
    let data = scenario.entries as f64 * scenario.store.entry_bytes;
    let rewrites = 1.25 + 1.0;
    rewrites * seen.peak_space * data / session.user_bytes
}

#[test]
fn what_is_written_for_reads_is_bounded_where_most_operations_read() {
    let [none, free] = [Some(0.0), None].map(|bound| run(&mostly_scans(bound)));
    let least = none.write_amplification();
    let bound = f64::midpoint(least, free.write_amplification());
    let scenario = mostly_scans(Some(bound));
    let some = run(&scenario);
    let most = bound + slack(&scenario, &some);
    let [written, unbounded] = [&some, &free].map(Outcome::write_amplification);
    assert!(unbounded > most, "{unbounded}, and {most} under {bound}");
    assert!(written <= most, "{written} under {bound}, at most {most}");
    assert!(written > least, "{written}, without merges {least}");
    assert_eq!([&none, &some, &free].map(waits), [true, true, false]);
}

/// Whether a merge waited for what it would write.
fn waits(seen: &Outcome) -> bool {
    let mut why = seen.decisions.iter().flat_map(|it| &it.why);
    why.any(|why| why.contains("max_write_amplification"))
}
