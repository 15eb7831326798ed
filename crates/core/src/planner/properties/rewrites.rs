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
         merge 2.2[1] -> 2.15 (2000 bytes): level 2 has free slots below its runs\n",
        "one of two workers is kept for L0"
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

/// They go one after another, and the newest one, into which L0 is merged, is the last.
#[test]
fn l0_is_merged_beside_runs_that_go_to_their_seats() {
    let seen = parse(
        "limits 10
         moves rewrite
         L0: 0-90 0-90 0-90 0-90
         1.0: 0-90:400
         1.3: 0-40:1500 50-90:1500",
    )
    .expect("a drawing");
    let merges = "begin 1.3 -> 1.15: level 1 has free slots below its runs\n\
                  merge 1.3[6] -> 1.15 (1500 bytes): level 1 has free slots below its runs\n\
                  merge L0[1, 2, 3, 4] + 1.0[5] -> 1.0 (800 bytes): ";
    let shown = show(&seen, &plan(&seen));
    assert!(shown.starts_with(merges), "{shown}");
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
        let slowdown = model.shape.level0_slowdown_writes_trigger as usize;
        assert!(model.tree().level0().len() < slowdown, "L0 is merged");
    }
    assert!(reseated > 0);
    model.settle(2_000);
    model.check();
}
