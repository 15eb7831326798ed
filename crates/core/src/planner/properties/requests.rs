//! What is asked for: a merge of everything or of one level, its end, other run limits.

use super::{FLUSH, flush_scattered, model};
use crate::layout::{Layout, LogicalLevel, PhysicalLevel};
use crate::plan::Reason;
use crate::planner::{plan, with_limits};
use crate::shape::{RunLimit, RunLimits, Transition};
use crate::state::{Drain, DrainId};
use crate::testing::drawing::parse;
use crate::testing::{Model, small_shape};

/// Compacting by hand leaves one run, and the request is then done.
#[test]
fn compacting_all_leaves_one_run() {
    let mut model = model(7);
    for at in 0..500u32 {
        flush_scattered(&mut model, at, 100_000);
        model.settle(1_000);
    }
    model.state.compact_all = true;
    model.settle(2_000);
    model.check();
    assert_eq!(model.tree().runs().count(), 1);
    assert!(model.tree().level0().is_empty() && !model.state.compact_all);
}

/// A flush comes before every look: L0 is never seen empty.
#[test]
fn compacting_all_comes_about_while_somebody_writes() {
    let mut model = model(4);
    for at in 0..500 {
        flush_scattered(&mut model, at, 100_000);
        model.settle(1_000);
    }
    let runs = model.tree().runs().count();
    assert!(runs > 1, "there is nothing to merge");
    model.state.compact_all = true;
    let mut begun = false;
    for at in 500..1_000 {
        flush_scattered(&mut model, at, 100_000);
        model.plan();
        model.finish(0);
        let drains = &model.state.drains;
        begun |= drains.iter().any(|drain| drain.reason == Reason::Manual);
    }
    assert!(begun, "it waits for an empty L0: {:?}", model.tree());
    assert!(!model.state.compact_all);
    model.settle(2_000);
    model.check();
}

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
        state.drains.len()
    };
    assert_eq!(begun("0-49:100 50-99:100"), 1);
    assert_eq!(begun("0-99:200"), 0);
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

/// It goes on where nothing would come of the merge, and while the level is still full.
#[test]
fn a_drain_gives_way_to_nothing_less() {
    let goes_on = |drawing: &str| {
        let mut seen = parse(drawing).expect("a drawing");
        seen.state.consolidate = vec![LogicalLevel(2)];
        let planned = plan(&seen);
        planned.state.drains == seen.state.drains && planned.plans.iter().all(|plan| plan.awaited)
    };
    let below = "3.15: 0-29:4000 30-59:4000 60-99:4000 \n draining-full 2.14 -> 3.15";
    let two = |newer: &str, older: &str| format!("2.14: {newer} \n 2.15: {older} \n {below}");
    assert!(!goes_on(&two("0-29:100 30-59:100", "0-29:100 30-59:100")));
    let narrow: Vec<String> = (0..10)
        .map(|at| format!("{}-{}:400", at * 10, at * 10 + 9))
        .collect();
    assert!(
        goes_on(&two("0-99:4000", &narrow.join(" "))),
        "no common cuts"
    );
    assert!(
        goes_on(&two("0-29:9000 30-59:9000", "0-29:9000 30-59:9000")),
        "full"
    );
    assert!(
        goes_on(&format!(
            "2.15: 0-29:100 30-59:100 \n {}",
            below.replace("2.14", "2.15")
        )),
        "one run"
    );
}

/// What a merge for the reads' sake waits for does not wait for readers itself.
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
        plans[0].awaited && !plans[0].may_give_way_at_device()
    };
    assert!(awaited(&[1], &[]) && awaited(&[2], &[]));
    assert!(!awaited(&[], &[]) && !awaited(&[3], &[]));
    assert!(awaited(&[], &[2]) && !awaited(&[], &[3]));
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

/// A flexible change of limits rewrites nothing; a greedy one merges down.
#[test]
fn only_a_greedy_transition_acts_at_once() {
    for (transition, acts) in [
        (Transition::Flexible, false),
        (Transition::Lazy, false),
        (Transition::FileGranular, false),
        (Transition::Greedy, true),
    ] {
        let mut shape = small_shape();
        shape.transition = transition;
        let mut model = Model::new(shape, RunLimits::uniform(RunLimit::ONE));
        for at in 0..20u32 {
            model.flush((0..FLUSH).map(|n| (at * 100 + n * 7, false)));
            model.settle(1_000);
        }
        model.state = with_limits(
            &model.observation(),
            RunLimits::uniform(RunLimit::clamped(10)),
        );
        assert_eq!(model.plan() > 0, acts, "{transition:?}");
    }
}
