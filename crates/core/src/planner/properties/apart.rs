//! L0 merged by itself: it costs no more than it must, goes on for ever, and leaves no other
//! tree behind.

use proptest::prelude::*;

use super::histories::cases;
use super::steps::{limit, ratio};
use super::{flush_scattered, model};
use crate::layout::LogicalLevel;
use crate::plan::PlanKind;
use crate::planner::{in_flight, plan, with_limits};
use crate::schedule::{DeepOrder, Level0Order};
use crate::shape::{RunLimit, RunLimits, Shape};
use crate::testing::drawing::parse;
use crate::testing::{Model, small_shape};

/// Bytes that merges write while level 1 takes in seven inflows of the ten that it holds, with
/// a limit of one run.
fn written(order: Level0Order) -> u64 {
    let mut model = model(1);
    model.order.level0 = order;
    for at in 0..28 {
        flush_scattered(&mut model, at, 100_000);
        model.settle(1_000);
    }
    model.check();
    model.written_bytes
}

/// While there are slots nothing is rewritten but what was flushed.
#[test]
fn merging_level_0_by_itself_writes_each_byte_once() {
    let (apart, merged) = (
        written(Level0Order::MergeApart),
        written(Level0Order::Merge),
    );
    // 28 memtables of 100 bytes; keys that come twice are written once.
    assert!((2_500..=2_800).contains(&apart), "{apart}");
    assert!(merged > 2 * apart, "{merged} {apart}");
}

/// Runs of level 1 after seven merges of L0 by themselves, and once it is merged as usual: with
/// more of it, or without.
fn folded(limit: u16, then: u32) -> [usize; 2] {
    let mut model = model(limit);
    for at in 0..4 {
        flush_scattered(&mut model, at, 100_000);
        model.settle(1_000);
    }
    model.order.level0 = Level0Order::MergeApart;
    for at in 4..24 {
        flush_scattered(&mut model, at, 100_000);
        model.settle(1_000);
    }
    let apart = model.runs(1).len();
    model.order.level0 = Level0Order::Merge;
    for at in 24..24 + then {
        flush_scattered(&mut model, at, 100_000);
    }
    model.settle(1_000);
    model.check();
    assert!(model.state.set_apart.is_empty());
    [apart, model.runs(1).len()]
}

/// The tree comes back to its run limit at once, also where nothing is flushed any more.
#[test]
fn what_was_set_apart_goes_back_once_level_0_is_merged_as_usual() {
    for then in [0, 1, 5] {
        assert_eq!(folded(1, then), [6, 1], "{then}");
        assert_eq!(folded(4, then), [6, 4], "{then}");
        assert_eq!(folded(8, then)[0], 6, "{then}");
    }
}

/// Another merge may rewrite the run below them.
#[test]
fn what_was_set_apart_goes_back_into_a_run_that_has_other_files_by_now() {
    let mut model = model(1);
    for at in 0..12 {
        model.order.level0 = if at < 4 {
            Level0Order::Merge
        } else {
            Level0Order::MergeApart
        };
        flush_scattered(&mut model, at, 100_000);
        model.settle(1_000);
    }
    let runs = model.tree().runs_of(&model.shape.layout, LogicalLevel(1));
    assert_eq!(runs.len(), 3);
    model.place(runs[2], []);
    model.order.level0 = Level0Order::Merge;
    model.settle(1_000);
    model.check();
    assert_eq!(model.runs(1).len(), 1);
    assert!(model.state.set_apart.is_empty());
}

