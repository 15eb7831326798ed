use std::time::Duration;

use super::*;
use crate::observation::{Latency, OperationMix};
use crate::shape::{RunLimit, RunLimits};
use crate::testing::{numbered_files, small_shape};
use crate::tree::Tree;

/// Runs of 4,000 bytes in level 1 over one of 20,000 bytes.
fn tree(runs: u16) -> Tree {
    tree_over(runs, &[200])
}

/// The same over runs of so many files in level 2, the oldest first.
fn tree_over(runs: u16, below: &[u64]) -> Tree {
    tree_of(&vec![40; usize::from(runs)], below)
}

/// Runs of so many files in levels 1 and 2, the oldest first.
fn tree_of(first: &[u64], second: &[u64]) -> Tree {
    let layout = small_shape().layout;
    let mut levels = vec![Vec::new(); usize::from(layout.num_levels())];
    for (level, runs) in [(1, first), (2, second)] {
        let (_, last) = layout.span(LogicalLevel(level));
        for (at, files) in runs.iter().enumerate() {
            levels[usize::from(last.0) - at] = numbered_files(*files);
        }
    }
    Tree::new(levels).expect("runs")
}

fn mission(gets_found: u64, writes: u64) -> Mission {
    let latency = |count: u64| Latency {
        count,
        mean: Duration::from_micros(100),
        ..Latency::default()
    };
    Mission {
        // One client, who is always there.
        duration: Duration::from_micros(100) * (gets_found + writes) as u32,
        operations: OperationMix {
            gets_found,
            writes,
            ..OperationMix::default()
        },
        get: latency(gets_found),
        put: latency(writes),
        ..Mission::default()
    }
}

/// The model after one mission.
fn cost_after(mission: &Mission, tree: &Tree, limits: &RunLimits) -> Cost {
    let shape = small_shape();
    let structure = Structure::of(&shape, tree).expect("levels");
    let mut cost = Cost::new(true);
    cost.learn(&structure, tree, mission, limits);
    cost
}

/// The mission after which a level is to be merged, and which.
fn first(tree: &Tree, limit: u16, mission: &Mission) -> Option<(usize, LogicalLevel)> {
    first_before(tree, limit, mission, 0.0)
}

/// The same where so many missions are expected to follow.
fn first_before(
    tree: &Tree,
    limit: u16,
    mission: &Mission,
    follow: f64,
) -> Option<(usize, LogicalLevel)> {
    first_of(tree, limit, mission, true, follow)
}

fn first_of(
    tree: &Tree,
    limit: u16,
    mission: &Mission,
    sure: bool,
    follow: f64,
) -> Option<(usize, LogicalLevel)> {
    let shape = small_shape();
    let limits = RunLimits::uniform(RunLimit::clamped(limit));
    let cost = cost_after(mission, tree, &limits);
    let seen = Question {
        shape: &shape,
        tree,
        limits: &limits,
        mission,
    };
    let mut losses = Losses::default();
    let mut ask = || losses.after(&seen, &cost, sure, follow);
    (1..100).find_map(|at| Some((at, ask().first()?.change.level)))
}

#[test]
fn without_writes_a_level_is_merged_once_it_has_cost_as_much() {
    let (at, level) = first(&tree(5), 10, &mission(1, 0)).expect("some time");
    assert!(at > 1 && level == LogicalLevel(1), "{at} {level}");
    let sooner = first(&tree(5), 10, &mission(10, 0)).expect("some time").0;
    assert!(sooner < at, "{sooner} {at}");
    assert_eq!(first(&tree(0), 10, &mission(10, 0)), None, "one run");
}

#[test]
fn where_a_workload_is_known_to_last_a_merge_comes_sooner() {
    let mission = mission(1, 0);
    let (at, _) = first(&tree(5), 10, &mission).expect("some time");
    let long = first_before(&tree(5), 10, &mission, 2.0 * at as f64);
    let short = first_before(&tree(5), 10, &mission, 0.5);
    assert_eq!(long, Some((at.div_ceil(4), LogicalLevel(1))));
    assert_eq!(short, Some((at, LogicalLevel(1))));
}

