//! Merges that wait for what they will write.

use super::*;

fn holding(bytes: f64) -> Budget {
    under(10.0, bytes)
}

fn under(bound: f64, bytes: f64) -> Budget {
    Budget::new(Some(bound)).with_credit(Some(Credit { bound, bytes }))
}

/// Asks so many times, and returns the last answer and all that was said to wait.
fn asked(losses: &mut Losses, scene: &Scene, budget: &Budget, times: u32) -> (Wants, Vec<Change>) {
    let cost = scene.cost();
    let (mut last, mut waits) = (Wants::default(), Vec::new());
    for _ in 0..times {
        last = losses.after(&scene.question(), &cost, budget, true, 0.0);
        waits.append(&mut last.waits);
    }
    (last, waits)
}

/// Level 1 holds 2,500 bytes in five runs, and is not full.
fn five_runs() -> Scene {
    Scene::of(tree_of(&[5; 5], &[200]), 10, mission(10, 0))
}

#[test]
fn a_merge_that_is_due_waits_for_credit_and_goes_on_without() {
    let (scene, mut losses) = (five_runs(), Losses::default());
    let (wants, waits) = asked(&mut losses, &scene, &holding(2_499.0), 1_000);
    assert!(wants.merges.is_empty());
    let levels: Vec<u16> = waits.iter().map(|it| it.level.0).collect();
    assert_eq!(levels, [1], "it is told once");
    assert!(waits[0].why.contains("reads have lost"), "{waits:?}");
    let (wants, waits) = asked(&mut losses, &scene, &holding(2_500.0), 1);
    assert_eq!((wants.merges.len(), waits.len()), (1, 0));
    let (wants, waits) = asked(&mut losses, &scene, &holding(-1e9), 1);
    assert_eq!((wants.merges.len(), waits.len()), (1, 0), "it goes on");
    let ended = scene.end(&mut losses, false, 0.0);
    assert!(ended.is_empty(), "nor is it given up");
}

#[test]
fn under_a_bound_of_nothing_none_begins() {
    let none = under(0.0, 1e9);
    let (wants, waits) = asked(&mut Losses::default(), &five_runs(), &none, 1_000);
    assert_eq!((wants.merges.len(), waits.len()), (0, 1));
}

/// It is written whoever wants it sooner.
#[test]
fn the_drain_of_a_full_level_needs_no_credit() {
    let full = Scene::of(tree(16), 10, mission(10, 1));
    let (wants, waits) = asked(&mut Losses::default(), &full, &holding(-1e9), 1_000);
    assert!(wants.merges.iter().any(|it| it.goes_down), "{wants:?}");
    assert!(waits.iter().all(|it| it.level != LogicalLevel(1)));
}

/// Levels of 800 and of 6,000 bytes.
#[test]
fn what_runs_keeps_the_credit_for_what_it_is_still_to_write() {
    let scene = Scene::of(tree_of(&[4, 4], &[20, 20, 20]), 10, mission(10, 0));
    let budget = holding(6_799.0);
    let mut losses = Losses::default();
    let (wants, waits) = asked(&mut losses, &scene, &budget, 10_000);
    assert_eq!((wants.merges.len(), waits.len()), (1, 1));
    let level = LevelMission {
        for_reads_write_bytes: 6_000,
        ..LevelMission::default()
    };
    let written = Mission {
        levels: vec![level; 2],
        ..scene.mission.clone()
    };
    let later = Scene {
        mission: written,
        ..scene
    };
    let (wants, _) = asked(&mut losses, &later, &budget, 1);
    assert_eq!(wants.merges.len(), 2);
}

/// Once the drain has given down a part, what is left is a merge like any other.
#[test]
fn what_a_drain_leaves_needs_credit() {
    let full = Scene::of(tree_of(&[40; 2], &[200]), 10, mission(1, 0));
    let mut losses = full.asked();
    let rest = Scene::of(tree_of(&[18; 2], &[200]), 10, mission(1, 0));
    let (wants, waits) = asked(&mut losses, &rest, &holding(0.0), 1);
    assert_eq!((wants.merges.len(), waits.len()), (0, 1));
    let (wants, _) = asked(&mut losses, &rest, &holding(3_600.0), 1);
    assert_eq!(wants.merges.len(), 1);
}
