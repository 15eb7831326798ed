//! Drawn histories: whatever happens, in whatever order.

use proptest::prelude::*;

use super::steps::{Step, apply, limit, ratio, step, transition};
use super::{FLUSH, flush_scattered, model};
use crate::layout::{LogicalLevel, PhysicalLevel};
use crate::plan::Reason;
use crate::planner::with_limits;
use crate::schedule::{DeepOrder, Level0Order};
use crate::shape::{RunLimit, RunLimits, Shape, Transition};
use crate::state::Drain;
use crate::testing::{Model, small_shape};

/// The default number of cases, unless the environment asks for another.
#[expect(clippy::disallowed_methods, reason = "it is the tests that ask")]
pub(super) fn cases(default: u32) -> u32 {
    std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

proptest! {
    // Longer: PROPTEST_CASES=5000 cargo test --release -p lissom-core
    #![proptest_config(ProptestConfig { cases: cases(48), ..ProptestConfig::default() })]

    /// Whatever happens, in whatever order: reads stay right, newer versions
    /// stay above older ones, and every plan passes the gate (both are asserted
    /// by the model).
    #[test]
    fn no_history_loses_or_reorders_data(
        steps in prop::collection::vec(step(), 1..300),
        limit in limit(),
        ratio in ratio(),
        transition in transition(),
        bounded in any::<bool>(),
        dynamic in any::<bool>(),
    ) {
        let mut shape = small_shape();
        shape.size_ratio = ratio;
        shape.level_compaction_dynamic_level_bytes = dynamic;
        shape.transition = transition;
        if bounded {
            shape.max_space_amplification = 2.0;
        }
        let mut model = Model::new(shape, RunLimits::uniform(RunLimit::clamped(limit)));
        for step in &steps {
            apply(&mut model, step);
            if matches!(step, Step::Brake | Step::Forget | Step::Crash) {
                model.check();
            }
        }
        model.unreadable.clear();
        apply(&mut model, &Step::Durable(true));
        apply(&mut model, &Step::Order(Level0Order::Merge, DeepOrder::All));
        while !model.running.is_empty() {
            model.finish(0);
        }
        model.settle(2_000);
        model.check();
        let trigger = model.shape.level0_file_num_compaction_trigger as usize;
        prop_assert!(model.tree().level0().len() < trigger);
        prop_assert!(model.tree().files(PhysicalLevel::LANDING).is_empty());
        prop_assert!(model.state.drains.is_empty());
        if bounded {
            let tree = model.tree();
            let oldest = tree.runs().next_back().map_or(0, |run| tree.bytes(run));
            let most = 2 * oldest + model.shape.level0_bytes();
            prop_assert!(tree.total_bytes() <= most, "{:?}", tree);
        }
    }

    /// Under every transition pinned limits stay, whatever is drained, emptied or asked
    /// for meanwhile. A crash may bring back those of before.
    #[test]
    fn pinned_limits_stay(
        before in prop::collection::vec(step(), 1..150),
        meanwhile in prop::collection::vec(step(), 1..150),
        limit in limit(),
        transition in transition(),
    ) {
        let mut shape = small_shape();
        shape.transition = transition;
        let mut model = Model::new(shape, RunLimits::uniform(RunLimit::clamped(limit)));
        for step in &before {
            apply(&mut model, step);
        }
        model.pinned = true;
        let held = model.state.limits.clone();
        let holds = |step: &&Step| !matches!(step, Step::Pin(_) | Step::Crash);
        for step in meanwhile.iter().filter(holds) {
            apply(&mut model, step);
            prop_assert_eq!(&model.state.limits, &held, "{:?}", step);
        }
        model.check();
    }

    /// Under the lazy transition only a level with runs may keep an old limit, and limits
    /// wait no longer than one does.
    #[test]
    fn lazy_limits_wait_for_runs_alone(
        steps in prop::collection::vec(step(), 1..300),
        limit in limit(),
    ) {
        let mut shape = small_shape();
        shape.transition = Transition::Lazy;
        let mut model = Model::new(shape, RunLimits::uniform(RunLimit::clamped(limit)));
        let waits = |step: &&Step| !matches!(step, Step::Pin(_) | Step::Crash);
        for step in steps.iter().filter(waits) {
            apply(&mut model, step);
            // What is looked at before a plan is the tree of another moment.
            model.plan();
            let state = &model.state;
            let wanted = state.wanted_limits();
            let keeps = |level: &LogicalLevel| state.limits.get(*level) != wanted.get(*level);
            let keeping: Vec<_> = model.shape.layout.logical_levels().filter(keeps).collect();
            for level in &keeping {
                prop_assert!(!model.runs(level.0).is_empty(), "{}: {:?}", level, state);
            }
            prop_assert_eq!(state.waiting.is_some(), !keeping.is_empty(), "{:?}", state);
            prop_assert_eq!(state.limits.deeper, wanted.deeper);
        }
        model.check();
    }

    /// A consolidation may be given up after any of its pieces: reads stay right, no piece
    /// begins after it, and what is left is a tree like any other.
    #[test]
    fn a_consolidation_ends_after_any_piece(
        flushes in 60u32..300,
        level in 1u16..3,
        limit in 2u16..11,
        pieces in 0usize..12,
        writes_on in any::<bool>(),
    ) {
        let mut model = model(limit);
        for at in 0..flushes {
            flush_scattered(&mut model, at, 10_000);
            model.settle(1_000);
        }
        model.state.consolidate = vec![LogicalLevel(level)];
        model.plan();
        for _ in 0..pieces {
            model.finish(0);
            model.plan();
        }
        model.state.consolidate.clear();
        model.state.abandon = vec![LogicalLevel(level)];
        let is_merge = |drain: &Drain| matches!(drain.reason, Reason::Consolidate { .. });
        let kept = model.running.clone();
        model.plan();
        let begun = model.running.iter().filter(|plan| !kept.contains(plan));
        let on = begun.filter(|plan| matches!(plan.reason, Reason::Consolidate { .. }));
        prop_assert_eq!(on.count(), 0);
        while !model.running.is_empty() {
            model.finish(0);
        }
        model.check();
        model.plan();
        prop_assert!(!model.state.drains.iter().any(is_merge), "{:?}", model.state.drains);
        prop_assert!(model.state.abandon.is_empty());
        let more = if writes_on { 100 } else { 0 };
        for at in 0..more {
            flush_scattered(&mut model, flushes + at, 10_000);
            model.plan();
            model.finish(0);
        }
        model.settle(2_000);
        model.check();
        prop_assert!(model.state.drains.is_empty());
    }

    /// Any legal manifest has an admissible plan while L0 is over its trigger, and comes to
    /// rest: with no memory of how it came about, or with that of another tree.
    #[test]
    fn any_manifest_over_its_trigger_has_a_plan(
        runs in prop::collection::vec((1u16..194, 0u32..300, 1u32..20, 1u32..120), 0..30),
        limits in prop::collection::vec(limit(), 4),
        (ratio, dynamic) in (ratio(), any::<bool>()),
        level0 in 4usize..12,
        strange in prop::option::of((1u32..120, limit())),
    ) {
        let shape = Shape {
            size_ratio: ratio,
            level_compaction_dynamic_level_bytes: dynamic,
            ..small_shape()
        };
        let mut wanted = RunLimits::uniform(RunLimit::clamped(limits[0]));
        for (level, limit) in (2..).zip(&limits[1..]) {
            wanted.set(LogicalLevel(level), RunLimit::clamped(*limit));
        }
        let mut model = Model::new(shape.clone(), wanted.clone());
        let mut deepest_first = runs;
        deepest_first.sort_by_key(|(level, ..)| std::cmp::Reverse(*level));
        for (level, at, by, count) in deepest_first {
            model.place(PhysicalLevel(level), (0..count).map(|n| at + n * by));
        }
        for at in 0..level0 {
            model.flush((0..FLUSH).map(|n| (at as u32 * 3 + n * 7, false)));
        }
        if let Some((flushes, limit)) = strange {
            let limits = RunLimits::uniform(RunLimit::clamped(limit));
            let mut other = Model::new(shape, limits);
            for at in 0..flushes {
                flush_scattered(&mut other, at, 10_000);
                other.plan();
                other.finish(0);
            }
            model.state = with_limits(&other.observation(), wanted);
        }
        for _ in 0..3 {
            let planned = model.plan();
            prop_assert!(planned > 0 || !model.running.is_empty(), "no plan: {:?}", model.tree());
            while !model.running.is_empty() {
                model.finish(0);
            }
            if model.tree().level0().len() < 4 {
                break;
            }
        }
        model.settle(2_000);
        model.check();
    }
}
