//! What may happen to a tree, drawn in any order.

use proptest::prelude::*;

use super::FLUSH;
use crate::layout::LogicalLevel;
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
    CompactAll,
    Consolidate(u16),
    Abandon(u16),
    Unreadable(usize),
    Workers(usize),
    Pin(bool),
    Order(Level0Order, DeepOrder),
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (0u32..400, 1u32..9, prop::bool::weighted(0.15)).prop_map(|(at, by, del)| Step::Flush(at, by, del)),
        12 => Just(Step::Plan),
        12 => any::<usize>().prop_map(Step::Finish),
        2 => any::<usize>().prop_map(Step::Cancel),
        2 => (1u16..4, 1u16..12).prop_map(|(level, runs)| Step::Limit(level, runs)),
        1 => Just(Step::Brake),
        1 => Just(Step::Forget),
        1 => Just(Step::CompactAll),
        1 => (1u16..4).prop_map(Step::Consolidate),
        1 => (1u16..4).prop_map(Step::Abandon),
        1 => any::<usize>().prop_map(Step::Unreadable),
        1 => (1usize..5).prop_map(Step::Workers),
        1 => any::<bool>().prop_map(Step::Pin),
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
        Step::CompactAll => model.state.compact_all = true,
        Step::Consolidate(level) => model.state.consolidate = vec![LogicalLevel(*level)],
        Step::Abandon(level) => model.state.abandon = vec![LogicalLevel(*level)],
        Step::Unreadable(at) => {
            let files: Vec<u64> = model.tree().iter().map(|(_, file)| file.number).collect();
            if let Some(file) = files.get(at % files.len().max(1)) {
                model.unreadable = [*file].into();
            }
        }
        Step::Workers(count) => model.workers = *count,
        Step::Pin(held) => model.pinned = *held,
        Step::Order(level0, deep) => {
            model.order.level0 = *level0;
            model.order.deep = *deep;
        }
    }
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