/// The same operations in twice the time: a merge is felt for half as long, and half of that is
/// to be lost first.
#[test]
fn where_hardly_anybody_is_there_a_merge_comes_much_sooner() {
    let busy = mission(1, 0);
    let quiet = Mission {
        duration: busy.duration * 2,
        ..busy.clone()
    };
    let first = |mission| first(&tree(5), 10, mission).expect("some time").0;
    let (busy, quiet) = (first(&busy), first(&quiet));
    assert!(busy > 4, "{busy}");
    assert_eq!(quiet, busy.div_ceil(4));
}

#[test]
fn while_somebody_writes_nothing_is_merged_before_the_workload_is_known() {
    let (tree, writes, reads) = (tree(5), mission(10, 10), mission(10, 0));
    let first = |mission: &Mission, sure: bool| {
        let found = first_of(&tree, 2, mission, sure, 0.0);
        found.map(|(_, level)| level)
    };
    let one = Some(LogicalLevel(1));
    assert_eq!([true, false].map(|sure| first(&reads, sure)), [one; 2]);
    assert_eq!([true, false].map(|sure| first(&writes, sure)), [one, None]);
}

/// Asks while nobody writes until level 1 is to be merged.
fn asked(seen: &Question<'_>) -> Losses {
    let cost = cost_after(seen.mission, seen.tree, seen.limits);
    let mut losses = Losses::default();
    let mut ask = || losses.after(seen, &cost, true, 0.0).into_iter().next();
    let asked = (1..100).find_map(|_| ask());
    assert_eq!(asked.expect("some time").change.level, LogicalLevel(1));
    losses
}

/// A merge that was asked for while nobody wrote, before missions of another kind.
fn merging(limit: u16, then: &Mission, turned: bool) -> Vec<LogicalLevel> {
    let (shape, reads) = (small_shape(), mission(10, 0));
    let tree = tree(5);
    let limits = RunLimits::uniform(RunLimit::clamped(limit));
    let seen = Question {
        shape: &shape,
        tree: &tree,
        limits: &limits,
        mission: &reads,
    };
    let mut losses = asked(&seen);
    let abandoned = |losses: &mut Losses, seen: &Question<'_>, turned: bool| {
        let ended = losses.end(seen, turned);
        assert_eq!(ended.written, 0.0, "nothing is over");
        ended.abandoned
    };
    assert!(
        abandoned(&mut losses, &seen, true).is_empty(),
        "nobody writes"
    );
    let seen = Question {
        mission: then,
        ..seen
    };
    let given_up = abandoned(&mut losses, &seen, turned);
    assert!(
        abandoned(&mut losses, &seen, turned).is_empty(),
        "it is said once"
    );
    given_up.into_iter().map(|it| it.level).collect()
}

/// Level 1 has 16 runs of 4,000 bytes, more than it should hold: it is drained anyway.
#[test]
fn the_drain_of_a_full_level_is_wanted_too_and_costs_nothing_beside() {
    let (shape, tree, reads) = (small_shape(), tree(16), mission(10, 1));
    let limits = RunLimits::uniform(RunLimit::clamped(10));
    assert!(tree.total_bytes() - 20_000 >= shape.full_at(LogicalLevel(1)));
    let seen = Question {
        shape: &shape,
        tree: &tree,
        limits: &limits,
        mission: &reads,
    };
    let mut losses = asked(&seen);
    let drained = Question {
        tree: &self::tree(0),
        ..seen
    };
    assert_eq!(losses.end(&drained, false).written, 0.0);
}

/// Of what needs the same level only what is most urgent.
#[test]
fn what_goes_down_into_a_level_that_is_wanted_itself_waits() {
    let shape = small_shape();
    let limits = RunLimits::uniform(RunLimit::clamped(10));
    let reads = mission(10, 0);
    let wanted = |first: &[u64]| {
        let tree = tree_of(first, &[20, 20, 20]);
        let cost = cost_after(&reads, &tree, &limits);
        let seen = Question {
            shape: &shape,
            tree: &tree,
            limits: &limits,
            mission: &reads,
        };
        let mut losses = Losses::default();
        let asked = (0..10_000)
            .map(|_| losses.after(&seen, &cost, true, 0.0))
            .last();
        let levels = asked.expect("some").into_iter();
        let mut levels: Vec<_> = levels.map(|it| (it.change.level.0, it.goes_down)).collect();
        levels.sort_unstable();
        levels
    };
    assert_eq!(wanted(&[4, 4]), [(1, false), (2, false)]);
    assert_eq!(wanted(&[20]).len(), 1);
}

