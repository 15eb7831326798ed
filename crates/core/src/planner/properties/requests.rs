//! What is asked for: a merge of everything, other run limits.

use super::{FLUSH, flush_scattered, model};
use crate::plan::Reason;
use crate::planner::with_limits;
use crate::shape::{RunLimit, RunLimits, Transition};
use crate::testing::{Model, small_shape};

/// Compacting by hand leaves one run, and the request is then done.
#[test]
fn compacting_all_leaves_one_run() {
    for alone in [true, false] {
        let mut model = model(7);
        for at in 0..500u32 {
            flush_scattered(&mut model, at, 100_000);
            model.settle(1_000);
        }
        model.state.ask_compact_all(alone);
        model.settle(2_000);
        model.check();
        assert_eq!(model.tree().runs().count(), 1);
        assert!(model.tree().level0().is_empty() && !model.state.compact_all);
    }
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

/// However long it takes: under a limit of ten, slots are few above the runs that level 1 has. L0
/// is empty between two flushes, or never.
#[test]
fn l0_has_room_while_everything_is_merged() {
    for every in [1, 4] {
        l0_has_room_where_a_flush_comes_every(every);
    }
}

fn l0_has_room_where_a_flush_comes_every(looks: usize) {
    let mut model = model(10);
    for at in 0..1_998 {
        flush_scattered(&mut model, at, 100_000);
        model.settle(1_000);
    }
    let runs = [1, 2, 3].map(|level| model.runs(level).len());
    assert!(runs[0] > 7 && runs[1] > 7 && runs[2] > 2, "{runs:?}");
    model.state.ask_compact_all(false);
    let slowdown = model.shape.level0_slowdown_writes_trigger as usize;
    for at in 1_998..2_358 {
        flush_scattered(&mut model, at, 100_000);
        for _ in 0..looks {
            model.plan();
            let level0 = model.tree().level0().len();
            assert!(level0 < slowdown, "{at}: {level0} files");
            model.finish(0);
        }
    }
    assert!(!model.state.compact_all);
    model.settle(2_000);
    model.check();
    assert_eq!(model.runs(3).len(), 1, "what was there is one run");
}

/// Limits that change to and fro, as a tuner's may with the hour of the day.
#[test]
fn greedy_transitions_make_no_tree_deeper() {
    let mut shape = small_shape();
    shape.transition = Transition::Greedy;
    let mut model = Model::new(shape, RunLimits::uniform(RunLimit::ONE));
    for at in 0..60u32 {
        model.flush((0..FLUSH).map(|n| (at * 100 + n * 7, false)));
        model.settle(1_000);
    }
    let deepest = |model: &Model| model.tree().deepest_occupied(&model.shape.layout);
    let before = deepest(&model).expect("something was flushed");
    assert!(before < model.shape.layout.deepest());
    for turn in 0..12 {
        let limit = if turn % 2 == 0 { 6 } else { 1 };
        let limits = RunLimits::uniform(RunLimit::clamped(limit));
        model.state = with_limits(&model.observation(), limits);
        model.settle(1_000);
        model.check();
        assert_eq!(deepest(&model), Some(before), "turn {turn}");
        assert_eq!(model.state.forced, [], "turn {turn}");
    }
}

/// A flexible change of limits rewrites nothing; a greedy one merges level 1 down.
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
        for at in 0..60u32 {
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
