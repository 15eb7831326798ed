//! Where moves rewrite.

use super::{flush_scattered, model};
use crate::plan::{Excess, PlanKind, Reason};
use crate::planner::plan;
use crate::testing::drawing::{parse, show};

/// What the planner wants, where moves cost nothing and where they rewrite.
fn planned(drawing: &str) -> [String; 2] {
    [false, true].map(|rewrite| {
        let mut seen = parse(drawing).expect("a drawing");
        seen.moves_rewrite = rewrite;
        show(&seen, &plan(&seen))
    })
}

#[test]
fn a_run_goes_to_its_seat_in_pieces_and_only_when_slots_have_nearly_run_out() {
    let run = "0-9:2000 10-19:2000 20-29:2000 30-39:2000";
    let [moved, left] = planned(&format!("2.3: {run}"));
    assert_eq!(
        moved,
        "move 2.3[1, 2, 3, 4] -> 2.15 (8000 bytes): level 2 has free slots below its runs\n"
    );
    assert_eq!(left, "nothing\n");
    let [_, begun] = planned(&format!("2.2: {run}"));
    assert_eq!(
        begun,
        "begin 2.2 -> 2.15: level 2 has free slots below its runs\n\
         merge 2.2[1] -> 2.15 (2000 bytes): level 2 has free slots below its runs\n\
         merge 2.2[2] -> 2.15 (2000 bytes): level 2 has free slots below its runs\n"
    );
}

#[test]
fn a_run_that_fills_its_level_is_drained() {
    let [moved, begun] = planned("1.15: 0-49:2000 50-99:2000");
    assert!(moved.starts_with("move 1.15[1, 2] -> 2.15"), "{moved}");
    assert!(begun.starts_with("begin 1.15 -> 2.15: level 1 holds 4.0 kB"));
    assert!(begun.contains("merge 1.15[1] -> 2.15 (2000 bytes): "));
}

#[test]
fn what_rocksdb_left_on_the_landing_level_is_merged_and_told() {
    let drawing = "landing: 0-50:3000 \n 1.15: 0-99:100";
    let mut seen = parse(drawing).expect("a drawing");
    seen.moves_rewrite = true;
    let plans = plan(&seen).plans;
    let [landed] = &plans[..] else {
        panic!("{plans:?}");
    };
    assert_eq!(landed.kind, PlanKind::Merge);
    assert_eq!(landed.excess, Some(Excess::Level0));
    assert_eq!(landed.files().count(), 1, "it goes to a slot of its own");
}

/// Runs that came while level 1 was drained run out of slots before they fill it.
#[test]
fn a_tree_is_kept_in_order_without_a_move() {
    let mut model = model(10);
    model.moves_rewrite = true;
    let mut reseated = 0;
    for at in 0..2_000 {
        flush_scattered(&mut model, at, 100_000);
        model.plan();
        let bound = model.shape.piece_bytes(model.tree().total_bytes());
        for plan in &model.running {
            assert_eq!(plan.kind, PlanKind::Merge, "{plan:?}");
            assert!(plan.input_bytes <= bound || plan.excess.is_some());
            reseated += usize::from(matches!(plan.reason, Reason::Reseat { .. }));
        }
        model.finish(0);
        assert!(model.tree().level0().len() < 40, "L0 is merged");
    }
    assert!(reseated > 0);
    model.settle(2_000);
    model.check();
}
