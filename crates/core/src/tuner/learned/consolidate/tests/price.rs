//! What a merge costs, and what it spares.

use super::*;

/// Scans that take as long as the model has it before it has learned anything.
#[test]
fn long_scans_pay_for_a_merge_by_what_they_pass_too() {
    let after = |entries: u64| {
        let mut mission = mission(0, 0);
        mission.operations.scans = 1;
        mission.operations.scan_entries = entries;
        let (each, read, passed) = (80, 45, entries * 3 / 2);
        mission.seek.mean = Duration::from_micros(each + 2 * read + 2 * passed);
        let scene = Scene::of(tree_over(0, &[2_000, 1_000]), 1, mission);
        let (at, level) = scene.first().expect("some time");
        assert_eq!(level, LogicalLevel(2));
        at
    };
    let (short, long) = (after(10), after(100));
    assert!(2 * long < short, "{long} {short}");
}

#[test]
fn only_what_comes_into_the_oldest_run_is_passed_no_more() {
    let hidden = |tree: Tree, level: u16, writes: u64| {
        let scene = Scene::of(tree, 2, mission(10, writes));
        let structure = scene.structure();
        let spares = scene.merge(level, 2).spares(&structure, 0.0);
        (spares.passed * structure.data()).round()
    };
    let two = || tree_over(1, &[2_000, 1_000]);
    assert_eq!(hidden(tree(1), 1, 0), 4_000.0);
    assert_eq!(hidden(tree(1), 2, 0), 0.0, "it is alone");
    let small = tree_of(&[5; 5], &[200]);
    assert_eq!(hidden(small, 1, 0), 0.0, "they stay in their level");
    assert_eq!(hidden(tree(5), 1, 0), 20_000.0, "a full level is drained");
    assert_eq!(hidden(two(), 1, 0), 0.0, "it goes into a newer run");
    assert_eq!(hidden(two(), 2, 0), 100_000.0);
    let three = tree_over(0, &[2_000, 500, 500]);
    assert_eq!(hidden(three, 2, 10), 100_000.0, "both");
}

/// A run that holds all that a scan returns takes fewer reads than two that share it.
#[test]
fn a_merge_spares_scans_the_reads_of_the_runs_that_become_one() {
    let spared = |below: &[u64], entries: f64| {
        let scene = Scene::of(tree_over(0, below), 1, mission(10, 0));
        scene.merge(2, 2).spares(&scene.structure(), entries).reads
    };
    assert_eq!(spared(&[200, 200], 0.0), 1.0, "a seek");
    assert!(spared(&[200, 200], 8_000.0) > 3.0);
    assert!(spared(&[200, 2], 8_000.0) < 1.3);
    assert!(spared(&[200, 200, 200], 0.0) > 1.9);
}

/// So many bytes, written in a mission that reads, too.
fn writing(bytes: u64) -> Mission {
    Mission {
        user_write_bytes: bytes,
        flush_write_bytes: bytes,
        ..mission(20, 2)
    }
}

/// Whatever its limit is: runs that a level may have are merged where reads pay for it.
#[test]
fn a_level_is_merged_under_any_limit_once_reads_have_paid() {
    let first = |runs: u16, limit: u16, gets: u64, writes: u64| {
        Scene::of(tree(runs), limit, mission(gets, writes)).first()
    };
    let at = [1, 2, 5, 10].map(|limit| first(5, limit, 2, 1));
    assert!(at[0].is_some_and(|(at, level)| at > 1 && level == LogicalLevel(1)));
    assert_eq!(at, [at[0]; 4]);
    // Writes take here what the model expects of them.
    let beside = |writes: u32| {
        let put = Duration::from_micros(12);
        let mut mission = mission(2, u64::from(writes));
        mission.put.mean = put;
        mission.duration = 2 * mission.get.mean + writes * put;
        let first = Scene::of(tree(5), 5, mission).first();
        first.expect("some time").0
    };
    assert!(beside(1) <= beside(10), "{}, {}", beside(1), beside(10));
    assert_eq!(first(0, 1, 2, 1), None, "the data itself");
}

/// Level 1, which is full at 3,800 bytes, holds two runs of 500.
#[test]
fn nothing_is_merged_that_is_drained_before_it_pays() {
    let scene = |bytes: u64| Scene::of(tree_of(&[5, 5], &[200]), 5, writing(bytes));
    let lasts = |bytes: u64| scene(bytes).merge(1, 2).lasts;
    assert!(lasts(0).is_infinite());
    assert_eq!([1, 1_000].map(lasts), [2_800.0, 2.8]);
    let at = |bytes: u64| scene(bytes).first();
    assert!(at(0).is_some() && at(1).is_some());
    assert_eq!(at(1 << 20), None);
}

/// A level that is nearly full is drained soon anyway: of the price of doing it now hardly anything
/// is lost. Once it is full only how soon can be chosen, and the whole is felt.
#[test]
fn a_drain_that_would_soon_come_is_cheap() {
    let extra = |files: u64, mission: Mission| {
        let scene = Scene::of(tree_of(&[files], &[200]), 1, mission);
        scene.merge(1, 2).extra
    };
    let full = small_shape().full_at(LogicalLevel(1)) / 100;
    let some = || writing(100);
    assert!(extra(full - 1, some()) < 0.03);
    assert_eq!(extra(full, some()), 1.0);
    let half = extra(full / 2, some());
    assert!((0.4..0.6).contains(&half), "{half}");
    assert_eq!(
        extra(full - 1, mission(20, 0)),
        1.0,
        "nobody writes: it would never come"
    );
}

/// What it lacks when its drain begins early, and no more for what that has taken.
#[test]
fn of_an_early_drain_what_the_level_lacked_is_no_rewrite_of_what_came_in() {
    let half = Scene::of(tree_of(&[19], &[200]), 1, writing(100));
    let wrote = |losses: &Losses| losses.wrote(&merging_for_reads(1_000));
    let mut losses = half.asked();
    let lacked = wrote(&losses);
    assert!((400.0..600.0).contains(&lacked), "{lacked}");
    let later = Scene::of(tree_of(&[5], &[200]), 1, writing(100));
    assert!(later.merge(1, 2).extra > 0.8);
    later.ask_again(&mut losses);
    assert_eq!(wrote(&losses), lacked);
}

/// Half of what comes while it runs, and nothing once the level is drained anyway.
#[test]
fn a_merge_spares_in_full_when_it_is_over() {
    let scene = |written: u64| {
        let mission = Mission {
            user_write_bytes: written,
            flush_write_bytes: written,
            ..mission(10, 1)
        };
        Scene::of(tree_of(&[5; 5], &[200]), 10, mission).merge(1, 2)
    };
    let endless = scene(0);
    assert_eq!(endless.lasts, f64::INFINITY);
    let counts = [2.0, 4.0, 10.0, f64::INFINITY].map(|missions| endless.counts(missions, 4.0));
    assert_eq!(counts, [0.5, 2.0, 8.0, f64::INFINITY]);
    assert_eq!(endless.counts(10.0, 0.0), 10.0, "it takes no time");
    let drained = scene(250);
    assert_eq!(drained.counts(1e9, 4.0), drained.lasts - 2.0);
}
