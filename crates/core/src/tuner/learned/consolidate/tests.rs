mod credit;
mod over;
mod price;

use std::time::Duration;

use super::*;
use crate::observation::{Latency, LevelMission, OperationMix};
use crate::shape::{RunLimit, RunLimits, Shape};
use crate::testing::{numbered_files, small_shape};
use crate::tree::Tree;

/// Nothing bounds what merges may write.
fn free() -> Budget {
    Budget::new(None)
}

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

/// A level of 40,000 bytes, which are all it has room for, over one of 100,000.
fn tree_of_full_level2() -> Tree {
    let layout = small_shape().layout;
    let mut levels = vec![Vec::new(); usize::from(layout.num_levels())];
    for (level, files) in [(2, 400), (3, 1_000)] {
        levels[usize::from(layout.span(LogicalLevel(level)).1.0)] = numbered_files(files);
    }
    Tree::new(levels).expect("runs")
}

/// What the learner is asked about: a tree under one limit everywhere, after a mission.
#[derive(Clone)]
struct Scene {
    shape: Shape,
    tree: Tree,
    limits: RunLimits,
    refused: Vec<LogicalLevel>,
    mission: Mission,
}

impl Scene {
    fn of(tree: Tree, limit: u16, mission: Mission) -> Scene {
        Scene {
            shape: small_shape(),
            tree,
            limits: RunLimits::uniform(RunLimit::clamped(limit)),
            refused: Vec::new(),
            mission,
        }
    }

    fn question(&self) -> Question<'_> {
        Question {
            shape: &self.shape,
            tree: &self.tree,
            limits: &self.limits,
            refused: &self.refused,
            mission: &self.mission,
        }
    }

    fn structure(&self) -> Structure<'_> {
        Structure::of(&self.shape, &self.tree).expect("levels")
    }

    /// The model after one such mission.
    fn cost(&self) -> Cost {
        let mut cost = Cost::new(true);
        cost.learn(
            &self.structure(),
            &self.tree,
            &self.mission,
            &self.limits,
            0.0,
            None,
        );
        cost
    }

    /// What a merge of a level would do.
    fn merge(&self, level: u16, deepest: u16) -> Merge {
        let (level, deepest) = (LogicalLevel(level), LogicalLevel(deepest));
        merge(&self.question(), level, deepest, 1.0)
    }

    /// The mission after which a level is to be merged, and which.
    fn first(&self) -> Option<(usize, LogicalLevel)> {
        self.first_before(true, 0.0)
    }

    /// The same where so many missions are expected to follow, and the workload is known or not.
    fn first_before(&self, sure: bool, follow: f64) -> Option<(usize, LogicalLevel)> {
        let (cost, mut losses) = (self.cost(), Losses::default());
        let mut ask = || losses.after(&self.question(), &cost, &free(), sure, follow);
        (1..100).find_map(|at| Some((at, ask().merges.first()?.change.level)))
    }

    /// Levels whose merge is wanted no more, where so many missions are expected to follow.
    fn end(&self, losses: &mut Losses, turned: bool, follow: f64) -> Vec<LogicalLevel> {
        let ended = losses.end(&self.question(), &self.cost(), turned, follow);
        ended.into_iter().map(|it| it.level).collect()
    }

    /// Asks until a level is to be merged, which is level 1.
    fn asked(&self) -> Losses {
        let mut losses = Losses::default();
        self.ask_again(&mut losses);
        losses
    }

    /// The same of one who was asked before, and after how many missions.
    fn ask_again(&self, losses: &mut Losses) -> (usize, Wanted) {
        let cost = self.cost();
        let mut ask = || losses.after(&self.question(), &cost, &free(), true, 0.0);
        let asked = (1..100).find_map(|at| Some((at, ask().merges.into_iter().next()?)));
        let asked = asked.expect("some time");
        assert_eq!(asked.1.change.level, LogicalLevel(1));
        asked
    }
}

#[test]
fn without_writes_a_level_is_merged_once_it_has_cost_as_much() {
    let first = |runs: u16, gets: u64| Scene::of(tree(runs), 10, mission(gets, 0)).first();
    let (at, level) = first(5, 1).expect("some time");
    assert!(at > 1 && level == LogicalLevel(1), "{at} {level}");
    let sooner = first(5, 10).expect("some time").0;
    assert!(sooner < at, "{sooner} {at}");
    assert_eq!(first(0, 10), None, "one run");
}

#[test]
fn where_a_workload_is_known_to_last_a_merge_comes_sooner() {
    let scene = Scene::of(tree(5), 10, mission(1, 0));
    let (at, _) = scene.first().expect("some time");
    let long = scene.first_before(true, 2.0 * at as f64);
    let short = scene.first_before(true, 0.5);
    assert_eq!(long, Some((at.div_ceil(4), LogicalLevel(1))));
    assert_eq!(short, Some((at, LogicalLevel(1))));
}

