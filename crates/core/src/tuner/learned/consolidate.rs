//! Merging for the reads' sake.
//!
//! A lower limit takes effect only as its level fills, which takes long where few
//! write and for ever where nobody does. So a level is merged by itself once reads
//! have lost as much by its surplus runs as the merge is expected to be felt. Those
//! are the runs over its limit; where that is one, and while nobody writes, all that a
//! merge can spare: a limit of one says that reads want fewer runs than limits can give,
//! and a level that is drained before it is full is none until it gets its next run.
//! Whatever comes after, that is at most twice what foresight would have paid for
//! this merge (the rule of renting skis), as far as the model is right.
//!
//! Where workloads are known to last, and reads would lose more in what is left of this
//! one than the merge is felt, it begins once a part of the price is lost: a quarter
//! more than foresight at best, five times as much where the workload turns at once
//! (Purohit, Svitkina and Kumar, NeurIPS 2018, with lambda = 1/4).
//!
//! The runs of a level become one of that level, which rewrites no more than they hold. Into
//! the next level goes only a single run: that spares one, and rewrites a run several times as
//! large.
//!
//! A merge into the oldest run also spares scans what they pass in the level beside what they
//! return. Any other merge leaves that where it is, but for what its runs hold twice.
//!
//! What was reckoned holds for the workload that it was reckoned for. When that turns to
//! writes, a merge that is under way ends early: its remaining runs have to pay anew.

use super::cost::{Cost, Scan};
use super::structure::Structure;
use crate::layout::LogicalLevel;
use crate::observation::Mission;
use crate::shape::{RunLimit, RunLimits};
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
    asked: Option<Asked>,
}

/// A level whose merge is asked for, as it was then.
#[derive(Clone, Copy, Debug)]
struct Asked {
    /// Runs of the level.
    runs: usize,
    /// The highest number of its files.
    newest: u64,
}

impl Asked {
    /// Whether the merge is over: it has spared runs, or others have come in their place.
    fn is_over(&self, now: &Merge) -> bool {
        now.runs < self.runs || now.first > self.newest
    }
}

/// A level to merge.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub change: Change,
    /// Its only run goes into the next level; otherwise its runs become one.
    pub goes_down: bool,
}

/// A merge of one level.
struct Merge {
    /// Runs of the level.
    runs: usize,
    /// Runs that it would spare.
    fewer: f64,
    /// Those of them that are surplus.
    surplus: f64,
    /// Bytes that the oldest run would take in: scans pass them no more.
    hidden: f64,
    /// Bytes of each run that it merges, and rewrites.
    sizes: Vec<f64>,
    /// The lowest and the highest number of the level's files.
    first: u64,
    newest: u64,
}

impl Merge {
    /// Bytes that it would write.
    fn bytes(&self) -> f64 {
        self.sizes.iter().sum()
    }

    /// What it would spare a scan of so many entries, as far as it is due to surplus runs.
    fn spares(&self, structure: &Structure<'_>, entries: f64) -> Scan {
        let share = if self.fewer > 0.0 {
            self.surplus / self.fewer
        } else {
            0.0
        };
        let reads = |bytes: f64| structure.reads(bytes, entries);
        let apart: f64 = self.sizes.iter().map(|bytes| reads(*bytes)).sum();
        Scan {
            reads: share * (apart - reads(self.bytes())).max(0.0),
            passed: structure.passed(self.hidden * share),
        }
    }
}

