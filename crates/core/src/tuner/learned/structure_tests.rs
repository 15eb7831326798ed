use super::*;
use crate::testing::{numbered_files, small_shape};

fn tree(deepest: u16, files: u64) -> Tree {
    let shape = small_shape();
    let (_, last) = shape.layout.span(LogicalLevel(deepest));
    let mut levels = vec![Vec::new(); usize::from(last.0) + 1];
    levels[usize::from(last.0)] = numbered_files(files);
    Tree::new(levels).expect("a run")
}

#[test]
fn by_hand() {
    let shape = small_shape();
    // L0 brings 400, level 1 holds 4,000, level 2 40,000 of which 20,000 are used.
    let tree = tree(2, 200);
    let structure = Structure::of(&shape, &tree).expect("a level");
    let one = structure.under(&RunLimits::uniform(RunLimit::ONE));
    assert_eq!(one.runs, [0.9, 1.0]);
    assert!((one.rewrites - (5.5 + 6.0)).abs() < 1e-9, "{one:?}");
    let ten = structure.under(&RunLimits::uniform(RunLimit::clamped(10)));
    // 20,000 of room in runs of 4,000.
    assert_eq!(ten.runs, [4.5, 3.5]);
    assert!((ten.rewrites - (1.0 + 1.0 + 2.0)).abs() < 1e-9, "{ten:?}");
    // Half of level 1, and half of the room, over the data.
    let passed = |shaped: &Shaped| [0, 1].map(|at| structure.passed_in(shaped, at));
    assert_eq!((passed(&one), passed(&ten)), ([0.1, 0.0], [0.1, 0.5]));
    assert_eq!(structure.passed_in_level0(), 0.01);
    assert_eq!(structure.passed_now(), 0.0, "there is one run");
}

/// Levels 2 and 3 of one run each: 40,000 bytes lie in level 2 under any inflow of 4,000.
#[test]
fn a_level_that_gives_up_pieces_stays_full() {
    let shape = small_shape();
    let tree = tree(3, 1_000);
    let structure = Structure::of(&shape, &tree).expect("levels");
    let level2 = |last: u16| {
        let mut limits = RunLimits::uniform(RunLimit::ONE);
        limits.set(LogicalLevel(3), RunLimit::clamped(last));
        let shaped = structure.under(&limits);
        (shaped.runs[1], shaped.rewritten[1], shaped.newer[1])
    };
    assert_eq!(level2(1), (1.0, 11.0, 40_000.0));
    assert_eq!(level2(10), (0.9, 5.5, 20_000.0));
}

/// Ten files of 100 bytes over a run of 200, as values and with as many tombstones.
#[test]
fn what_scans_pass_follows_what_is_newer_and_its_tombstones() {
    let shape = small_shape();
    let with = |newer: u64, deletions: u64| {
        let mut files = numbered_files(newer);
        for file in &mut files {
            (file.entries, file.deletions) = (10 + deletions, deletions);
        }
        let (_, first) = shape.layout.span(LogicalLevel(1));
        let mut levels = vec![Vec::new(); usize::from(first.0) + 2];
        levels[usize::from(first.0)] = files;
        levels[usize::from(first.0) + 1] = numbered_files(200);
        let tree = Tree::new(levels).expect("runs");
        Structure::of(&shape, &tree).expect("a level").passed_now()
    };
    assert_eq!((with(10, 0), with(20, 0)), (0.05, 0.1));
    assert!((with(10, 10) - 3.0 * 0.05).abs() < 1e-9);
}

/// 20,000 bytes fit a ratio of 8, under which level 2 has room for 25,600; but it grows with
/// what comes in, to 40,000.
#[test]
fn a_level_that_grows_with_the_data_has_room_for_what_it_may_grow_to() {
    let tree = tree(2, 200);
    let of = |bound: f64| {
        let shape = Shape {
            level_compaction_dynamic_level_bytes: true,
            max_space_amplification: bound,
            ..small_shape()
        };
        let fitted = shape.fitted(&tree);
        assert_eq!(fitted.size_ratio, 8);
        let structure = Structure::of(&fitted, &tree).expect("a level");
        let limits = RunLimits::uniform(RunLimit::clamped(4));
        (structure.room, structure.under(&limits).rewritten[1])
    };
    // Half of the room fits a ratio of 9: runs of 32,400 / 4, inflows of 3,600.
    let rewritten = (8_100.0 / 3_600.0 + 1.0) / 2.0 + 40_000.0 / 20_000.0;
    assert_eq!(of(1e9), (20_000.0, rewritten));
    assert_eq!(
        of(1.5).0,
        0.8 * 0.5 * 20_000.0,
        "merged for its space before"
    );
}

