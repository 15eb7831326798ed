//! A file that cannot be read, and that nobody restores.

use super::flush_scattered;
use crate::layout::LogicalLevel;
use crate::plan::Reason;
use crate::planner::plan;
use crate::shape::{RunLimit, RunLimits};
use crate::testing::drawing::parse;
use crate::testing::{ENTRY_BYTES, Model, small_shape};

/// A tree of three levels whose level 2 holds such a file, with so many runs in level 1.
fn damaged(limit: u16) -> Model {
    let mut limits = RunLimits::uniform(RunLimit::ONE);
    limits.set(LogicalLevel(1), RunLimit::clamped(limit));
    let mut model = Model::new(small_shape(), limits);
    let (_, deepest) = model.shape.layout.span(LogicalLevel(3));
    let (_, run) = model.shape.layout.span(LogicalLevel(2));
    model.place(deepest, (0..6_000).map(|at| at * 16));
    model.place(run, (0..3_000).map(|at| at * 33));
    let tree = model.tree();
    let files = tree.files(run);
    model.unreadable = [files[files.len() / 2].number].into();
    model
}

/// It is refused, so that the tuner asks for others, also while something is merged elsewhere.
#[test]
fn a_wish_of_which_nothing_can_be_merged_keeps_no_leftovers_apart() {
    let runs: Vec<String> = (7..16).map(|slot| format!("1.{slot}: 41-49:4")).collect();
    let level = LogicalLevel(1);
    for job in ["", "busy 11"] {
        let deep = "2.15: 40-50:8 \n 3.15: 0-9:100";
        let drawing = format!("{} \n {deep} \n unreadable 9 \n {job}", runs.join("\n"));
        let mut seen = parse(&drawing).expect("a drawing");
        seen.state.consolidate = vec![level];
        let state = plan(&seen).state;
        assert_eq!(state.refused, [level], "{job}");
        let drains = state.drains.into_iter();
        let begun: Vec<Reason> = drains.map(|drain| drain.reason).collect();
        assert_eq!(begun, [Reason::Leftovers { level }], "{job}");
    }
}

/// Every drain of level 1 leaves what meets the file, and L0 is merged meanwhile: without end that
/// would take the slots of the level, and then it could not be drained any more.
#[test]
fn a_level_above_it_is_drained_for_ever() {
    for limit in [1, 10] {
        let mut model = damaged(limit);
        let most = 3 * model.shape.capacity(LogicalLevel(1));
        for at in 0..1_200 {
            flush_scattered(&mut model, at, 100_000);
            for _ in 0..4 {
                model.plan();
                model.finish(0);
            }
            let bytes = model.runs(1).iter().sum::<u64>() * ENTRY_BYTES;
            assert!(bytes <= most, "limit {limit}: {bytes} after {at} flushes");
        }
        model.check();
        let left = |number: u64| model.unreadable.contains(&number);
        assert!(model.tree().iter().any(|(_, file)| left(file.number)));
    }
}