/// The same operations in twice the time: a merge is felt for half as long, and that is to be
/// lost first. It is charged as where somebody is there for a quarter of the time at least.
#[test]
fn where_hardly_anybody_is_there_a_merge_comes_sooner_but_not_for_nothing() {
    let first = |times_as_long: u32| {
        let busy = mission(1, 0);
        let quiet = Mission {
            duration: busy.duration * times_as_long,
            ..busy
        };
        Scene::of(tree(5), 10, quiet).first().expect("some time").0
    };
    let busy = first(1);
    assert!(busy > 4, "{busy}");
    assert_eq!([2, 4].map(first), [busy.div_ceil(2), busy.div_ceil(4)]);
    assert_eq!([8, 100].map(first), [first(4); 2]);
}

#[test]
fn while_somebody_writes_nothing_is_merged_before_the_workload_is_known() {
    let first = |writes: u64, sure: bool| {
        let scene = Scene::of(tree(5), 2, mission(10, writes));
        scene.first_before(sure, 0.0).map(|(_, level)| level)
    };
    let one = Some(LogicalLevel(1));
    assert_eq!([true, false].map(|sure| first(0, sure)), [one; 2]);
    assert_eq!([true, false].map(|sure| first(10, sure)), [one, None]);
}

/// A merge that was asked for while nobody wrote, before missions of another kind.
fn merging(limit: u16, then: &Mission, turned: bool) -> Vec<LogicalLevel> {
    let reads = Scene::of(tree(5), limit, mission(10, 0));
    let mut losses = reads.asked();
    let mut abandoned = |scene: &Scene, turned: bool| scene.end(&mut losses, turned, 0.0);
    assert!(abandoned(&reads, true).is_empty(), "nobody writes");
    let then = Scene {
        mission: then.clone(),
        ..reads
    };
    let given_up = abandoned(&then, turned);
    assert!(abandoned(&then, turned).is_empty(), "it is said once");
    given_up
}

/// Level 1 has 16 runs of 4,000 bytes, more than it should hold: it is drained anyway.
#[test]
fn the_drain_of_a_full_level_is_wanted_too() {
    let full = Scene::of(tree(16), 10, mission(10, 1));
    assert!(full.tree.total_bytes() - 20_000 >= full.shape.full_at(LogicalLevel(1)));
    let (_, wanted) = full.ask_again(&mut Losses::default());
    assert!(wanted.goes_down);
}

/// Its drain has given down a part, so that it is full no more: reads have lost by its runs what
/// they have, and these are a merge like any other from now on.
#[test]
fn what_reads_have_lost_by_a_full_level_counts_once_it_is_full_no_more() {
    let after = |losses: &mut Losses| {
        let rest = Scene::of(tree_of(&[18; 2], &[200]), 10, mission(1, 0));
        let (at, wanted) = rest.ask_again(losses);
        assert!(!wanted.goes_down);
        at
    };
    let full = Scene::of(tree_of(&[40; 2], &[200]), 10, mission(1, 0));
    let anew = after(&mut Losses::default());
    assert!(anew > 1, "{anew}");
    assert_eq!(after(&mut full.asked()), 1);
}

/// Of what needs the same level only what is most urgent.
#[test]
fn what_goes_down_into_a_level_that_is_wanted_itself_waits() {
    let wanted = |first: &[u64]| {
        let scene = Scene::of(tree_of(first, &[20, 20, 20]), 10, mission(10, 0));
        let (cost, mut losses) = (scene.cost(), Losses::default());
        let asked = (0..10_000)
            .map(|_| losses.after(&scene.question(), &cost, &free(), true, 0.0))
            .last();
        let levels = asked.expect("some").merges.into_iter();
        let mut levels: Vec<_> = levels.map(|it| (it.change.level.0, it.goes_down)).collect();
        levels.sort_unstable();
        levels
    };
    assert_eq!(wanted(&[4, 4]), [(1, false), (2, false)]);
    assert_eq!(wanted(&[20]).len(), 1);
    assert_eq!(wanted(&[20, 20]).len(), 1, "full: it is drained");
}

/// Level 1 wants to go down into level 2, which wants to become one run before that.
#[test]
fn what_is_refused_bars_no_neighbour_and_is_told_once() {
    let scene = Scene::of(tree_of(&[20], &[20, 20, 20]), 10, mission(10, 0));
    let cost = scene.cost();
    let first = |losses: &mut Losses| {
        let mut ask = || losses.after(&scene.question(), &cost, &free(), true, 0.0);
        let mut each = (0..100_000).map(|_| ask().merges);
        let wanted = each.find(|it| !it.is_empty());
        let wanted = wanted.expect("some time").into_iter();
        wanted.map(|it| it.change.level).collect::<Vec<_>>()
    };
    let mut losses = Losses::default();
    let below = vec![LogicalLevel(2)];
    assert_eq!(first(&mut losses), below);
    assert_eq!(first(&mut losses), below, "until it is over");
    let refused = Scene {
        refused: below,
        ..scene.clone()
    };
    let mut told = || refused.end(&mut losses, false, 0.0).len();
    assert_eq!([told(), told()], [1, 0]);
    assert_eq!(first(&mut losses), [LogicalLevel(1)]);
}