/// Or take it down altogether, and one of them moves on meanwhile.
#[test]
fn runs_that_were_set_apart_are_known_by_where_they_lie() {
    let mut seen = parse("1.12: 0-40:4 \n 1.13: 0-40:4").expect("a drawing");
    assert!(plan(&seen).plans.is_empty(), "a lowered limit");
    let runs: Vec<_> = seen.tree.runs().collect();
    seen.state.set_apart = runs.iter().copied().collect();
    let planned = plan(&seen);
    assert_eq!(planned.plans.len(), 1);
    let merge = &planned.plans[0];
    assert_eq!((merge.top(), merge.output), (runs[0], runs[1]));
    seen.in_flight = vec![in_flight(merge)];
    seen.state = planned.state;
    assert_eq!(plan(&seen).state.set_apart.len(), 2, "it may fail yet");

    let mut seen = parse("1.1: 0-40:4 \n 1.15: 0-40:4").expect("a drawing");
    let runs: Vec<_> = seen.tree.runs().collect();
    seen.state.set_apart = runs[..1].iter().copied().collect();
    seen.level0 = Level0Order::Wait;
    let planned = plan(&seen);
    let [moved] = &planned.plans[..] else {
        panic!("{:?}", planned.plans);
    };
    assert_eq!((moved.kind, moved.top()), (PlanKind::Move, runs[0]));
    let places = [runs[0], moved.output].into_iter().collect();
    assert_eq!(planned.state.set_apart, places);
}

/// While the load stays high they are left alone, whether L0 waits or not.
#[test]
fn what_was_set_apart_stays_while_level_0_waits() {
    let mut model = model(1);
    for at in 0..28 {
        model.order.level0 = match at / 4 % 2 {
            0 => Level0Order::MergeApart,
            _ => Level0Order::Wait,
        };
        flush_scattered(&mut model, at, 100_000);
        model.settle(1_000);
    }
    let runs = model.runs(1).len();
    assert_eq!(runs, 4, "{:?}", model.tree());
    model.order.level0 = Level0Order::Merge;
    model.settle(1_000);
    assert_eq!(model.runs(1).len(), 1);
    model.check();
}

/// At its bound L0 is merged under any load: what was set apart waits until that has fallen.
#[test]
fn what_was_set_apart_stays_while_level_0_is_at_its_bound() {
    let mut model = model(1);
    model.order.level0 = Level0Order::MergeApart;
    for at in 0..12 {
        flush_scattered(&mut model, at, 100_000);
        model.settle(1_000);
    }
    let runs = model.runs(1).len();
    assert!(runs > 1);
    (model.order.level0, model.order.at_bound) = (Level0Order::Merge, true);
    for at in 12..16 {
        flush_scattered(&mut model, at, 100_000);
    }
    model.settle(1_000);
    assert_eq!(
        (model.tree().level0().len(), model.runs(1).len()),
        (0, runs)
    );
    model.order.at_bound = false;
    model.settle(1_000);
    model.check();
    assert_eq!(model.runs(1).len(), 1);
}

/// A drain that ends early gives back runs that are still too many.
#[test]
fn runs_that_were_set_apart_are_known_while_they_are_drained() {
    let mut seen = parse("1.12: 0-40:4 \n 1.13: 0-40:4 \n 1.14: 0-40:4").expect("a drawing");
    let runs: Vec<_> = seen.tree.runs().collect();
    seen.state.set_apart = runs[..2].iter().copied().collect();
    seen.state.consolidate = vec![LogicalLevel(1)];
    let planned = plan(&seen);
    assert_eq!(planned.state.drains.len(), 1, "{:?}", planned.plans);
    assert_eq!(planned.state.set_apart, seen.state.set_apart);
    seen.state = planned.state;
    seen.state.consolidate.clear();
    seen.state.abandon = vec![LogicalLevel(1)];
    let planned = plan(&seen);
    let [merge] = &planned.plans[..] else {
        panic!("{:?}", planned.plans);
    };
    assert_eq!((merge.top(), merge.output), (runs[0], runs[2]));
}

/// While L0 is long it is merged by itself first: together with all that was set apart it would
/// keep its files the longer.
#[test]
fn a_long_level_0_is_merged_before_what_was_set_apart_goes_back() {
    let after = |files: u32| {
        let mut model = model(1);
        model.order.level0 = Level0Order::MergeApart;
        for at in 0..12 {
            flush_scattered(&mut model, at, 100_000);
            model.settle(1_000);
        }
        model.order.level0 = Level0Order::Wait;
        for at in 12..12 + files {
            flush_scattered(&mut model, at, 100_000);
        }
        let runs = model.runs(1).len();
        model.order.level0 = Level0Order::Merge;
        model.plan();
        let merged = model.running.iter().map(|plan| plan.inputs.len()).max();
        model.settle(1_000);
        model.check();
        assert_eq!(model.runs(1).len(), 1, "in the end");
        (runs, merged)
    };
    // L0 and the runs that a merge takes.
    assert_eq!(after(11), (3, Some(4)));
    assert_eq!(after(12), (3, Some(2)));
}

