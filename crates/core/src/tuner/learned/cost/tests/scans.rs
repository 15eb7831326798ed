//! What scans cost by the reads that they take of runs and by the entries that they pass, on a
//! machine that obeys a formula.

use super::super::seen::Seen;
use super::super::{PASSED, PRIOR, SCAN_READS, SCANS, Scan, WRITES};
use super::*;

/// Seconds of a scan, of each read that it takes, and of each entry that it passes.
const EACH: f64 = 120e-6;
const READ: f64 = 30e-6;
const ENTRY: f64 = 1.5e-6;

const OPERATIONS: u64 = 10_000;

/// So many runs in level 1 over one in level 2: files of 100 bytes, ten in each of the runs
/// and 200 below. Above, there are so many tombstones beside ten values in each file.
fn tree_of(runs: u16, tombstones: u64) -> Tree {
    let layout = small_shape().layout;
    let (_, first) = layout.span(LogicalLevel(1));
    let (_, second) = layout.span(LogicalLevel(2));
    let mut levels = vec![Vec::new(); usize::from(second.0) + 1];
    for run in 0..runs {
        let mut files = numbered_files(10);
        for file in &mut files {
            (file.entries, file.deletions) = (10 + tombstones, tombstones);
        }
        levels[usize::from(first.0 - run)] = files;
    }
    levels[usize::from(second.0)] = numbered_files(200);
    Tree::new(levels).expect("runs")
}

fn limits(first: u16, second: u16) -> RunLimits {
    let mut limits = RunLimits::uniform(RunLimit::clamped(second));
    limits.set(LogicalLevel(1), RunLimit::clamped(first));
    limits
}

/// So many writes of 1,000 bytes, which take as long as the prior has it, and scans that
/// return so many entries, one after the other.
fn mission(structure: &Structure<'_>, runs: u16, writes: u64, entries: u64) -> Mission {
    let scans = OPERATIONS - writes;
    let compacted = (writes as f64 * 1_000.0 * structure.under(&limits(4, 1)).rewrites) as u64;
    let seconds = compacted as f64 * 8e-9;
    let passed = entries as f64 * (1.0 + structure.passed_now());
    let of_runs = |bytes: f64| structure.reads(bytes, entries as f64);
    let reads = f64::from(runs) * of_runs(1_000.0) + of_runs(20_000.0);
    let seek = EACH + READ * reads + ENTRY * passed;
    let put = PRIOR[WRITES] + 0.5 * seconds / writes.max(1) as f64;
    let mean = |seconds: f64| Latency {
        mean: Duration::from_secs_f64(seconds),
        ..Latency::default()
    };
    Mission {
        duration: Duration::from_secs_f64(scans as f64 * seek + writes as f64 * put),
        operations: OperationMix {
            scans,
            scan_entries: scans * entries,
            writes,
            ..OperationMix::default()
        },
        seek: mean(seek),
        put: mean(put),
        levels: vec![LevelMission {
            compaction_time: Duration::from_secs_f64(seconds),
            ..LevelMission::default()
        }],
        user_write_bytes: writes * 1_000,
        flush_write_bytes: writes * 1_000,
        compaction_write_bytes: compacted,
        ..Mission::default()
    }
}

/// What is learned in thirty missions over one tree, with four runs in level 1.
fn learned(structure: &Structure<'_>, tree: &Tree, writes: u64, entries: u64) -> Cost {
    let mut cost = Cost::new(true);
    let mission = mission(structure, 4, writes, entries);
    for _ in 0..30 {
        assert!(cost.learn(structure, tree, &mission, &limits(4, 1), 0.0, None));
    }
    cost
}

fn all_limits() -> impl Iterator<Item = (u16, u16)> {
    (1..=10).flat_map(|first| (1..=10).map(move |second| (first, second)))
}

/// The limits of both levels that cost least, where so many in 10,000 operations write, with
/// so many tombstones.
fn best(writes: u64, entries: u64, tombstones: u64) -> (u16, u16) {
    let (shape, tree) = (small_shape(), tree_of(4, tombstones));
    let structure = Structure::of(&shape, &tree).expect("levels");
    let cost = learned(&structure, &tree, writes, entries);
    let under = |(first, second): &(u16, u16)| {
        let cost = cost.under(&structure, &limits(*first, *second));
        cost.expect("seen")
    };
    let best = all_limits().min_by(|a, b| under(a).total_cmp(&under(b)));
    best.expect("limits")
}

#[test]
fn scans_of_several_lengths_tell_what_is_by_runs_and_what_by_entries() {
    let shape = small_shape();
    let mut cost = Cost::new(true);
    for number in 0..300u16 {
        let runs = 1 + number % 9;
        let tree = tree_of(runs, 0);
        let structure = Structure::of(&shape, &tree).expect("levels");
        let entries = [10, 100, 1_000][usize::from(number / 9 % 3)];
        let mission = mission(&structure, runs, 0, entries);
        cost.learn(&structure, &tree, &mission, &limits(1, 1), 0.0, None);
    }
    let found = cost.constants();
    for (at, truth) in [(SCANS, EACH), (SCAN_READS, READ), (PASSED, ENTRY)] {
        assert!((found[at] - truth).abs() < 0.1 * truth, "{at}: {found:?}");
    }
}

