//! Pieces over their bound, each with its cause.

use super::{flush_scattered, model};
use crate::key::Key;
use crate::layout::LogicalLevel;
use crate::observation::Observation;
use crate::plan::Excess;
use crate::planner;
use crate::shape::{RunLimit, RunLimits};
use crate::state::TreeState;
use crate::testing::small_shape;
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