impl Surplus {
    /// The level to merge now, if one has paid for it; so many missions are expected to
    /// follow like this one. `allowed` are limits that will stay. While somebody writes nothing
    /// is merged before they are known, for what is surplus under some limits may be none
    /// under the next.
    pub fn after(
        &mut self,
        seen: &Question<'_>,
        cost: &Cost,
        allowed: Option<&RunLimits>,
        follow: f64,
    ) -> Option<Wanted> {
        let deepest = seen.tree.deepest_occupied(&seen.shape.layout)?;
        let structure = Structure::of(seen.shape, seen.tree)?;
        let reads = seen.mission.operations.reads() as f64;
        let operations = reads + writes(seen.mission);
        self.lost.resize(usize::from(deepest.0), Lost::default());
        let may_merge = allowed.is_some() || nobody_writes(seen.mission);
        let allowed = allowed.unwrap_or(seen.limits);
        let mut most: Option<(f64, Asked, Wanted)> = None;
        for level in (1..=deepest.0).map(LogicalLevel) {
            let merge = merge(seen, allowed, level, deepest);
            let spared = |entries: f64| merge.spares(&structure, entries);
            let Some((saved, byte)) = cost.of_runs(level, merge.surplus, spared) else {
                continue;
            };
            let lost = self.lose(level, merge.surplus, saved * operations);
            let price = merge.bytes() * byte;
            let will_pay = saved * operations * follow >= price;
            let due = if will_pay { EARLY * price } else { price };
            let paid = may_merge && merge.surplus > 0.0 && lost >= due;
            let rate = lost / price.max(1e-12);
            if paid && most.as_ref().is_none_or(|(best, ..)| rate > *best) {
                let why = format!(
                    "reads have lost {lost:.1} s by {:.0} runs too many, a merge is felt for \
                     {price:.1} s",
                    merge.surplus
                );
                let Merge { runs, newest, .. } = merge;
                let wanted = Wanted {
                    change: Change { level, why },
                    goes_down: runs == 1,
                };
                most = Some((rate, Asked { runs, newest }, wanted));
            }
        }
        let (_, asked, wanted) = most?;
        let level = wanted.change.level;
        let lost = self.lost.get_mut(usize::from(level.0) - 1)?;
        lost.asked.get_or_insert(asked);
        Some(wanted)
    }

    /// Levels whose merge was asked for and is wanted no more: their runs are no surplus
    /// under these limits, or the workload has just turned to one that writes. A merge that
    /// has spared runs is over.
    pub fn abandon(
        &mut self,
        seen: &Question<'_>,
        allowed: &RunLimits,
        turned: bool,
    ) -> Vec<Change> {
        let Some(deepest) = seen.tree.deepest_occupied(&seen.shape.layout) else {
            return Vec::new();
        };
        let turned = turned && !nobody_writes(seen.mission);
        let mut abandoned = Vec::new();
        for (level, lost) in (1..).map(LogicalLevel).zip(&mut self.lost) {
            let Some(asked) = lost.asked else {
                continue;
            };
            let merge = merge(seen, allowed, level, deepest);
            if asked.is_over(&merge) {
                *lost = Lost {
                    runs: merge.surplus,
                    ..Lost::default()
                };
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

/// What a merge of a level would do: its runs become one; a single one goes into the newest
/// below.
fn merge(
    seen: &Question<'_>,
    allowed: &RunLimits,
    level: LogicalLevel,
    deepest: LogicalLevel,
) -> Merge {
    let runs = |level| seen.tree.runs_of(&seen.shape.layout, level);
    let here = runs(level);
    let own: u64 = here.iter().map(|run| seen.tree.bytes(*run)).sum();
    let below = (level < deepest && here.len() == 1).then(|| runs(level.next()));
    let taker = below.as_ref().and_then(|runs| runs.first());
    let oldest = seen.tree.runs().next_back();
    let stays = here.last().filter(|run| Some(**run) == oldest);
    let hidden = match stays {
        Some(run) => own - seen.tree.bytes(*run),
        None if taker.copied() == oldest => own,
        None => 0,
    };
    let fewer = (here.len() - usize::from(taker.is_none() && !here.is_empty())) as f64;
    let limit = allowed.get(level);
    let surplus = if nobody_writes(seen.mission) || limit == RunLimit::ONE {
        fewer
    } else {
        (here.len() as f64 - f64::from(limit.get())).clamp(0.0, fewer)
    };
    let files = here.iter().flat_map(|run| seen.tree.files(*run));
    let numbers = || files.clone().map(|file| file.number);
    Merge {
        runs: here.len(),
        first: numbers().min().unwrap_or(0),
        newest: numbers().max().unwrap_or(0),
        fewer,
        surplus,
        hidden: hidden as f64,
        sizes: here
            .iter()
            .chain(taker)
            .map(|run| seen.tree.bytes(*run) as f64)
            .collect(),
    }
}

#[cfg(test)]
#[path = "consolidate_tests.rs"]
mod tests;
