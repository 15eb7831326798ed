//! The aim: within 5 % of the best static arm inside thirty missions of a change.

use std::iter::once;

use lissom_sim::SessionOutcome;

use super::*;

/// Missions inside which a learner is to be near.
const MISSIONS: usize = 30;

/// Where learners begin: as they come, at one run a level, and far off.
const LEARNERS: [&str; 2] = ["learned", "learned-from-10"];

const STATIC: [&str; 4] = ["fixed-1", "fixed-4", "fixed-10", "lazy-leveling"];

/// The shipped sessions at full size, each long enough to tell who was near and since when.
fn sessions_of_many_missions() -> SimulationPlan {
    let workload = load_workload("five-sessions")
        .and_then(|workload| workload.sized(None, 2.0))
        .expect("a workload");
    SimulationPlan {
        workload,
        resources: Resources::default(),
        noise: 0.05,
        seeds: 3,
        oracle: None,
        ..plan("five-sessions", &[&LEARNERS[..], &STATIC[..]].concat())
    }
}

/// What the fastest static arm of a session made of it.
fn best_of(seen: &Simulation, at: usize) -> (&str, &SessionOutcome) {
    let fixed = seen.arms.iter().filter(|arm| arm.is_static);
    let sessions = fixed.map(|arm| (&*arm.arm, &arm.outcome.sessions[at]));
    sessions
        .min_by(|a, b| a.1.seconds.total_cmp(&b.1.seconds))
        .expect("static arms")
}

#[test]
#[ignore = "simulates a hundred million operations"]
fn thirty_missions_after_a_change_a_learner_is_near_the_best_static_arm() {
    let seen = run_simulation(&sessions_of_many_missions(), &mut |_| ()).expect("simulated");
    let mut late = Vec::new();
    let mut judged = 0;
    for arm in seen.arms.iter().filter(|arm| arm.learns) {
        let outcomes = once(&arm.outcome).chain(&arm.others);
        for (seed, outcome) in outcomes.enumerate() {
            for (at, session) in outcome.sessions.iter().enumerate() {
                // The closing one has fewer missions than it may take.
                if session.name == CLOSING_SESSION {
                    continue;
                }
                assert!(session.missions as usize > MISSIONS + 10, "{session:?}");
                let (best, other) = best_of(&seen, at);
                let until = learning::missions_until(session, other);
                judged += 1;
                if until.is_none_or(|until| until > MISSIONS) {
                    late.push(format!(
                        "{}, seed {seed}, {} against {best}: {until:?} of {}",
                        arm.arm, session.name, session.missions
                    ));
                }
            }
        }
    }
    assert_eq!(judged, 2 * 3 * 5);
    assert!(late.is_empty(), "not near in time: {late:#?}");
}