#[test]
fn a_merge_is_given_up_when_the_workload_turns() {
    let (reads, writes) = (mission(10, 0), mission(1, 9));
    let (one, none) = (vec![LogicalLevel(1)], Vec::new());
    assert_eq!(merging(10, &writes, true), one, "other runs, another price");
    assert_eq!(merging(1, &writes, true), one);
    assert_eq!(
        merging(10, &writes, false),
        none,
        "it is not known to have turned"
    );
    assert_eq!(merging(1, &reads, true), none);
}

#[test]
fn a_merge_that_is_done_is_not_given_up() {
    let (shape, reads, writes) = (small_shape(), mission(10, 0), mission(1, 9));
    let limits = RunLimits::uniform(RunLimit::clamped(10));
    let (before, after) = (tree(5), tree(0));
    let mut seen = Question {
        shape: &shape,
        tree: &before,
        limits: &limits,
        mission: &reads,
    };
    let mut losses = asked(&seen);
    (seen.tree, seen.mission) = (&after, &writes);
    assert!(losses.end(&seen, true).abandoned.is_empty());
}

/// A level of one run gets another in its place: reads have lost nothing by that one yet.
#[test]
fn the_run_after_a_merged_one_pays_anew() {
    let (shape, reads) = (small_shape(), mission(10, 1));
    let limits = RunLimits::uniform(RunLimit::ONE);
    let (before, mut after) = (tree(1), tree(1));
    let run = after.runs().next().expect("a run");
    let mut files = after.files(run).to_vec();
    files.iter_mut().for_each(|file| file.number += 1_000);
    after.replace(run, files).expect("legal");
    let cost = cost_after(&reads, &before, &limits);
    let asked_after = |losses: &mut Losses, tree: &Tree| {
        let seen = Question {
            shape: &shape,
            tree,
            limits: &limits,
            mission: &reads,
        };
        losses.end(&seen, false);
        let mut ask = || losses.after(&seen, &cost, true, 0.0);
        (1..100).find(|_| !ask().is_empty())
    };
    let mut losses = Losses::default();
    let first = asked_after(&mut losses, &before).expect("some time");
    assert!(first > 1);
    assert_eq!(asked_after(&mut losses, &before), Some(1), "it goes on");
    assert_eq!(asked_after(&mut losses, &after), Some(first), "another run");
}

/// Scans that take as long as the model has it before it has learned anything.
#[test]
fn long_scans_pay_for_a_merge_by_what_they_pass_too() {
    let tree = tree_over(0, &[2_000, 1_000]);
    let after = |entries: u64| {
        let mut mission = mission(0, 0);
        mission.operations.scans = 1;
        mission.operations.scan_entries = entries;
        let (each, read, passed) = (80, 45, entries * 3 / 2);
        mission.seek.mean = Duration::from_micros(each + 2 * read + 2 * passed);
        let (at, level) = first(&tree, 1, &mission).expect("some time");
        assert_eq!(level, LogicalLevel(2));
        at
    };
    let (short, long) = (after(10), after(100));
    assert!(2 * long < short, "{long} {short}");
}

#[test]
fn only_what_comes_into_the_oldest_run_is_passed_no_more() {
    let shape = small_shape();
    let limits = RunLimits::uniform(RunLimit::clamped(2));
    let hidden = |tree: &Tree, level: u16, gets: u64, writes: u64| {
        let seen = Question {
            shape: &shape,
            tree,
            limits: &limits,
            mission: &mission(gets, writes),
        };
        let structure = Structure::of(&shape, tree).expect("levels");
        let merge = merge(&seen, LogicalLevel(level), LogicalLevel(2));
        (merge.spares(&structure, 0.0).passed * structure.data()).round()
    };
    let (one, two) = (tree(1), tree_over(1, &[2_000, 1_000]));
    assert_eq!(hidden(&one, 1, 10, 0), 4_000.0);
    assert_eq!(hidden(&one, 2, 10, 0), 0.0, "it is alone");
    let small = tree_of(&[5; 5], &[200]);
    assert_eq!(hidden(&small, 1, 10, 0), 0.0, "they stay in their level");
    assert_eq!(
        hidden(&tree(5), 1, 10, 0),
        20_000.0,
        "a full level is drained"
    );
    assert_eq!(hidden(&two, 1, 10, 0), 0.0, "it goes into a newer run");
    assert_eq!(hidden(&two, 2, 10, 0), 100_000.0);
    let three = tree_over(0, &[2_000, 500, 500]);
    assert_eq!(hidden(&three, 2, 10, 10), 100_000.0, "both");
}

