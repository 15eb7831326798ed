//! Which drain goes first, and who waits for it: L0, the bound on space, reads.

use crate::layout::LogicalLevel;
use crate::plan::Reason;
use crate::planner::plan;
use crate::schedule::DeepOrder;
use crate::state::DrainId;
use crate::testing::drawing::parse;
use crate::testing::small_shape;

const FOR_SPACE: Reason = Reason::SpaceBound {
    estimate: 2.7,
    bound: 3.0,
};

const FOR_LIMITS: Reason = Reason::Transition {
    level: LogicalLevel(2),
};

/// What a merge for the reads' sake waits for is awaited by reads, too.
#[test]
fn what_stands_in_the_way_of_a_wanted_merge_is_awaited() {
    let awaited = |merged: &[u16], down: &[u16]| {
        let mut seen = parse(
            "1.13: 0-40:4
             2.15: 0-90:16
             drain 1.13 -> 2.15",
        )
        .expect("a drawing");
        let levels = |of: &[u16]| of.iter().copied().map(LogicalLevel).collect();
        (seen.state.consolidate, seen.state.push_down) = (levels(merged), levels(down));
        let plans = plan(&seen).plans;
        assert_eq!(plans.len(), 1);
        plans[0].is_awaited_by_reads()
    };
    assert!(awaited(&[1], &[]) && awaited(&[2], &[]));
    assert!(!awaited(&[], &[]) && !awaited(&[3], &[]));
    assert!(awaited(&[], &[2]) && !awaited(&[], &[3]));
}

/// L0 waits for what leaves level 1, and for whatever is in a hurry.
#[test]
fn what_makes_room_for_l0_is_told() {
    let makes_room = |level: u16, bytes: u64| {
        let seen = parse(&format!(
            "{level}.13: 0-40:{bytes}
             {}.15: 0-90:16
             drain {level}.13 -> {}.15",
            level + 1,
            level + 1
        ))
        .expect("a drawing");
        plan(&seen).plans[0].makes_room_for_level0()
    };
    assert!(makes_room(1, 4) && !makes_room(2, 4));
    let twice = 2 * small_shape().capacity(LogicalLevel(2));
    assert!(!makes_room(2, twice - 1) && makes_room(2, twice));
}

/// A merge for the reads' sake waits for drains that are in a hurry, and for no others.
#[test]
fn a_merge_for_the_reads_sake_goes_behind_what_is_in_a_hurry() {
    let first = |bytes: u64| {
        let seen = parse(&format!(
            "workers 1
             1.13: 0-40:{bytes}
             2.15: 0-90:16
             3.14: 0-90:8
             3.15: 0-90:32
             drain 1.13 -> 2.15
             consolidating 3.14 -> 3.15"
        ))
        .expect("a drawing");
        plan(&seen).plans.iter().find_map(|plan| plan.drain)
    };
    let twice = 2 * small_shape().capacity(LogicalLevel(1));
    assert_eq!(first(twice), Some(DrainId(1)));
    assert_eq!(first(twice - 1), Some(DrainId(2)));
}

/// The bound on space waits for no reader, however far off it is.
#[test]
fn a_merge_for_the_reads_sake_goes_behind_the_bound_on_space() {
    let first = |reason: Reason| {
        let mut seen = parse(
            "workers 1
             1.14: 0-40:4
             1.15: 0-40:4
             2.14: 0-90:16
             2.15: 0-90:16
             consolidating 1.14 -> 1.15
             drain 2.14 -> 2.15",
        )
        .expect("a drawing");
        seen.state.drains[1].reason = reason;
        plan(&seen).plans.into_iter().find_map(|plan| plan.drain)
    };
    assert_eq!(first(FOR_SPACE), Some(DrainId(2)));
    assert_eq!(first(FOR_LIMITS), Some(DrainId(1)));
}

/// High load, which holds back what lies deep, is no reason to pass the bound on space.
#[test]
fn no_schedule_holds_back_what_the_bound_on_space_asks_for() {
    let pieces = |reason: Reason| {
        let mut seen = parse(
            "workers 2
             2.14: 0-90:16
             2.15: 0-90:16
             drain 2.14 -> 2.15",
        )
        .expect("a drawing");
        seen.state.drains[0].reason = reason;
        seen.deep = DeepOrder::AtMost(0);
        plan(&seen).plans.len()
    };
    assert_eq!(pieces(FOR_SPACE), 1);
    assert_eq!(pieces(FOR_LIMITS), 0);
}

/// Among merges for the reads' sake the shallowest, which spares a run by the least work.
#[test]
fn of_two_merges_for_the_reads_sake_the_shallower_goes_first() {
    let seen = parse(
        "workers 1
         1.14: 0-40:4
         1.15: 0-40:4
         2.14: 0-90:16
         2.15: 0-90:16
         consolidating 2.14 -> 2.15
         consolidating 1.14 -> 1.15",
    )
    .expect("a drawing");
    let first = plan(&seen).plans.into_iter().find_map(|plan| plan.drain);
    assert_eq!(first, Some(DrainId(2)));
}
