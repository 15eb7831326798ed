//! Merging for the reads' sake.
//!
//! A lower limit takes effect only as its level fills, which takes long where few
//! write and for ever where nobody does. So a level is merged by itself once reads
//! have lost as much by its surplus runs as the merge is expected to be felt. Those
//! are the runs over its limit, and all that a merge can spare while nobody writes.
//! Whatever comes after, that is at most twice what foresight would have paid for
//! this merge (the rule of renting skis), as far as the model is right.
//!
//! Where workloads are known to last, and reads would lose more in what is left of this
//! one than the merge is felt, it begins once a part of the price is lost: a quarter
//! more than foresight at best, five times as much where the workload turns at once
//! (Purohit, Svitkina and Kumar, NeurIPS 2018, with lambda = 1/4).
//!
//! A merge into the oldest run also spares scans what they pass in the level beside what they
//! return. Any other merge leaves that where it is, but for what its runs hold twice.
//!
//! What was reckoned holds for the workload that it was reckoned for. When that turns to
//! writes, a merge that is under way ends early: its remaining runs have to pay anew.

use super::cost::Cost;
use super::structure::Structure;
use crate::layout::LogicalLevel;
use crate::observation::Mission;
use crate::tuner::{Change, Question};

/// A smaller share of writes, against reads, is none.
const NO_WRITES: f64 = 0.01;

/// The part of a merge's price that is to be lost first, where it is expected to pay.
const EARLY: f64 = 0.25;

/// What reads have lost by each level's surplus runs since it last had fewer.
#[derive(Clone, Debug, Default)]
pub(super) struct Surplus {
    lost: Vec<Lost>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Lost {
    runs: f64,
    seconds: f64,
    /// Runs that a merge could spare when it was asked for; `None` when none is.
    asked: Option<f64>,
}

/// A merge of one level.
struct Merge {
    /// Runs that it would spare.
    fewer: f64,
    /// Those of them that are surplus.
    surplus: f64,
    /// Bytes that it would write.
    bytes: f64,
    /// Bytes that the oldest run would take in: scans pass them no more.
    hidden: f64,
}

impl Merge {
    /// The part of those that is due to surplus runs.
    fn hidden_by_surplus(&self) -> f64 {
        let share = if self.fewer > 0.0 {
            self.surplus / self.fewer
        } else {
            0.0
        };
        self.hidden * share
    }
}

impl Surplus {
    /// The level to merge now, if one has paid for it; so many missions are expected to
    /// follow like this one.
    pub fn after(&mut self, seen: &Question<'_>, cost: &Cost, follow: f64) -> Option<Change> {
        let deepest = seen.tree.deepest_occupied(&seen.shape.layout)?;
        let structure = Structure::of(seen.shape, seen.tree)?;
        let reads = seen.mission.operations.reads() as f64;
        let operations = reads + writes(seen.mission);
        self.lost.resize(usize::from(deepest.0), Lost::default());
        let mut most: Option<(f64, Change)> = None;
        for level in (1..=deepest.0).map(LogicalLevel) {
            let merge = merge(seen, level, deepest);
            let less = structure.passed(merge.hidden_by_surplus());
            let Some((saved, byte)) = cost.of_runs(level, merge.surplus, less) else {
                continue;
            };
            let lost = self.lose(level, merge.surplus, saved * operations);
            let price = merge.bytes * byte;
            let will_pay = saved * operations * follow >= price;
            let due = if will_pay { EARLY * price } else { price };
            let paid = merge.surplus > 0.0 && lost >= due;
            let rate = lost / price.max(1e-12);
            if paid && most.as_ref().is_none_or(|(best, _)| rate > *best) {
                let why = format!(
                    "reads have lost {lost:.1} s by {:.0} runs too many, a merge is felt for \
                     {price:.1} s",
                    merge.surplus
                );
                most = Some((rate, Change { level, why }));
            }
        }
        let (_, change) = most?;
        if let Some(lost) = self.lost.get_mut(usize::from(change.level.0) - 1) {
            lost.asked = Some(merge(seen, change.level, deepest).fewer);
        }
        Some(change)
    }