/// 20,000 bytes fit a ratio of 8, and with 10,000 newer ones beside them in the level one of 9. Merged
/// with them they are the data alone.
#[test]
fn what_one_run_costs_is_not_told_by_what_lies_beside_it() {
    let one = RunLimits::uniform(RunLimit::ONE);
    let rewritten = |newer: u64| {
        let shape = Shape {
            level_compaction_dynamic_level_bytes: true,
            ..small_shape()
        };
        let (first, last) = shape.layout.span(LogicalLevel(2));
        let mut levels = vec![Vec::new(); usize::from(last.0) + 1];
        levels[usize::from(first.0)] = numbered_files(newer);
        levels[usize::from(last.0)] = numbered_files(200);
        let tree = Tree::new(levels).expect("runs");
        let fitted = shape.fitted(&tree);
        let structure = Structure::of(&fitted, &tree).expect("a level");
        (fitted.size_ratio, structure.under(&one).rewritten[1])
    };
    let alone = rewritten(0);
    assert_eq!(alone.0, 8);
    for (newer, ratio) in [(10, 8), (100, 9), (150, 10)] {
        assert_eq!(rewritten(newer), (ratio, alone.1), "{newer}");
    }
}

/// Bytes that a tree may not hold have come as new keys.
#[test]
fn no_more_is_passed_than_the_bound_on_space_allows() {
    let tree = tree(2, 100);
    let passed = |bound: f64| {
        let shape = Shape {
            max_space_amplification: bound,
            ..small_shape()
        };
        let structure = Structure::of(&shape, &tree).expect("a level");
        structure.passed(50_000.0)
    };
    assert_eq!([1.0, 3.0, 1e9].map(passed), [0.0, 2.0, 5.0]);
}

/// 10,000 bytes in a level of 40,000 fill no run before a limit of 4.
#[test]
fn limits_under_which_the_data_is_never_sealed_are_one_tree() {
    let shape = small_shape();
    let tree = tree(2, 100);
    let structure = Structure::of(&shape, &tree).expect("a level");
    let below = |limit: u16| {
        let mut limits = RunLimits::uniform(RunLimit::clamped(limit));
        limits.set(LogicalLevel(1), RunLimit::ONE);
        structure.under(&limits)
    };
    assert_eq!((below(2), below(3)), (below(1), below(1)));
    assert!(below(4).runs[1] > 1.0 && below(4).rewrites < below(1).rewrites);
}

/// In a level that holds more than an inflow.
#[test]
fn more_runs_are_never_rewritten_more() {
    let shape = small_shape();
    for files in [60, 100, 200, 390] {
        let tree = tree(2, files);
        let structure = Structure::of(&shape, &tree).expect("a level");
        let rewrites: Vec<f64> = (1..=10)
            .map(|limit| RunLimits::uniform(RunLimit::clamped(limit)))
            .map(|limits| structure.under(&limits).rewrites)
            .collect();
        let falls = |pair: &[f64]| pair[1] <= pair[0] + 1e-9;
        assert!(rewrites[1..].windows(2).all(falls), "{files}: {rewrites:?}");
    }
}

#[test]
fn more_runs_are_never_less_to_pass() {
    let shape = small_shape();
    for files in [1, 60, 100, 200, 390] {
        let tree = tree(2, files);
        let structure = Structure::of(&shape, &tree).expect("a level");
        let passed: Vec<f64> = (1..=10)
            .map(|limit| RunLimits::uniform(RunLimit::clamped(limit)))
            .map(|limits| structure.under(&limits))
            .map(|shaped| (0..2).map(|at| structure.passed_in(&shaped, at)).sum())
            .collect();
        assert!(passed.is_sorted(), "{files}: {passed:?}");
    }
}
