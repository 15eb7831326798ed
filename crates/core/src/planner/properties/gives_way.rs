//! What the drain of a full level does when a tuner wants something of the level: it ends between
//! two pieces, or hurries.

use super::flush_scattered;
use crate::layout::LogicalLevel;
use crate::plan::Reason;
use crate::planner::plan;
use crate::shape::{RunLimit, RunLimits};
use crate::state::Drain;
use crate::testing::drawing::parse;
use crate::testing::{Model, small_shape};

/// A tree whose level 2 gives all that it has to level 3, until it is full no more.
fn half_drained() -> Model {
    let mut limits = RunLimits::uniform(RunLimit::clamped(7));
    limits.set(LogicalLevel(3), RunLimit::ONE);
    let mut model = Model::new(small_shape(), limits);
    model.workers = 1;
    let level = LogicalLevel(2);
    let is_full =
        |drain: &Drain| matches!(drain.reason, Reason::LevelFull { level: it, .. } if it == level);
    let mut at = 0;
    while !model.state.drains.iter().any(is_full) || model.runs(3).is_empty() {
        model.settle(1_000);
        flush_scattered(&mut model, at, 1_000_000);
        while model.plan() > 0 && !model.state.drains.iter().any(is_full) {
            model.finish(0);
        }
        at += 1;
    }
    while model.runs(2).iter().sum::<u64>() >= model.shape.full_at(level) {
        model.finish(0);
        model.plan();
    }
    assert!(
        model.state.drains.iter().any(is_full),
        "it is over too soon"
    );
    assert!(model.runs(2).len() > 1);
    model
}

/// Readers wait for few runs, and nobody for the rest of the drain, which rewrites the level below.
#[test]
fn the_drain_of_a_full_level_gives_way_to_what_reads_want() {
    let after = |wanted: &[LogicalLevel]| {
        let mut model = half_drained();
        let before = model.written_bytes;
        model.state.consolidate = wanted.to_vec();
        model.settle(2_000);
        model.check();
        assert!(model.state.drains.is_empty() && model.state.consolidate.is_empty());
        (model.written_bytes - before, model.runs(2).len())
    };
    let level = LogicalLevel(2);
    let (drained, merged) = (after(&[]), after(&[level]));
    assert_eq!((drained.1, merged.1), (0, 1));
    assert!(merged.0 < drained.0, "{merged:?} {drained:?}");
    assert_eq!(after(&[LogicalLevel(1)]), drained, "of another level");
}

/// So many files of as many bytes side by side, from key 0 on.
fn side_by_side(files: usize, bytes: u64) -> String {
    let drawn = |at: usize| format!("{}-{}:{bytes}", at * 4, at * 4 + 3);
    (0..files).map(drawn).collect::<Vec<_>>().join(" ")
}

/// It goes on where nothing would come of the merge, while the level is still full, and where
/// more than readers wait for it.
#[test]
fn a_drain_gives_way_to_nothing_less() {
    let goes_on_under = |bound: f64, drawing: &str| {
        let mut seen = parse(drawing).expect("a drawing");
        seen.shape.max_space_amplification = bound;
        seen.state.consolidate = vec![LogicalLevel(2)];
        let planned = plan(&seen);
        planned.state.drains == seen.state.drains && planned.plans.iter().all(|plan| plan.awaited)
    };
    let goes_on = |drawing: &str| goes_on_under(1e9, drawing);
    let over = |top: u8, rest: &str| {
        let below = side_by_side(10, 1_200);
        format!("{rest} \n 3.15: {below} \n draining-full 2.{top} -> 3.15")
    };
    let two = |newer: &str, older: &str| over(14, &format!("2.14: {newer} \n 2.15: {older}"));
    let alike = |files: usize, bytes: u64| {
        let run = side_by_side(files, bytes);
        two(&run, &run)
    };
    assert!(!goes_on(&alike(2, 100)));
    assert!(
        goes_on(&two("0-39:4000", &side_by_side(10, 400))),
        "no common cuts"
    );
    let full = small_shape().full_at(LogicalLevel(2)) / 80;
    assert!(goes_on(&alike(40, full)), "full");
    assert!(!goes_on(&alike(40, full - 1)));
    let one = format!("2.15: {}", side_by_side(2, 100));
    assert!(goes_on(&over(15, &one)), "one run");
    // Level 1 gives all it has to level 2.
    let inbound = alike(2, 100).replace("2.14: ", "1.14: 0-40:4 \n 2.13: 0-3:10 \n 2.14: ");
    assert!(!goes_on(&inbound));
    let inbound = format!("{inbound} \n drain 1.14 -> 2.13");
    assert!(goes_on(&inbound), "something comes in");
    // Level 2 has three slots left above its runs.
    let crowded = alike(2, 100).replace("2.14", "2.3");
    assert!(goes_on(&crowded), "in a hurry");
    // 2.75 times the oldest run, of 3: not in a hurry yet.
    assert!(goes_on_under(3.0, &alike(10, 1_050)), "space");
    assert!(!goes_on_under(30.0, &alike(10, 1_050)));
}

/// One that is only to hurry ends when the level is empty, and the wish for it, too: what has come
/// in meanwhile was not asked for.
#[test]
fn a_drain_that_is_to_hurry_gives_way_to_nothing_and_takes_the_wish_along() {
    let level = LogicalLevel(2);
    let mut model = half_drained();
    model.state.push_down = vec![level];
    while !model.runs(2).is_empty() {
        assert_eq!(model.state.push_down, [level]);
        model.finish(0);
        model.plan();
    }
    assert!(model.state.drains.is_empty() && model.state.push_down.is_empty());
}