    /// Levels whose merge was asked for and is wanted no more: their runs are no surplus
    /// now, or the workload has just turned to one that writes. A merge that has spared
    /// runs is over.
    pub fn abandon(&mut self, seen: &Question<'_>, turned: bool) -> Vec<Change> {
        let Some(deepest) = seen.tree.deepest_occupied(&seen.shape.layout) else {
            return Vec::new();
        };
        let turned = turned && !nobody_writes(seen.mission);
        let mut abandoned = Vec::new();
        for (level, lost) in (1..).map(LogicalLevel).zip(&mut self.lost) {
            let merge = merge(seen, level, deepest);
            let Some(asked) = lost.asked else {
                continue;
            };
            if merge.fewer < asked {
                lost.asked = None;
            } else if turned || merge.surplus <= 0.0 {
                *lost = Lost {
                    runs: lost.runs,
                    ..Lost::default()
                };
                let why = if turned {
                    "the workload has turned, so that its runs must pay for it anew"
                } else {
                    "its limit allows its runs, now that somebody writes"
                };
                let why = why.to_owned();
                abandoned.push(Change { level, why });
            }
        }
        abandoned
    }

    fn lose(&mut self, level: LogicalLevel, runs: f64, seconds: f64) -> f64 {
        let lost = &mut self.lost[usize::from(level.0) - 1];
        if runs < lost.runs {
            lost.seconds = 0.0;
        }
        lost.runs = runs;
        lost.seconds += seconds;
        lost.seconds
    }
}

fn writes(mission: &Mission) -> f64 {
    mission.operations.writes as f64 + mission.operations.deletes as f64
}

fn nobody_writes(mission: &Mission) -> bool {
    let reads = mission.operations.reads() as f64;
    reads > 0.0 && writes(mission) <= NO_WRITES * reads
}

/// What a merge of a level would do: its runs go into the newest one below; without
/// one they become a run of their own.
fn merge(seen: &Question<'_>, level: LogicalLevel, deepest: LogicalLevel) -> Merge {
    let runs = |level| seen.tree.runs_of(&seen.shape.layout, level);
    let here = runs(level);
    let own: u64 = here.iter().map(|run| seen.tree.bytes(*run)).sum();
    let below = (level < deepest).then(|| runs(level.next()));
    let taker = below.as_ref().and_then(|runs| runs.first());
    let oldest = seen.tree.runs().next_back();
    let stays = here.last().filter(|run| Some(**run) == oldest);
    let hidden = match stays {
        Some(run) => own - seen.tree.bytes(*run),
        None if taker.copied() == oldest => own,
        None => 0,
    };
    let fewer = (here.len() - usize::from(taker.is_none() && !here.is_empty())) as f64;
    let over = here.len() as f64 - f64::from(seen.limits.get(level).get());
    let surplus = if nobody_writes(seen.mission) {
        fewer
    } else {
        over.clamp(0.0, fewer)
    };
    Merge {
        fewer,
        surplus,
        bytes: (own + taker.map_or(0, |run| seen.tree.bytes(*run))) as f64,
        hidden: hidden as f64,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::observation::{Latency, OperationMix};
    use crate::shape::{RunLimit, RunLimits};
    use crate::testing::{numbered_files, small_shape};
    use crate::tree::Tree;

    /// Runs of 100 bytes in level 1 over one of 20,000 bytes.
    fn tree(runs: u16) -> Tree {
        tree_over(runs, &[200])
    }

    /// The same over runs of so many files in level 2, the oldest first.
    fn tree_over(runs: u16, below: &[u64]) -> Tree {
        let layout = small_shape().layout;
        let mut levels = vec![Vec::new(); usize::from(layout.num_levels())];
        let [first, second] = [1, 2].map(|level| layout.span(LogicalLevel(level)).1);
        for run in 0..runs {
            levels[usize::from(first.0 - run)] = numbered_files(1);
        }
        for (at, files) in below.iter().enumerate() {
            levels[usize::from(second.0) - at] = numbered_files(*files);
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
            duration: Duration::from_secs(1),
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
        let shape = small_shape();
        let limits = RunLimits::uniform(RunLimit::clamped(limit));
        let mut cost = Cost::new(true);
        let structure = Structure::of(&shape, tree).expect("levels");
        cost.learn(&structure, tree, mission, &limits);
        let seen = Question {
            shape: &shape,
            tree,
            limits: &limits,
            mission,
        };
        let mut surplus = Surplus::default();
        (1..100).find_map(|at| Some((at, surplus.after(&seen, &cost, follow)?.level)))
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

    /// A merge that was asked for while nobody wrote, before missions of another kind.
    fn merging(limit: u16, then: &Mission, turned: bool) -> Vec<LogicalLevel> {
        let (shape, reads) = (small_shape(), mission(10, 0));
        let tree = tree(5);
        let limits = RunLimits::uniform(RunLimit::clamped(limit));
        let mut cost = Cost::new(true);
        let structure = Structure::of(&shape, &tree).expect("levels");
        cost.learn(&structure, &tree, &reads, &limits);
        let seen = Question {
            shape: &shape,
            tree: &tree,
            limits: &limits,
            mission: &reads,
        };
        let mut surplus = Surplus::default();
        let asked = (1..100).find_map(|_| surplus.after(&seen, &cost, 0.0));
        assert_eq!(asked.expect("some time").level, LogicalLevel(1));
        assert!(surplus.abandon(&seen, true).is_empty(), "nobody writes");
        let seen = Question {
            mission: then,
            ..seen
        };
        let abandoned = surplus.abandon(&seen, turned);
        assert!(surplus.abandon(&seen, turned).is_empty(), "it is said once");
        abandoned.into_iter().map(|it| it.level).collect()
    }

    #[test]
    fn a_merge_is_given_up_when_the_workload_turns() {
        let (reads, writes) = (mission(10, 0), mission(1, 9));
        let (one, none) = (vec![LogicalLevel(1)], Vec::new());
        assert_eq!(merging(10, &writes, true), one, "other runs, another price");
        assert_eq!(merging(1, &writes, true), one);
        assert_eq!(merging(10, &writes, false), one, "five runs are no surplus");
        assert_eq!(merging(1, &writes, false), none, "four are");
        assert_eq!(merging(1, &reads, true), none);
    }

    #[test]
    fn a_merge_that_is_done_is_not_given_up() {
        let (shape, reads, writes) = (small_shape(), mission(10, 0), mission(1, 9));
        let limits = RunLimits::uniform(RunLimit::clamped(10));
        let (before, after) = (tree(5), tree(0));
        let mut cost = Cost::new(true);
        let structure = Structure::of(&shape, &before).expect("levels");
        cost.learn(&structure, &before, &reads, &limits);
        let mut seen = Question {
            shape: &shape,
            tree: &before,
            limits: &limits,
            mission: &reads,
        };
        let mut surplus = Surplus::default();
        let asked = (1..100).find_map(|_| surplus.after(&seen, &cost, 0.0));
        assert!(asked.is_some());
        (seen.tree, seen.mission) = (&after, &writes);
        assert!(surplus.abandon(&seen, true).is_empty());
    }

    /// Scans that take as long as the model has it before it has learned anything.
    #[test]
    fn long_scans_pay_for_a_merge_by_what_they_pass_too() {
        let tree = tree_over(0, &[2_000, 1_000]);
        let after = |entries: u64| {
            let mut mission = mission(0, 0);
            mission.operations.scans = 1;
            mission.operations.scan_entries = entries;
            let (each, seek, passed) = (80, 60, entries * 3 / 2);
            mission.seek.mean = Duration::from_micros(each + 2 * seek + 5 * passed);
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
        let limits = RunLimits::uniform(RunLimit::ONE);
        let hidden = |tree: &Tree, level: u16, gets: u64, writes: u64| {
            let seen = Question {
                shape: &shape,
                tree,
                limits: &limits,
                mission: &mission(gets, writes),
            };
            let merge = merge(&seen, LogicalLevel(level), LogicalLevel(2));
            merge.hidden_by_surplus()
        };
        let (one, two) = (tree(5), tree_over(5, &[2_000, 1_000]));
        assert_eq!(hidden(&one, 1, 10, 0), 500.0);
        assert_eq!(hidden(&one, 1, 10, 10), 400.0, "four runs of five");
        assert_eq!(hidden(&one, 2, 10, 0), 0.0, "it is alone");
        assert_eq!(hidden(&two, 1, 10, 0), 0.0, "they go into a newer run");
        assert_eq!(hidden(&two, 2, 10, 0), 100_000.0);
    }

    #[test]
    fn with_writes_only_runs_over_the_limit_count() {
        assert_eq!(first(&tree(5), 5, &mission(10, 10)), None);
        let (at, level) = first(&tree(5), 1, &mission(10, 10)).expect("some time");
        assert_eq!(level, LogicalLevel(1));
        assert!(at >= first(&tree(5), 1, &mission(20, 0)).expect("some time").0);
    }
}
