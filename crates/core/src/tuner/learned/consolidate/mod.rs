//! Merging for the reads' sake.
//!
//! A limit takes effect only as its level fills, which takes long where few write and for
//! ever where nobody does. So a level is merged by itself once reads have lost as much by the
//! runs that this spares as the merge is charged, whatever its limit is: limits say how levels
//! fill, and this how long it may take. Whatever comes after, that is at most twice what
//! foresight would have paid for this merge at its price (the rule of renting skis), as far as
//! the model is right.
//!
//! What a merge spares it spares piece by piece, the whole of it once it is over: of the missions in
//! which it runs half count.
//!
//! Nothing is merged that the tree would merge by itself before it pays: where somebody writes, a
//! level is drained when it is full, and reads gain by an earlier merge only until then. A
//! drain that comes early puts off the one that would have come, by what the level holds: of
//! its price only what the level lacks is lost.
//!
//! Where workloads are known to last, and reads would lose more in what is left of this
//! one than the merge is charged, it begins once a part of the price is lost: a quarter
//! more than foresight at best, five times as much where the workload turns at once
//! (Purohit, Svitkina and Kumar, NeurIPS 2018, with lambda = 1/4).
//!
//! A level that is full is drained in any case, but behind those who read, if need be for long
//! (`PriorityOrder`). It is wanted at once when reads have lost as much by its runs as the drain
//! is charged: then it is asked to go down, and its drain hurries. Once it is full no more its
//! runs are a merge like any other, which has to pay before the next drain comes.
//!
//! A merge is charged what it is expected to be felt. It is felt only while somebody is there, so
//! that a quieter store merges sooner; but no price falls below what would be felt where somebody
//! is there for a quarter of the time.
//!
//! The runs of a level become one of that level, which rewrites no more than they hold. Into
//! the next level goes only a single run: that spares one, and rewrites a run several times as
//! large.
//!
//! What the planner refuses cannot be bought: too much would be merged at once, or nothing can be
//! read. Then the level's losses begin anew, so that it bars none of those that share a level with
//! it, and each time must come to twice as much before it is asked for again.
//!
//! A merge into the oldest run also spares scans what they pass in the level beside what they
//! return. Any other merge leaves that where it is, but for what its runs hold twice.
//!
//! What was reckoned holds for the workload that it was reckoned for. When that turns to
//! writes, a merge that is under way ends early: its remaining runs have to pay anew.

mod merge;
#[cfg(test)]
mod tests;

use self::merge::{Merge, merge};
use super::cost::Cost;
use super::structure::Structure;
use crate::layout::LogicalLevel;
use crate::observation::Mission;
use crate::tuner::{Change, Question};

/// A smaller share of writes, against reads, is none.
const NO_WRITES: f64 = 0.01;

/// The part of a merge's price that is to be lost first, where it is expected to pay.
const EARLY: f64 = 0.25;

/// What is said of a merge that the planner refuses.
const REFUSED: &str = "too much of it would be merged at once, or nothing of it can be read: it is \
                       asked for again once reads have lost twice as much";

/// What reads have lost by the runs of each level that a merge would spare, since it last had
/// fewer.
#[derive(Clone, Debug, Default)]
pub(super) struct Losses {
    lost: Vec<Lost>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Lost {
    /// Runs of the level.
    runs: usize,
    seconds: f64,
    asked: Option<Asked>,
    /// How often its merge was refused meanwhile.
    refused: i32,
    /// The part of what the merge that was last asked for writes that no later drain is spared.
    /// Its last pieces may be told after its end.
    extra: f64,
}

/// A level whose merge is asked for, as it was then.
#[derive(Clone, Copy, Debug)]
struct Asked {
    /// Runs of the level.
    runs: usize,
    /// The highest number of its files.
    newest: u64,
    goes_down: bool,
    /// As [`Merge::extra`].
    extra: f64,
}

impl Asked {
    fn of(merge: &Merge) -> Asked {
        Asked {
            runs: merge.runs,
            newest: merge.newest,
            goes_down: merge.goes_down(),
            extra: merge.extra,
        }
    }

    /// Whether the merge is over: it has spared runs, or others have come in their place.
    fn is_over(&self, now: &Merge) -> bool {
        now.runs < self.runs || now.first > self.newest
    }
}

impl Lost {
    /// Nothing is lost or asked for.
    fn anew(&self, runs: usize) -> Lost {
        Lost {
            runs,
            extra: self.extra,
            ..Lost::default()
        }
    }

    /// So many times its price must be lost before its merge is asked for.
    fn times(&self) -> f64 {
        2f64.powi(self.refused)
    }

    /// Its merge is asked for, perhaps once more. What a level gives down makes it lack more, and
    /// no more of the merge is extra for that. What was to go down may have to become one by now,
    /// as what the drain of a full level leaves.
    fn ask(&mut self, asked: Asked) {
        match self.asked {
            Some(first) if first.goes_down == asked.goes_down => {
                self.extra = self.extra.min(asked.extra);
            }
            _ => (self.asked, self.extra) = (Some(asked), asked.extra),
        }
    }
}

/// A level to merge.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub change: Change,
    /// Its only run, or all of a full level, goes into the next one; otherwise its runs become one.
    pub goes_down: bool,
}

impl Wanted {
    /// The first and the last level that it needs.
    fn levels(&self) -> (LogicalLevel, LogicalLevel) {
        let level = self.change.level;
        (level, if self.goes_down { level.next() } else { level })
    }

