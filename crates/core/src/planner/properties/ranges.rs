//! Level 1 gives up a range of its keys: L0 waits for that, and for no more. What waits for a
//! drain that a schedule holds back lets it go.

use super::{FLUSH, model};
use crate::layout::LogicalLevel;
use crate::observation::Observation;
use crate::plan::{Plan, Reason};
use crate::planner::plan;
use crate::schedule::{DeepOrder, Level0Order};
use crate::state::DrainId;
use crate::testing::drawing::parse;
use crate::testing::small_shape;

const TOMBSTONES: &str = "1.15: 0-40:4 41-80:4 d80 \n 2.15: 0-40:8 41-80:8";

/// Level 3 gives all it has to level 4, and a piece of that runs.
const DEEPER: &str = "3.15: 0-40:32 41-80:32
    4.15: 0-40:64 41-80:64
    draining-full 3.15 -> 4.15
    busy 5";

fn drawn(drawing: &str) -> Observation {
    parse(drawing).expect("a drawing")
}

/// As many files as are due.
fn due() -> usize {
    small_shape().level0_file_num_compaction_trigger as usize
}

fn level0(files: usize) -> String {
    format!("L0: {}", ["0-40:1"].repeat(files).join(" "))
}

/// Level 1 gives up its file of tombstones, which began while L0 was empty. It has so many files
/// by now.
fn giving(files: usize, deeper: &str) -> Observation {
    let below = format!("{TOMBSTONES} \n {deeper}");
    let begun = plan(&drawn(&below)).state;
    let mut seen = drawn(&format!("{below} \n {}", level0(files)));
    seen.state = begun;
    seen
}

/// The drains that plans belong to; none where it is the merge of L0.
fn drains(seen: &Observation) -> Vec<Option<DrainId>> {
    let plans = plan(seen).plans;
    plans.iter().map(|plan| plan.drain).collect()
}

/// SILK's order at high load: only L0 is merged, and this is what it takes.
#[test]
fn what_l0_waits_for_is_held_back_by_no_order() {
    let held = |files: usize, order: Level0Order| {
        let mut seen = giving(files, "");
        (seen.level0, seen.deep) = (order, DeepOrder::AtMost(0));
        drains(&seen)
    };
    assert!(held(due() - 1, Level0Order::Merge).is_empty());
    assert!(held(due(), Level0Order::Wait).is_empty());
    for order in [Level0Order::Merge, Level0Order::MergeApart] {
        assert_eq!(held(due(), order), [Some(DrainId(1))], "{order:?}");
    }
}

/// It takes the worker that is kept for L0, and none of those that deeper drains may have.
#[test]
fn what_l0_waits_for_waits_for_no_deeper_drain() {
    let of = |workers: usize, deep: DeepOrder| {
        let mut seen = giving(due(), DEEPER);
        (seen.workers, seen.deep) = (workers, deep);
        drains(&seen)
    };
    let (deeper, of_level1) = (Some(DrainId(1)), Some(DrainId(2)));
    assert_eq!(of(2, DeepOrder::All), [of_level1]);
    assert_eq!(of(4, DeepOrder::AtMost(1)), [of_level1]);
    assert_eq!(of(3, DeepOrder::All), [of_level1, deeper]);
}

/// However many files of tombstones there are, L0 is merged between two of them.
#[test]
fn l0_is_merged_before_a_range_begins_that_it_would_wait_for() {
    let mut seen = drawn(&format!("{TOMBSTONES} \n {}", level0(due())));
    assert!(plan(&seen).state.drains.is_empty());
    assert_eq!(drains(&seen), [None]);
    seen.level0 = Level0Order::Wait;
    assert_eq!(drains(&seen), [Some(DrainId(1))]);
}

/// Two memtables of three delete: most of level 1 is tombstones, over all keys in level 2.
#[test]
fn under_silk_l0_never_waits_for_more_than_a_few_pieces() {
    let mut model = model(1);
    let (_, receiver) = model.shape.layout.span(LogicalLevel(2));
    model.place(receiver, 0..3_000);
    model.order.deep = DeepOrder::AtMost(0);
    let mut ranges = 0;
    for at in 0..1_000u32 {
        model.flush((0..FLUSH).map(|n| ((at * 7919 + n * 104_729) % 3_000, at % 3 > 0)));
        model.plan();
        let of_range = |plan: &&Plan| matches!(plan.reason, Reason::Tombstones { .. });
        let pieces = model.running.iter().filter(|plan| plan.drain.is_some());
        ranges += pieces.filter(of_range).count();
        while !model.running.is_empty() {
            model.finish(0);
        }
        let files = model.tree().level0().len();
        assert!(files <= 2 * due(), "{files} files after {at} flushes");
    }
    assert!(ranges > 5, "{ranges}");
    model.check();
}

/// A drain that began at low load, and what waits until it is over.
#[test]
fn no_order_holds_back_what_a_merge_of_everything_or_for_space_waits_for() {
    let pieces = |drawing: String| {
        let mut seen = drawn(&drawing);
        seen.deep = DeepOrder::AtMost(0);
        plan(&seen).plans.len()
    };
    let full = |more: &str| {
        pieces(format!(
            "2.14: 0-40:4
             3.15: 0-90:16
             draining-full 2.14 -> 3.15
             {more}"
        ))
    };
    assert_eq!((full(""), full("compact all")), (0, 1));
    // It leads into the level that would be merged into the deepest one.
    let bounded = |bound: f64| {
        pieces(format!(
            "max_space_amplification {bound}
             1.14: 0-40:40
             2.15: 0-40:200
             3.15: 0-90:400
             draining-full 1.14 -> 2.15"
        ))
    };
    assert_eq!((bounded(2.0), bounded(1.7)), (0, 1));
}