/// A limit that is lowered rewrites nothing: only what was set apart meanwhile goes back.
#[test]
fn runs_over_a_lowered_limit_stay() {
    let mut model = model(8);
    for at in 0..18 {
        flush_scattered(&mut model, at, 100_000);
        model.settle(1_000);
    }
    let before = model.runs(1);
    model.order.level0 = Level0Order::MergeApart;
    model.state = with_limits(&model.observation(), RunLimits::uniform(RunLimit::ONE));
    for at in 18..28 {
        flush_scattered(&mut model, at, 100_000);
        model.settle(1_000);
    }
    assert!(model.runs(1).len() > before.len(), "{:?}", model.runs(1));
    model.order.level0 = Level0Order::Merge;
    model.settle(1_000);
    let after = model.runs(1);
    assert_eq!(after.len(), before.len(), "{before:?} {after:?}");
    assert_eq!(after[1..], before[1..], "older runs are not rewritten");
    model.check();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(24), ..ProptestConfig::default() })]

    /// Slots get few long before a level is full where the ratio is high. L0 is merged
    /// whenever it is due all the same, under an order that never changes.
    #[test]
    fn merging_level_0_by_itself_never_comes_to_a_stop(
        limit in limit(),
        ratio in ratio(),
        paced in any::<bool>(),
    ) {
        let shape = Shape { size_ratio: ratio, ..small_shape() };
        let trigger = shape.level0_file_num_compaction_trigger as usize;
        let mut model = Model::new(shape, RunLimits::uniform(RunLimit::clamped(limit)));
        model.order.level0 = Level0Order::MergeApart;
        model.order.deep = if paced { DeepOrder::Paced } else { DeepOrder::All };
        for at in 0..200 {
            flush_scattered(&mut model, at, 100_000);
            model.settle(1_000);
            let files = model.tree().level0().len();
            prop_assert!(files < trigger, "{} files after {} flushes", files, at + 1);
        }
        model.check();
    }

    /// Whatever the orders were, and whether merges ended late or failed: merged as usual, L0
    /// leaves one run in level 1 where the limit is one. Where it is more, runs that were set
    /// apart may stay small, and then there are more of them until the level is full.
    #[test]
    fn no_order_leaves_more_runs_than_the_limit(
        orders in prop::collection::vec((0u32..3, 1u32..12, any::<bool>(), any::<bool>()), 1..30),
        limit in prop_oneof![Just(1), limit()],
        ratio in 2u32..13,
    ) {
        let shape = Shape { size_ratio: ratio, ..small_shape() };
        let mut model = Model::new(shape, RunLimits::uniform(RunLimit::clamped(limit)));
        let mut at = 0;
        for (order, flushes, late, fails) in orders {
            model.order.level0 = match order {
                0 => Level0Order::Merge,
                1 => Level0Order::MergeApart,
                _ => Level0Order::Wait,
            };
            for _ in 0..flushes {
                flush_scattered(&mut model, at, 3_000);
                at += 1;
                model.plan();
                if fails {
                    model.cancel(at as usize);
                }
                if !late {
                    model.settle(1_000);
                }
            }
        }
        model.order.level0 = Level0Order::Merge;
        while !model.running.is_empty() {
            model.finish(0);
        }
        model.settle(1_000);
        model.check();
        let runs = model.runs(1).len();
        let most = if limit == 1 { 1 } else { 2 * usize::from(limit) };
        prop_assert!(runs <= most, "{} runs, limit {}", runs, limit);
        prop_assert!(model.state.set_apart.is_empty());
    }
}