/// Ten runs in level 1 against one: a third of a short scan's time, nothing of a long one's.
#[test]
fn the_longer_scans_are_the_less_of_their_time_is_laid_to_runs() {
    let (shape, tree) = (small_shape(), tree_of(4, 0));
    let structure = Structure::of(&shape, &tree).expect("levels");
    let by_runs = |entries: u64| {
        let cost = learned(&structure, &tree, 5_000, entries);
        let under = |first: u16| cost.under(&structure, &limits(first, 1)).expect("seen");
        (under(10) / under(1), cost.constants()[SCAN_READS])
    };
    let ((short, _), (long, seek)) = (by_runs(10), by_runs(10_000));
    assert!(short > 1.2 && long < 1.05, "{short} {long}");
    // They tell nothing of what a seek takes.
    assert!((seek / PRIOR[SCAN_READS] - 1.0).abs() < 0.1, "{seek}");
}

#[test]
fn long_scans_want_one_run_where_versions_lie_and_short_ones_fewer_seeks() {
    let (short, long) = (best(9_500, 10, 0), best(9_500, 1_000, 0));
    assert!(short.1 > 1 && long.1 == 1, "{short:?} {long:?}");
    assert!(short.0 > 1 && long.0 >= short.0, "{short:?} {long:?}");
}

#[test]
fn tombstones_make_fewer_runs_worth_more() {
    let (without, with) = (best(9_500, 100, 0), best(9_500, 100, 10));
    assert!(without.1 > 1 && with.1 == 1, "{without:?} {with:?}");
}

#[test]
fn more_to_pass_never_costs_less_and_always_something_finite() {
    let (shape, plain, deleted) = (small_shape(), tree_of(4, 0), tree_of(4, 10));
    let plain = Structure::of(&shape, &plain).expect("levels");
    let deleted = Structure::of(&shape, &deleted).expect("levels");
    let mut cost = learned(&plain, &tree_of(4, 0), 5_000, 100);
    let seen = cost.seen.expect("seen");
    let mut under = |structure: &Structure<'_>, scanned: f64, (first, second): (u16, u16)| {
        cost.seen = Some(Seen { scanned, ..seen });
        let cost = cost.under(structure, &limits(first, second));
        cost.expect("seen")
    };
    for at in all_limits() {
        let mut last = 0.0;
        for scanned in [0.0, 1.0, 1e3, 1e6, 1e12] {
            let (one, other) = (under(&plain, scanned, at), under(&deleted, scanned, at));
            assert!(one > last && one <= other && other.is_finite(), "{at:?}");
            // What fewer runs in the deepest level are worth.
            let gain = one - under(&plain, scanned, (at.0, 1));
            let with_tombstones = other - under(&deleted, scanned, (at.0, 1));
            assert!(gain <= with_tombstones + 1e-9 * other, "{at:?} {scanned}");
            last = one;
        }
    }
}

/// Bit by bit: iterators that go on count nothing where no scan begins, nor do tombstones.
#[test]
fn where_nobody_scans_nothing_is_passed() {
    let spared = Scan {
        reads: 1.0,
        passed: 0.5,
    };
    let costs = |tombstones: u64, scan_entries: u64| {
        let (shape, tree) = (small_shape(), tree_of(4, tombstones));
        let structure = Structure::of(&shape, &tree).expect("levels");
        let mut cost = Cost::new(true).blurring(true);
        let mut mission = mission(&structure, 4, OPERATIONS, 0);
        mission.operations.scan_entries = scan_entries;
        for _ in 0..30 {
            cost.learn(&structure, &tree, &mission, &limits(4, 1), 0.0, None);
            cost.expect(10.0);
        }
        let under = |(first, second)| cost.under(&structure, &limits(first, second));
        let all: Vec<Option<f64>> = all_limits().map(under).collect();
        (all, cost.of_runs(LogicalLevel(2), 1.0, |_| spared))
    };
    assert_eq!(costs(0, 0), costs(10, 1_000_000));
}

/// They laid what the reads of a scan took to the scan itself.
#[test]
fn of_programs_that_told_no_reads_of_scans_only_what_had_none_is_taken_up() {
    let (shape, tree) = (small_shape(), tree_of(4, 0));
    let structure = Structure::of(&shape, &tree).expect("levels");
    let older = |writes: u64| {
        let mut cost = learned(&structure, &tree, writes, 100);
        cost.tells_reads = false;
        (cost.constants(), cost.translated().constants())
    };
    let (told, taken) = older(5_000);
    assert_ne!(told, PRIOR);
    assert_eq!(taken, PRIOR);
    let (told, taken) = older(OPERATIONS);
    assert_ne!(told, PRIOR);
    assert_eq!(taken, told);
}