#[test]
fn what_is_refused_must_pay_twice_as_much() {
    let scene = Scene::of(tree(5), 10, mission(1, 0));
    let refused = Scene {
        refused: vec![LogicalLevel(1)],
        ..scene.clone()
    };
    let mut losses = Losses::default();
    let mut paid = || {
        let (at, _) = scene.ask_again(&mut losses);
        assert_eq!(refused.end(&mut losses, false, 0.0), [LogicalLevel(1)]);
        at
    };
    let [once, twice, four_times] = [paid(), paid(), paid()];
    assert!(once > 4 && (2 * once - 1..=2 * once).contains(&twice));
    assert!((2 * twice - 1..=2 * twice).contains(&four_times));
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

/// The next workload reads and writes, and each mission brings so many bytes into level 1, which
/// lacks 200. Returns the losses once it has come, and whether the merge was given up.
fn turned_to_reads_and_writes(bytes: u64, follow: f64) -> (Scene, Losses, bool) {
    let before = Scene::of(tree_of(&[18; 2], &[200]), 10, mission(1, 0));
    let mut losses = before.asked();
    let then = Mission {
        user_write_bytes: bytes,
        flush_write_bytes: bytes,
        ..mission(1, 1)
    };
    let then = Scene {
        mission: then,
        ..before
    };
    let given_up = then.end(&mut losses, true, follow);
    (then, losses, !given_up.is_empty())
}

#[test]
fn a_merge_that_pays_under_the_next_workload_goes_on_with_what_was_lost() {
    let (then, mut losses, given_up) = turned_to_reads_and_writes(1, 1e6);
    assert!(!given_up);
    assert_eq!(then.ask_again(&mut losses).0, 1);
    let (then, mut losses, given_up) = turned_to_reads_and_writes(1, 0.0);
    assert!(given_up, "nobody knows how long it lasts");
    assert!(then.ask_again(&mut losses).0 > 1, "it pays anew");
    let (.., given_up) = turned_to_reads_and_writes(1, 0.1);
    assert!(given_up, "it lasts for too short");
    let (.., given_up) = turned_to_reads_and_writes(10_000, 1e6);
    assert!(given_up, "the level is soon drained anyway");
}

#[test]
fn a_merge_that_is_done_is_not_given_up() {
    let before = Scene::of(tree(5), 10, mission(10, 0));
    let mut losses = before.asked();
    let after = Scene::of(tree(0), 10, mission(1, 9));
    assert!(after.end(&mut losses, true, 0.0).is_empty());
}

/// A mission in which a merge of level 1 for the reads' sake wrote so many bytes.
fn merging_for_reads(bytes: u64) -> Mission {
    Mission {
        levels: vec![LevelMission {
            for_reads_write_bytes: bytes,
            ..LevelMission::default()
        }],
        ..mission(10, 0)
    }
}

/// While it goes on, when it is over, and when it was given up and its last pieces end.
#[test]
fn what_a_merge_of_one_level_writes_is_no_rewrite_of_what_came_in() {
    let before = Scene::of(tree_of(&[5; 5], &[200]), 10, mission(10, 0));
    let writes = Scene::of(before.tree.clone(), 10, mission(1, 9));
    let piece = merging_for_reads(500);
    let mut losses = before.asked();
    assert_eq!(losses.wrote(&piece), 500.0);
    assert_eq!(losses.wrote(&writes.mission), 0.0);
    assert_eq!(writes.end(&mut losses, true, 0.0), [LogicalLevel(1)]);
    assert_eq!(losses.wrote(&piece), 500.0);
    assert_eq!(Losses::default().wrote(&piece), 0.0, "nobody asked for it");
}

/// As long as one run each is all that it and the deepest level may have.
#[test]
fn a_full_level_that_gives_up_pieces_owes_no_drain_and_spares_none() {
    let writes = Mission {
        user_write_bytes: 1_000,
        flush_write_bytes: 1_000,
        ..mission(10, 1)
    };
    let of = |limit: u16| {
        let scene = Scene::of(tree_of_full_level2(), limit, writes.clone());
        let merge = scene.merge(2, 3);
        (merge.owed, merge.extra, merge.counts(100.0, 0.0))
    };
    assert_eq!(of(1), (false, 1.0, 4.0), "until the next 4,000 come in");
    assert_eq!(of(2), (true, 1.0, 100.0));
}

/// Of a level, where of each thousand bytes that users write so many come in.
#[test]
fn a_level_fills_by_what_is_stored() {
    let lasts = |stored: u64| {
        let writes = Mission {
            user_write_bytes: 1_000_000,
            flush_write_bytes: 1_000 * stored,
            ..mission(10, 1)
        };
        let scene = Scene::of(tree_of(&[20], &[200]), 10, writes);
        let mut cost = scene.cost();
        for _ in 0..100 {
            let (tree, limits) = (&scene.tree, &scene.limits);
            cost.learn(&scene.structure(), tree, &scene.mission, limits, 0.0, None);
        }
        let (level, deepest) = (LogicalLevel(1), LogicalLevel(2));
        merge(&scene.question(), level, deepest, cost.stored()).lasts
    };
    assert!((lasts(250) / lasts(1_000) - 4.0).abs() < 0.1);
}
