//! What a tuner wants for the reads' sake: merges of one level, and their end.

use super::{flush_scattered, model};
use crate::layout::{Layout, LogicalLevel, PhysicalLevel};
use crate::planner::plan;
use crate::testing::drawing::parse;
use crate::testing::small_shape;

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
