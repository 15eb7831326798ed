//! When a merge is over: what came in its place pays for a merge of its own.

use super::*;

/// Runs of level 1, the oldest first, each so many files with numbers behind this one.
fn tree_numbered(runs: &[(u64, u64)], below: &[u64]) -> Tree {
    let counts: Vec<u64> = runs.iter().map(|run| run.0).collect();
    let mut tree = tree_of(&counts, below);
    let layout = small_shape().layout;
    let slots = tree.runs_of(&layout, LogicalLevel(1));
    for (slot, (_, behind)) in slots.into_iter().rev().zip(runs) {
        let mut files = tree.files(slot).to_vec();
        files.iter_mut().for_each(|file| file.number += behind);
        tree.replace(slot, files).expect("legal");
    }
    tree
}

/// After how many missions a merge is asked for, once those that are over have ended.
fn asked_after(scene: &Scene, losses: &mut Losses) -> usize {
    scene.end(losses, false, 0.0);
    scene.ask_again(losses).0
}

/// A level of one run gets another in its place: reads have lost nothing by that one yet.
#[test]
fn the_run_after_a_merged_one_pays_anew() {
    let scene = |runs: &[(u64, u64)]| Scene::of(tree_numbered(runs, &[200]), 1, mission(10, 1));
    let (before, after) = (scene(&[(40, 0)]), scene(&[(40, 1_000)]));
    let losses = &mut Losses::default();
    let first = asked_after(&before, losses);
    assert!(first > 1);
    assert_eq!(asked_after(&before, losses), 1, "it goes on");
    assert_eq!(asked_after(&after, losses), first, "another run");
}

/// What of the oldest run nothing newer meets is in no piece, and keeps its files.
#[test]
fn a_merge_is_over_though_files_of_the_oldest_run_are_left() {
    let scene = |runs: &[(u64, u64)]| Scene::of(tree_numbered(runs, &[]), 10, mission(10, 1));
    let before = scene(&[(400, 0), (200, 1_000)]);
    let midway = scene(&[(400, 0), (100, 1_000), (200, 2_000)]);
    let after = scene(&[(400, 0), (200, 2_000)]);
    let losses = &mut Losses::default();
    assert!(asked_after(&before, losses) > 1);
    assert_eq!(
        asked_after(&midway, losses),
        1,
        "another run has come, and the merge goes on"
    );
    assert!(
        asked_after(&after, losses) > 1,
        "the run that came pays anew"
    );
}
