//! What may happen to a tree, drawn in any order.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::FLUSH;
use crate::layout::{Layout, LogicalLevel};
use crate::planner::with_limits;
use crate::schedule::{DeepOrder, Level0Order};
use crate::shape::{RunLimit, Transition};
use crate::testing::Model;

/// Something that happens to the tree, or is asked of the planner.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Flush keys from here on, this far apart; deletes when set.
    Flush(u32, u32, bool),
    Plan,
    Finish(usize),
    Cancel(usize),
    Limit(u16, u16),
    Brake,
    Forget,
    /// Go on with the memory that was durable.
    Crash,
    /// Whether the memory can be made durable.
    Durable(bool),
    CompactAll,
    Consolidate(u16),
    PushDown(u16),
    Abandon(u16),
    Unreadable(usize),
    Workers(usize),
    Pin(bool),
    MovesRewrite(bool),
    Order(Level0Order, DeepOrder),
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (0u32..400, 1u32..9, prop::bool::weighted(0.15)).prop_map(|(at, by, del)| Step::Flush(at, by, del)),
        12 => Just(Step::Plan),
        12 => any::<usize>().prop_map(Step::Finish),
        2 => any::<usize>().prop_map(Step::Cancel),
        2 => (1u16..4, limit()).prop_map(|(level, runs)| Step::Limit(level, runs)),
        1 => Just(Step::Brake),
        1 => Just(Step::Forget),
        1 => Just(Step::Crash),
        2 => any::<bool>().prop_map(Step::Durable),
        1 => Just(Step::CompactAll),
        1 => (1u16..4).prop_map(Step::Consolidate),
        1 => (1u16..4).prop_map(Step::PushDown),
        1 => (1u16..4).prop_map(Step::Abandon),
        1 => any::<usize>().prop_map(Step::Unreadable),
        1 => (1usize..5).prop_map(Step::Workers),
        1 => any::<bool>().prop_map(Step::Pin),
        1 => any::<bool>().prop_map(Step::MovesRewrite),
        2 => (level0_order(), deep_order()).prop_map(|(level0, deep)| Step::Order(level0, deep)),
    ]
}

pub(super) fn apply(model: &mut Model, step: &Step) {
    match step {
        Step::Flush(at, by, deleted) => {
            model.flush((0..FLUSH).map(|n| (at + n * by, *deleted)));
        }
        Step::Plan => {
            model.plan();
        }
        Step::Finish(at) => model.finish(*at),
        Step::Cancel(at) => model.cancel(*at),
        Step::Limit(level, runs) => {
            let mut limits = model.state.limits.clone();
            limits.set(LogicalLevel(*level), RunLimit::clamped(*runs));
            model.state = with_limits(&model.observation(), limits);
        }
        Step::Brake => model.brake(),
        Step::Forget => model.forget(),
        Step::Crash => model.crash(),
        Step::Durable(can_be) => model.drains_begin = *can_be,
        Step::CompactAll => model.state.ask_compact_all(false),
        Step::Consolidate(level) => model.state.consolidate = vec![LogicalLevel(*level)],
        Step::PushDown(level) => model.state.push_down = vec![LogicalLevel(*level)],
        Step::Abandon(level) => model.state.abandon = vec![LogicalLevel(*level)],
        Step::Unreadable(at) => {
            let files: Vec<u64> = model.tree().iter().map(|(_, file)| file.number).collect();
            if let Some(file) = files.get(at % files.len().max(1)) {
                model.unreadable = [*file].into();
            }
        }
        Step::Workers(count) => model.workers = *count,
        Step::Pin(held) => model.pinned = *held,
        Step::MovesRewrite(do_so) => model.moves_rewrite = *do_so,
        Step::Order(level0, deep) => {
            model.order.level0 = *level0;
            model.order.deep = *deep;
        }
    }
}

/// Any run limit that a tree can hold.
pub(super) fn limit() -> impl Strategy<Value = u16> {
    1..=Layout::V1.max_run_limit()
}

/// Size ratios that are usual, and now and then up to the largest that is allowed.
pub(super) fn ratio() -> impl Strategy<Value = u32> {
    prop_oneof![
        10 => 2u32..13,
        1 => Just(30),
        1 => Just(100),
    ]
}

fn level0_order() -> impl Strategy<Value = Level0Order> {
    prop::sample::select(vec![
        Level0Order::Merge,
        Level0Order::MergeApart,
        Level0Order::Wait,
    ])
}

fn deep_order() -> impl Strategy<Value = DeepOrder> {
    prop_oneof![
        Just(DeepOrder::All),
        Just(DeepOrder::Paced),
        (0usize..3).prop_map(DeepOrder::AtMost),
    ]
}

pub(super) fn transition() -> impl Strategy<Value = Transition> {
    prop::sample::select(vec![
        Transition::Flexible,
        Transition::Lazy,
        Transition::Greedy,
        Transition::FileGranular,
    ])
}

#[test]
fn limits_and_ratios_reach_the_largest() {
    let mut runner = TestRunner::deterministic();
    let drawn = prop::collection::vec((limit(), ratio()), 1_000);
    let drawn = drawn.new_tree(&mut runner).expect("drawn").current();
    let (limits, ratios): (Vec<u16>, Vec<u32>) = drawn.into_iter().unzip();
    assert_eq!(limits.iter().max(), Some(&Layout::V1.max_run_limit()));
    assert!(limits.contains(&1) && ratios.contains(&2));
    assert!(ratios.contains(&30) && ratios.contains(&100));
}
