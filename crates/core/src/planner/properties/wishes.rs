//! What a tuner wants for the reads' sake: merges of one level, and their end.

use super::{flush_scattered, model};
use crate::layout::{Layout, LogicalLevel, PhysicalLevel};
use crate::plan::Reason;
use crate::planner::plan;
use crate::schedule::DeepOrder;
use crate::shape::{RunLimit, RunLimits};
use crate::state::{Drain, DrainId};
use crate::testing::drawing::parse;
use crate::testing::{Model, small_shape};

/// The runs of a level that is to be consolidated become one, and then nothing is left to do.
/// Pushed down it is only then, and not out of the deepest level.
#[test]
fn consolidating_level_by_level_leaves_one_run() {
    let mut model = model(7);
    for at in 0..270u32 {
        flush_scattered(&mut model, at, 100_000);
        model.settle(1_000);
    }
    let deepest = 2;
    let (above, below) = (model.runs(1).len(), model.runs(2).len());
    assert!(above > 1 && below > 1 && model.runs(3).is_empty());
    let steps = [
        (false, 1, [above, below]),
        (true, 1, [1, below]),
        (true, 1, [1, below]),
        (false, 1, [0, below]),
        (false, 2, [0, below]),
        (true, 2, [0, 1]),
        (true, 2, [0, 1]),
        (false, 2, [0, 1]),
    ];
    for (merges, level, left) in steps {
        model.state.drop_merges();
        let wanted = vec![LogicalLevel(level)];
        if merges {
            model.state.consolidate = wanted;
        } else {
            model.state.push_down = wanted;
        }
        model.settle(2_000);
        model.check();
        assert_eq!([1, 2].map(|level| model.runs(level).len()), left);
    }
    assert_eq!(model.runs(deepest).len(), 1);
    assert_eq!(model.tree().runs().count(), 1);
}

/// L0 is merged meanwhile, and needs somewhere to go.
#[test]
fn a_consolidation_leaves_slots_for_what_comes_meanwhile() {
    let begun = |drawing: &str| {
        let mut seen = parse(drawing).expect("a drawing");
        seen.state.consolidate = vec![LogicalLevel(1)];
        let drains = plan(&seen).state.drains;
        drains.first().map(|drain| (drain.top, drain.target))
    };
    let all: Vec<String> = (0..16).map(|slot| format!("1.{slot}: 0-40:1")).collect();
    let (first, last) = Layout::V1.span(LogicalLevel(1));
    let kept = PhysicalLevel(first.0 + 2);
    assert_eq!(begun(&all.join("\n")), Some((kept, last)));
    assert_eq!(
        begun("1.0: 0-40:1 \n 1.15: 0-40:1"),
        None,
        "one moves first"
    );
}

/// A run that came down as it was has the cuts of the level above: what goes down for the reads'
/// sake would be merged with all of the level below at once.
#[test]
fn nothing_is_merged_for_reads_that_has_no_common_cuts() {
    let below: Vec<String> = (0..10)
        .map(|at| format!("{}-{}:400", at * 10, at * 10 + 9))
        .collect();
    let begun = |above: &str| {
        let drawing = format!("2.15: {above} \n 3.15: {}", below.join(" "));
        let mut seen = parse(&drawing).expect("a drawing");
        seen.state.push_down = vec![LogicalLevel(2)];
        let state = plan(&seen).state;
        assert!(state.push_down.is_empty(), "begun, or not waited for");
        (state.drains.len(), state.refused)
    };
    assert_eq!(begun("0-49:100 50-99:100"), (1, vec![]));
    assert_eq!(begun("0-99:200"), (0, vec![LogicalLevel(2)]));
}

/// It is drained whatever its cuts are, and the wish has its drain hurry.
#[test]
fn what_is_wanted_of_a_full_level_is_not_refused() {
    let level = LogicalLevel(2);
    let planned = |bytes: u64| {
        let drawing = format!("2.15: 0-99:{bytes} \n 3.15: 0-49:4000 50-99:4000");
        let mut seen = parse(&drawing).expect("a drawing");
        seen.state.push_down = vec![level];
        let state = plan(&seen).state;
        (state.drains.len(), state.refused)
    };
    let full = small_shape().full_at(level);
    assert_eq!(planned(full), (1, vec![]));
    assert_eq!(planned(full - 1), (0, vec![level]));
}

/// A consolidation that is given up half way has written less than a whole one, and the
/// level keeps the runs that were left.
#[test]
fn what_is_abandoned_is_not_merged() {
    let after = |pieces: Option<usize>| {
        let mut model = model(7);
        model.workers = 1;
        for at in 0..270u32 {
            flush_scattered(&mut model, at, 100_000);
            model.settle(1_000);
        }
        let before = model.written_bytes;
        model.state.consolidate = vec![LogicalLevel(2)];
        if let Some(pieces) = pieces {
            for _ in 0..pieces {
                model.plan();
                model.finish(0);
            }
            model.state.abandon = vec![LogicalLevel(2)];
        }
        model.settle(2_000);
        model.check();
        (model.written_bytes - before, model.runs(2).len())
    };
    let (whole, none, one) = (after(None), after(Some(0)), after(Some(1)));
    assert!(whole.0 > 0 && whole.1 == 1, "{whole:?}");
    // It is wanted still, and begins once nothing of it is under way.
    assert_eq!(none, whole, "nothing had begun");
    assert!(one.0 < whole.0 && one.1 > 1, "{one:?} {whole:?}");
}

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

/// A tuner asks for a merge after every mission until it is over. What has come into the level
/// meanwhile was not asked for.
#[test]
fn a_merge_that_is_asked_for_while_it_goes_on_is_done_once() {
    let runs_after = |again: bool| {
        let mut model = model(10);
        for at in 0..100u32 {
            flush_scattered(&mut model, at, 100_000);
            model.settle(1_000);
        }
        model.state.consolidate = vec![LogicalLevel(1)];
        model.plan();
        let drains = &model.state.drains;
        assert!(drains.iter().any(crate::planner::urgency::is_for_reads));
        for at in 100..110 {
            flush_scattered(&mut model, at, 100_000);
        }
        if again {
            model.state.consolidate = vec![LogicalLevel(1)];
        }
        model.settle(2_000);
        model.check();
        assert!(model.state.consolidate.is_empty());
        model.runs(1)
    };
    let once = runs_after(false);
    assert!(!once.is_empty(), "nothing came meanwhile");
    assert_eq!(runs_after(true), once);
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
    let (estimate, bound) = (2.7, 3.0);
    let space = Reason::SpaceBound { estimate, bound };
    let level = LogicalLevel(2);
    assert_eq!(first(space), Some(DrainId(2)));
    assert_eq!(first(Reason::Transition { level }), Some(DrainId(1)));
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
    let (estimate, bound) = (2.7, 3.0);
    assert_eq!(pieces(Reason::SpaceBound { estimate, bound }), 1);
    let level = LogicalLevel(2);
    assert_eq!(pieces(Reason::Transition { level }), 0);
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