/// A run that holds all that a scan returns takes fewer reads than two that share it.
#[test]
fn a_merge_spares_scans_the_reads_of_the_runs_that_become_one() {
    let (shape, limits) = (small_shape(), RunLimits::uniform(RunLimit::ONE));
    let spared = |below: &[u64], entries: f64| {
        let tree = tree_over(0, below);
        let seen = Question {
            shape: &shape,
            tree: &tree,
            limits: &limits,
            mission: &mission(10, 0),
        };
        let structure = Structure::of(&shape, &tree).expect("levels");
        let merge = merge(&seen, LogicalLevel(2), LogicalLevel(2));
        merge.spares(&structure, entries).reads
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
        ..mission(20, 2)
    }
}

/// Whatever its limit is: runs that a level may have are merged where reads pay for it.
#[test]
fn a_level_is_merged_under_any_limit_once_reads_have_paid() {
    let at = [1, 2, 5, 10].map(|limit| first(&tree(5), limit, &mission(2, 1)));
    assert!(at[0].is_some_and(|(at, level)| at > 1 && level == LogicalLevel(1)));
    assert_eq!(at, [at[0]; 4]);
    let many = first(&tree(5), 5, &mission(2, 10)).expect("some time").0;
    assert!(at[0].expect("some time").0 <= many, "{many}");
    assert_eq!(first(&tree(0), 1, &mission(2, 1)), None, "the data itself");
}

/// Level 1, which is full at 3,800 bytes, holds two runs of 500.
#[test]
fn nothing_is_merged_that_is_drained_before_it_pays() {
    let tree = tree_of(&[5, 5], &[200]);
    let lasts = |bytes: u64| {
        let (shape, mission) = (small_shape(), writing(bytes));
        let seen = Question {
            shape: &shape,
            tree: &tree,
            limits: &RunLimits::uniform(RunLimit::ONE),
            mission: &mission,
        };
        merge(&seen, LogicalLevel(1), LogicalLevel(2)).lasts
    };
    assert!(lasts(0).is_infinite());
    assert_eq!([1, 1_000].map(lasts), [2_800.0, 2.8]);
    let at = |bytes: u64| first(&tree, 5, &writing(bytes));
    assert!(at(0).is_some() && at(1).is_some());
    assert_eq!(at(1 << 20), None);
}

/// A level that is nearly full is drained soon anyway: of the price of doing it now hardly anything
/// is lost. Once it is full only how soon can be chosen, and the whole is felt.
#[test]
fn a_drain_that_would_soon_come_is_cheap() {
    let shape = small_shape();
    let limits = RunLimits::uniform(RunLimit::ONE);
    let extra = |files: u64, mission: &Mission| {
        let tree = tree_of(&[files], &[200]);
        let seen = Question {
            shape: &shape,
            tree: &tree,
            limits: &limits,
            mission,
        };
        merge(&seen, LogicalLevel(1), LogicalLevel(2)).extra
    };
    let full = shape.full_at(LogicalLevel(1)) / 100;
    let (none, some) = (mission(20, 0), writing(100));
    assert!(extra(full - 1, &some) < 0.03);
    assert_eq!(extra(full, &some), 1.0);
    let half = extra(full / 2, &some);
    assert!((0.4..0.6).contains(&half), "{half}");
    assert_eq!(
        extra(full - 1, &none),
        1.0,
        "nobody writes: it would never come"
    );
}

/// What reads had merged is told once, so that it counts as no rewrite of what came in.
#[test]
fn bytes_of_a_merge_that_is_over_are_told_once() {
    let (shape, reads) = (small_shape(), mission(10, 0));
    let limits = RunLimits::uniform(RunLimit::clamped(10));
    let (before, after) = (tree_of(&[5; 5], &[200]), tree(0));
    let mut seen = Question {
        shape: &shape,
        tree: &before,
        limits: &limits,
        mission: &reads,
    };
    let mut losses = asked(&seen);
    assert_eq!(losses.end(&seen, false).written, 0.0, "it goes on");
    seen.tree = &after;
    assert_eq!(losses.end(&seen, false).written, 2_500.0);
    assert_eq!(losses.end(&seen, false).written, 0.0);
}
