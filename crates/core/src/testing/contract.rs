//! What every tuner and every schedule promises. A plug-in calls these from its
//! own tests.

use std::time::Duration;

use crate::layout::LogicalLevel;
use crate::observation::{Latency, Mission, OperationMix};
use crate::plan::Plan;
use crate::schedule::Schedule;
use crate::shape::{RunLimit, RunLimits};
use crate::testing::{Model, numbered_files, small_shape};
use crate::tree::Tree;
use crate::tuner::{Question, Tuner};

/// A microsecond each.
fn latency(count: u64) -> Latency {
    Latency {
        count,
        mean: Duration::from_micros(u64::from(count > 0)),
        ..Latency::default()
    }
}

/// Missions that a tuner must take: empty, all reads, all writes, absurd.
fn missions() -> Vec<Mission> {
    let with = |gets_found, writes| Mission {
        operations: OperationMix {
            gets_found,
            writes,
            ..OperationMix::default()
        },
        user_write_bytes: writes.saturating_mul(1000),
        get: latency(gets_found),
        put: latency(writes),
        duration: Duration::from_secs(1),
        ..Mission::default()
    };
    let mut missions = vec![
        Mission::default(),
        with(50_000, 0),
        with(0, 50_000),
        with(25_000, 25_000),
        with(u64::MAX / 4, u64::MAX / 4),
    ];
    for (at, mission) in missions.iter_mut().enumerate() {
        mission.number = at as u64 + 1;
    }
    missions
}

fn tree_of_two_levels() -> Tree {
    let layout = small_shape().layout;
    let mut levels = Vec::new();
    for level in [1, 2] {
        let (_, last) = layout.span(LogicalLevel(level));
        levels.resize(usize::from(last.0), Vec::new());
        levels.push(numbered_files(100 * u64::from(level)));
    }
    Tree::new(levels).unwrap_or_default()
}

/// Checks a tuner: it answers every mission with legal limits and a reason for
/// each change, never uses a trial's id twice, decides alike from alike, and
/// takes its own state back.
///
/// # Panics
/// When the tuner breaks its contract.
pub fn tuner_contract(make: impl Fn() -> Box<dyn Tuner>) {
    let (mut one, mut other) = (make(), make());
    assert!(!one.name().is_empty());
    let shape = small_shape();
    let trees = [Tree::default(), tree_of_two_levels()];
    let mut limits = RunLimits::uniform(RunLimit::clamped(3));
    let mut ids = std::collections::BTreeSet::new();
    for round in 0..40 {
        let tree = &trees[round / 20];
        for mission in missions() {
            let question = Question {
                shape: &shape,
                tree,
                limits: &limits,
                mission: &mission,
            };
            let trial = one.ask(&question);
            assert_eq!(trial, other.ask(&question), "alike from alike");
            assert!(ids.insert(trial.id), "{:?} was used twice", trial.id);
            for level in shape.layout.logical_levels() {
                let explained = trial.changes.iter().any(|change| change.level == level);
                let changed = trial.limits.get(level) != limits.get(level);
                let first = trial.id == *ids.first().unwrap_or(&trial.id);
                assert!(
                    explained || !changed || first,
                    "{level} changed without a reason"
                );
            }
            let reasons = trial.changes.iter().chain(&trial.consolidate);
            assert!(
                reasons.into_iter().all(|it| !it.why.is_empty()),
                "{trial:?}"
            );
            one.tell(trial.id, &mission);
            other.tell(trial.id, &mission);
            limits = trial.limits;
        }
    }
    let state = one.state();
    make()
        .restore(&state)
        .unwrap_or_else(|error| panic!("a tuner takes its own state back: {error}"));
}

/// Checks a schedule: it admits only what was proposed, in that order, never
/// more than there are free workers, and in the end everything.
///
/// # Panics
/// When the schedule breaks its contract.
pub fn schedule_contract(make: impl Fn() -> Box<dyn Schedule>) {
    let mut schedule = make();
    assert!(!schedule.name().is_empty());
    let mut model = Model::new(small_shape(), RunLimits::uniform(RunLimit::ONE));
    for _ in 0..4 {
        model.flush((0..10).map(|key| (key, false)));
    }
    let seen = model.observation();
    let plans = crate::planner::plan(&seen).plans;
    assert!(!plans.is_empty());
    let admitted = schedule.admit(&seen, plans.clone());
    let known = |plan: &Plan| plans.contains(plan);
    assert!(admitted.iter().all(known) && admitted.len() <= seen.workers);
    let ever = (0..1_000).any(|_| !schedule.admit(&seen, plans.clone()).is_empty());
    assert!(ever, "a schedule may delay, not refuse for ever");
    let mut busy = seen.clone();
    busy.workers = 0;
    assert!(schedule.admit(&busy, plans).is_empty());
    assert!(seen.shape.capacity(LogicalLevel(1)) > 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Eager;
    use crate::tuner::Policy;

    #[test]
    fn every_policy_keeps_the_contract() {
        for name in [
            "fixed-3",
            "lazy-leveling",
            "thresholds-20-80",
            "learned",
            "lerp",
            "lerp-monkey",
        ] {
            let policy: Policy = name.parse().expect(name);
            tuner_contract(|| policy.tuner());
        }
    }

    #[test]
    fn eager_keeps_the_contract() {
        schedule_contract(|| Box::new(Eager));
    }
}
