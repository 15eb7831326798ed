//! Drains that would lead elsewhere if they began now.

use crate::layout::{Layout, LogicalLevel, PhysicalLevel};
use crate::observation::Observation;
use crate::plan::Reason;
use crate::planner::plan;
use crate::testing::drawing::parse;

/// Level 1 has so many bytes left of those with which its drain into the run of level 2 began.
/// That run is sealed from 8,000 bytes on under a limit of 4, and never under 1.
fn drained(limits: &str, left: u64, begun_with: u64) -> Observation {
    let mut seen = parse(&format!(
        "limits {limits}
         1.14: 50-90:{left}
         2.15: 0-40:6000 45-90:6000
         draining-full 1.14 -> 2.15"
    ))
    .expect("a drawing");
    set_begun_with(&mut seen, begun_with);
    seen
}

fn set_begun_with(seen: &mut Observation, begun_with: u64) {
    if let Reason::LevelFull { bytes, .. } = &mut seen.state.drains[0].reason {
        *bytes = begun_with;
    }
}

/// Physical levels into which compactions lead.
fn outputs(seen: &Observation) -> Vec<PhysicalLevel> {
    plan(seen).plans.iter().map(|plan| plan.output).collect()
}

fn slot(level: u16, slot: u16) -> PhysicalLevel {
    let (first, _) = Layout::V1.span(LogicalLevel(level));
    PhysicalLevel(first.0 + slot)
}

#[test]
fn a_drain_ends_where_a_raised_limit_would_give_it_a_run_of_its_own() {
    let planned = plan(&drained("1,4", 2_000, 3_900));
    assert!(planned.state.drains.is_empty(), "{planned:?}");
    assert!(planned.plans.is_empty(), "level 1 is full no more");
    assert_eq!(outputs(&drained("1,1", 2_000, 3_900)), [slot(2, 15)]);
}

#[test]
fn what_is_left_of_a_level_that_is_full_all_the_same_goes_there() {
    assert_eq!(outputs(&drained("1,4", 3_900, 4_200)), [slot(2, 14)]);
}

/// No piece of it begins, and one that runs is waited for.
#[test]
fn a_drain_ends_between_two_pieces() {
    let mut seen = drained("1,4", 2_000, 3_900);
    let piece = plan(&drained("1,1", 2_000, 3_900)).plans.remove(0);
    seen.in_flight = vec![crate::planner::in_flight(&piece)];
    let planned = plan(&seen);
    assert_eq!(planned.state.drains.len(), 1);
    assert!(planned.plans.is_empty(), "{planned:?}");
}

#[test]
fn a_run_that_the_drain_has_filled_itself_receives_the_rest() {
    // 4,000, 7,999 and 8,000 of its 12,000 bytes were there before.
    assert_eq!(outputs(&drained("1,4", 2_000, 10_000)), [slot(2, 15)]);
    assert_eq!(outputs(&drained("1,4", 2_000, 6_001)), [slot(2, 15)]);
    assert!(outputs(&drained("1,4", 2_000, 6_000)).is_empty());
}

/// Of level 2 the three runs leave so little that any other one counts as sealed; and what was
/// brought takes more bytes there than it did above.
#[test]
fn a_run_that_the_drain_has_begun_receives_the_rest_however_large_it_is() {
    let with = |receiver: u64, begins_run: bool| {
        let mut seen = parse(&format!(
            "limits 1,10
             1.14: 50-90:1900
             2.12: 0-40:{receiver}
             2.13: 0-90:10000
             2.14: 0-90:10000
             2.15: 0-90:10000
             draining-full 1.14 -> 2.12"
        ))
        .expect("a drawing");
        set_begun_with(&mut seen, 3_900);
        seen.state.drains[0].begins_run = begins_run;
        outputs(&seen)
    };
    // 2,000 bytes were brought.
    assert_eq!(with(2_010, true), [slot(2, 12)]);
    assert_eq!(with(5_000, true), [slot(2, 12)]);
    assert!(with(2_010, false).is_empty(), "it was there before");
}

#[test]
fn a_drain_remembers_whether_it_begins_the_run_that_receives() {
    let begins_run = |below: &str| {
        let drawing = format!("1.14: 0-90:2000 \n 1.15: 0-90:2000 \n {below}");
        let planned = plan(&parse(&drawing).expect("a drawing"));
        planned.state.drains[0].begins_run
    };
    assert!(begins_run(""));
    assert!(!begins_run("2.15: 0-90:100"));
}

#[test]
fn a_drain_that_the_bound_on_space_needs_goes_on() {
    let mut seen = drained("1,4", 2_000, 3_900);
    // 14,000 bytes over a run of 12,000.
    seen.shape.max_space_amplification = 1.2;
    assert_eq!(outputs(&seen), [slot(2, 15)]);
}
