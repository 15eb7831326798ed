//! While drains cannot be made durable.

use crate::layout::PhysicalLevel;
use crate::planner::plan;
use crate::state::DrainId;
use crate::testing::drawing::parse;

#[test]
fn no_drain_begins_and_all_else_goes_on() {
    let mut seen = parse(
        "L0: 0-90 0-90 0-90 0-90
         1.15: 0-40:2000 41-90:2000
         2.15: 0-40 41-90
         3.15: 0-40 41-90
         4.15: 0-40 41-90
         drain 3.15 -> 4.15
         workers 3",
    )
    .expect("a drawing");
    assert_eq!(plan(&seen).state.drains.len(), 2, "level 1 is full");
    seen.drains_begin = false;
    let planned = plan(&seen);
    assert_eq!(planned.state.drains, seen.state.drains);
    let plans = planned.plans;
    assert!(plans.iter().any(|plan| plan.top() == PhysicalLevel::L0));
    assert!(plans.iter().any(|plan| plan.drain == Some(DrainId(1))));
}

#[test]
fn a_merge_of_everything_waits_and_l0_is_merged_for_it() {
    let mut seen = parse(
        "L0: 0-90
         1.15: 0-40:100
         2.15: 0-90:100
         compact all",
    )
    .expect("a drawing");
    seen.drains_begin = false;
    let planned = plan(&seen);
    assert!(planned.state.compact_all && planned.state.drains.is_empty());
    assert_eq!(planned.plans.len(), 1, "{planned:?}");
    let below = "1.15: 0-40:100 \n 2.15: 0-90:100";
    seen.tree = parse(below).expect("a drawing").tree;
    let planned = plan(&seen);
    assert!(planned.state.compact_all && planned.plans.is_empty());
    seen.drains_begin = true;
    let planned = plan(&seen);
    assert!(!planned.state.compact_all);
    assert_eq!(planned.state.drains.len(), 1);
}
