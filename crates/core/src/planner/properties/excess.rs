//! Pieces over their bound, each with its cause.

use proptest::prelude::*;

use super::histories::cases;
use super::steps::{apply, limit, ratio, step};
use super::{flush_scattered, model};
use crate::key::Key;
use crate::layout::{LogicalLevel, PhysicalLevel};
use crate::observation::Observation;
use crate::plan::{Excess, Plan};
use crate::planner;
use crate::schedule::Level0Order;
use crate::shape::{RunLimit, RunLimits, Shape};
use crate::state::TreeState;
use crate::testing::{ENTRY_BYTES, Model, small_shape};
use crate::tree::{File, Tree};

/// A merge of L0 takes all of the run that it meets, which may be large.
#[test]
fn a_merge_of_level_0_into_a_large_run_is_an_excess() {
    let mut model = model(1);
    let (mut within, mut beyond) = (0, 0);
    for at in 0..400 {
        flush_scattered(&mut model, at, 100_000);
        model.plan();
        let bound = model.shape.piece_bytes(model.tree().total_bytes());
        for merge in model.running.iter().filter(|plan| plan.drain.is_none()) {
            let large = merge.input_bytes > bound;
            assert_eq!(merge.excess, large.then_some(Excess::Level0), "{merge:?}");
            *(if large { &mut beyond } else { &mut within }) += 1;
        }
        model.settle(1_000);
    }
    assert!(within > 10 && beyond > 10, "{within} {beyond}");
}

/// What is let wait in L0 is merged at once as far as the run is rewritten for it anyway: the
/// more waits, the less is rewritten for each byte of it.
#[test]
fn what_has_waited_is_merged_at_once_with_the_run_that_it_rewrites() {
    let taken = |level0: u32, run: u32| {
        let mut model = model(1);
        let (_, last) = model.shape.layout.span(LogicalLevel(1));
        model.place(last, (0..run).map(|at| at * 7));
        model.order.level0 = Level0Order::Wait;
        for at in 0..level0 {
            flush_scattered(&mut model, at, 2_100);
            model.plan();
        }
        model.order.level0 = Level0Order::Merge;
        model.plan();
        let [merge] = &model.running[..] else {
            panic!("{:?}", model.running);
        };
        let (of_level0, _) = inputs(merge, &model.tree());
        let bound = model.shape.piece_bytes(model.tree().total_bytes());
        (of_level0, bound)
    };
    let flushed = u64::from(super::FLUSH) * ENTRY_BYTES;
    let (none, bound) = taken(60, 0);
    assert_eq!(none, bound / flushed * flushed, "a piece");
    assert_eq!(taken(20, 300).0, 20 * flushed, "all of it");
    let (some, _) = taken(60, 300);
    assert_eq!(
        some,
        300 * ENTRY_BYTES / flushed * flushed,
        "as much as the run"
    );
    assert!(some > none, "{some} {none}");
}

/// Bytes that a merge takes of L0, and below it.
fn inputs(merge: &Plan, tree: &Tree) -> (u64, u64) {
    let (mut level0, mut below) = (0, 0);
    for (level, file) in tree.iter() {
        if merge.files().any(|number| number == file.number) {
            *(if level == PhysicalLevel::L0 {
                &mut level0
            } else {
                &mut below
            }) += file.size;
        }
    }
    (level0, below)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(32), ..ProptestConfig::default() })]

    /// Of L0 a merge takes no more than a piece may have, or than it rewrites below; or as many
    /// files as the trigger has. What is over the bound of a piece is told.
    #[test]
    fn a_merge_of_level_0_is_no_larger_than_twice_what_it_rewrites_or_a_piece(
        steps in prop::collection::vec(step(), 1..300),
        limit in limit(),
        ratio in ratio(),
    ) {
        let shape = Shape { size_ratio: ratio, ..small_shape() };
        let trigger = shape.level0_file_num_compaction_trigger as usize;
        let mut model = Model::new(shape, RunLimits::uniform(RunLimit::clamped(limit)));
        for step in &steps {
            let begun = model.running.clone();
            apply(&mut model, step);
            let tree = model.tree();
            let bound = model.shape.piece_bytes(tree.total_bytes());
            let merges = model.running.iter().filter(|plan| plan.drain.is_none());
            for merge in merges.filter(|plan| !begun.contains(plan)) {
                let (level0, below) = inputs(merge, &tree);
                let first = merge.inputs.first().filter(|input| input.level == PhysicalLevel::L0);
                let files = first.map_or(0, |input| input.files.len());
                let few = files <= trigger;
                prop_assert!(few || level0 <= bound.max(below), "{:?}: {}", merge, below);
                let large = merge.input_bytes > bound && merge.kind == crate::plan::PlanKind::Merge;
                prop_assert_eq!(merge.excess, large.then_some(Excess::Level0));
            }
        }
    }
}

/// A run of 60 files in level 1, which they overfill, over one file in level 2; each begins at
/// the key at which the one before ends.
fn chained() -> Observation {
    let shape = small_shape();
    let key = |at: u32| Key::from(format!("{at:05}"));
    let file = |at: u32| File {
        number: u64::from(at) + 1,
        size: 100,
        smallest: key(at * 10),
        largest: key(at * 10 + 10),
        entries: 10,
        deletions: 0,
    };
    let (_, slot) = shape.layout.span(LogicalLevel(1));
    let (_, receiver) = shape.layout.span(LogicalLevel(2));
    let mut levels = vec![Vec::new(); usize::from(receiver.0) + 1];
    levels[usize::from(slot.0)] = (0..60).map(file).collect();
    levels[usize::from(receiver.0)] = vec![File {
        number: 1_000,
        ..file(3)
    }];
    Observation::quiet(
        shape,
        Tree::new(levels).expect("legal"),
        TreeState::new(RunLimits::uniform(RunLimit::clamped(2))),
        1,
    )
}

/// Files that share a boundary key go together: versions of one key must not come to lie
/// above newer ones.
#[test]
fn files_that_share_keys_are_an_excess_by_that_name() {
    let seen = chained();
    let plans = planner::plan(&seen).plans;
    let [plan] = &plans[..] else {
        panic!("{plans:?}");
    };
    let bound = seen.shape.piece_bytes(seen.tree.total_bytes());
    assert!(plan.input_bytes > bound, "{plan:?}");
    assert_eq!(plan.excess, Some(Excess::SharedBoundaries));
    assert_eq!(plan.files().count(), 61);
}