    fn meets(&self, other: &Wanted) -> bool {
        let ((first, last), (from, to)) = (self.levels(), other.levels());
        first <= to && from <= last
    }
}

/// Those that need no level which one before them needs: the planner would begin what comes
/// down into a level first, again and again, and never merge that level.
fn apart(wanted: Vec<(f64, Asked, Wanted)>) -> Vec<(Asked, Wanted)> {
    let mut apart: Vec<(Asked, Wanted)> = Vec::new();
    for (_, asked, next) in wanted {
        if !apart.iter().any(|(_, other)| other.meets(&next)) {
            apart.push((asked, next));
        }
    }
    apart
}

impl Losses {
    /// The levels to merge now, the most urgent first: those that have paid for it; so many
    /// missions are expected to follow like this one. While it is not sure which workload this is,
    /// only what nobody writes to is merged.
    pub fn after(
        &mut self,
        seen: &Question<'_>,
        cost: &Cost,
        sure: bool,
        follow: f64,
    ) -> Vec<Wanted> {
        let deepest = seen.tree.deepest_occupied(&seen.shape.layout);
        let structure = Structure::of(seen.shape, seen.tree);
        let Some((deepest, structure)) = deepest.zip(structure) else {
            return Vec::new();
        };
        let reads = seen.mission.operations.reads() as f64;
        let operations = reads + writes(seen.mission);
        let mission_seconds = seen.mission.duration.as_secs_f64();
        self.lost.resize(usize::from(deepest.0), Lost::default());
        let may_merge = sure || nobody_writes(seen.mission);
        let mut due_now: Vec<(f64, Asked, Wanted)> = Vec::new();
        for level in (1..=deepest.0).map(LogicalLevel) {
            let merge = merge(seen, level, deepest);
            let spared = |entries: f64| merge.spares(&structure, entries);
            let Some((saved, byte)) = cost.of_runs(level, merge.fewer, spared) else {
                continue;
            };
            let rate = saved * operations;
            let lost = self.lose(level, merge.runs, rate);
            let (times, lost) = (lost.times(), lost.seconds);
            let price = merge.extra_bytes() * byte;
            let takes = cost.compaction_seconds(merge.bytes()) / mission_seconds;
            let pays_within = |missions: f64| rate * merge.counts(missions, takes) >= price;
            let part = if pays_within(follow) { EARLY } else { 1.0 };
            let due = part * times * price;
            let pays = rate > 0.0 && pays_within(f64::INFINITY);
            if may_merge && pays && lost >= due {
                let why = format!(
                    "reads have lost {lost:.1} s by {:.0} runs too many, a merge is charged \
                     {price:.1} s",
                    merge.fewer
                );
                let wanted = Wanted {
                    change: Change { level, why },
                    goes_down: merge.goes_down(),
                };
                let urgency = lost / (times * price).max(1e-12);
                due_now.push((urgency, Asked::of(&merge), wanted));
            }
        }
        due_now.sort_by(|(one, ..), (other, ..)| other.total_cmp(one));
        let wanted = apart(due_now);
        for (asked, it) in &wanted {
            self.lost[usize::from(it.change.level.0) - 1].ask(*asked);
        }
        wanted.into_iter().map(|(_, it)| it).collect()
    }

    /// Bytes that such merges wrote in a mission beside what limits would have had written.
    pub fn wrote(&self, mission: &Mission) -> f64 {
        let levels = mission.levels.iter().zip(&self.lost);
        levels
            .map(|(level, lost)| lost.extra * level.for_reads_write_bytes as f64)
            .sum()
    }

    /// Ends merges that were asked for and are over, since they have spared runs, and returns
    /// those that are wanted no more: they are refused, or the workload has just turned to one
    /// that writes.
    pub fn end(&mut self, seen: &Question<'_>, turned: bool) -> Vec<Change> {
        let Some(deepest) = seen.tree.deepest_occupied(&seen.shape.layout) else {
            return Vec::new();
        };
        let mut abandoned = Vec::new();
        let turned = turned && !nobody_writes(seen.mission);
        for (level, lost) in (1..).map(LogicalLevel).zip(&mut self.lost) {
            let Some(asked) = lost.asked else {
                continue;
            };
            let merge = merge(seen, level, deepest);
            if asked.is_over(&merge) {
                *lost = lost.anew(merge.runs);
            } else if seen.refused.contains(&level) {
                *lost = Lost {
                    refused: lost.refused + 1,
                    ..lost.anew(lost.runs)
                };
                let why = REFUSED.to_owned();
                abandoned.push(Change { level, why });
            } else if turned {
                *lost = lost.anew(lost.runs);
                let why = "the workload has turned, so that its runs must pay for it anew";
                let why = why.to_owned();
                abandoned.push(Change { level, why });
            }
        }
        abandoned
    }

    fn lose(&mut self, level: LogicalLevel, runs: usize, seconds: f64) -> Lost {
        let lost = &mut self.lost[usize::from(level.0) - 1];
        if runs < lost.runs {
            (lost.seconds, lost.refused) = (0.0, 0);
        }
        lost.runs = runs;
        lost.seconds += seconds;
        *lost
    }
}

fn writes(mission: &Mission) -> f64 {
    mission.operations.writes as f64 + mission.operations.deletes as f64
}

fn nobody_writes(mission: &Mission) -> bool {
    let reads = mission.operations.reads() as f64;
    reads > 0.0 && writes(mission) <= NO_WRITES * reads
}
