//! What every tuner and every schedule promises. A plug-in calls these from its
//! own tests.

use std::time::Duration;

use crate::layout::LogicalLevel;
use crate::observation::{Latency, Mission, OperationMix};
use crate::schedule::{Conditions, Debt, DebtBounds, Load, Order, Schedule, Seen};
use crate::shape::{RunLimit, RunLimits};
use crate::testing::{ENTRY_BYTES, Model, numbered_files, small_shape};
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

/// Longer than anything takes.
fn slow(count: u64) -> Latency {
    Latency {
        mean: Duration::MAX,
        ..latency(count)
    }
}

/// Missions that a tuner must take: empty, all reads, all writes, absurd, and such as a
/// clock makes that jumps.
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
        Mission {
            duration: Duration::ZERO,
            ..with(25_000, 25_000)
        },
        Mission {
            duration: Duration::MAX,
            stall: Duration::MAX,
            tuner_time: Duration::MAX,
            ..with(25_000, 25_000)
        },
        Mission {
            duration: Duration::from_nanos(1),
            stall: Duration::from_secs(1 << 40),
            get: slow(25_000),
            put: slow(25_000),
            ..with(25_000, 25_000)
        },
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
            let merges = trial.consolidate.iter().chain(&trial.abandon);
            let reasons = trial.changes.iter().chain(merges);
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

/// Checks a schedule: equal intervals give equal orders, each with a reason; the
/// processors' load changes none unless it asks for it; its state is taken back; and
/// under the [bounds on debt](Debt::bounded) it lets L0 go in the end, whatever the
/// load, and the tree never comes to a stop.
///
/// # Panics
/// When the schedule breaks its contract.
pub fn schedule_contract(make: impl Fn(&DebtBounds) -> Box<dyn Schedule>) {
    for max_delayed_bytes in [8 * FLUSH_BYTES, u64::MAX] {
        let bounds = DebtBounds {
            max_level0_files: 12,
            max_delayed_bytes,
        };
        let (mut one, mut other) = (make(&bounds), make(&bounds));
        assert!(!one.name().is_empty() && one.interval() > Duration::ZERO);
        let blind = !one.needs_processors();
        let mut model = Model::new(small_shape(), RunLimits::uniform(RunLimit::ONE));
        for at in 0..600u64 {
            // Keys all over, so that levels fill and drain.
            model.flush((0..10).map(|key| (((at * 379 + key * 131) % 4_000) as u32, false)));
            let debt = Debt::of_level0(&model.tree());
            assert!(debt.level0_files <= bounds.max_level0_files + 1, "{debt:?}");
            assert!(debt.level0_bytes <= max_delayed_bytes.saturating_add(FLUSH_BYTES));
            let seen = interval(at, debt);
            let order = debt.bounded(&bounds, one.order(&seen));
            let mut again = seen;
            if blind {
                again.load.user_cpu = None;
            }
            assert_eq!(order, debt.bounded(&bounds, other.order(&again)));
            assert!(!order.why.is_empty());
            obey(&mut model, order);
        }
        model.check();
        let state = one.state();
        make(&bounds)
            .restore(&state)
            .unwrap_or_else(|error| panic!("a schedule takes its own state back: {error}"));
    }
}

/// Bytes of a memtable of ten keys.
const FLUSH_BYTES: u64 = 10 * ENTRY_BYTES;

/// A load that is high in four intervals of five, then without end, with numbers that
/// cannot be among them.
fn interval(at: u64, debt: Debt) -> Seen {
    let high = at % 50 >= 10 || at > 300;
    Seen {
        load: Load {
            at: Duration::from_secs(at),
            time_of_day: Duration::from_secs(at * 997 % 86_400),
            interval: Duration::from_secs(u64::from(!at.is_multiple_of(17))),
            gets: if high { 10_000_000 } else { 1 },
            cached_bytes: if high { 1 << 40 } else { 0 },
            user_cpu: (!at.is_multiple_of(3)).then_some(if high { f64::NAN } else { 0.1 }),
            ..Load::default()
        },
        conditions: Conditions::default(),
        debt,
    }
}

/// Plans and carries out what an order lets, until that is nothing.
fn obey(model: &mut Model, order: Order) {
    model.order = order;
    for _ in 0..100 {
        if model.plan() == 0 {
            return;
        }
        while !model.running.is_empty() {
            model.finish(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::ScheduleKind;
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
            "lerp-without-propagation",
            "lerp-without-pull",
            "learned-from-4-without-levels+prior+guardrails+consolidation+trials+memory",
            "learned-without-windows+spread+haste+foresight+hedge+blame",
        ] {
            let policy: Policy = name.parse().expect(name);
            tuner_contract(|| policy.tuner());
        }
    }

    #[test]
    fn every_schedule_keeps_the_contract() {
        for kind in ScheduleKind::every() {
            schedule_contract(|bounds| kind.schedule(bounds));
        }
    }
}
