//! What is asked for: a merge of everything or of one level, its end, other run limits.

use super::{FLUSH, flush_scattered, model};
use crate::layout::{Layout, LogicalLevel, PhysicalLevel};
use crate::plan::Reason;
use crate::planner::{plan, with_limits};
use crate::shape::{RunLimit, RunLimits, Transition};
use crate::state::DrainId;
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

/// A merge for the reads' sake waits for all others, though its level has few slots left.
#[test]
fn a_merge_for_the_reads_sake_goes_last() {
    let first = |deeper: &str| {
        let seen = parse(&format!(
            "workers 1
             1.13: 0-40:4
             2.15: 0-90:16
             3.6: 0-90:8
             3.14: 0-90:32
             4.15: 0-90:64
             drain 1.13 -> 2.15
             {deeper} 3.6 -> 4.15"
        ))
        .expect("a drawing");
        plan(&seen).plans.iter().find_map(|plan| plan.drain)
    };
    assert_eq!(first("drain"), Some(DrainId(2)));
    assert_eq!(first("consolidating"), Some(DrainId(1)));
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
