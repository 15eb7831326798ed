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
//! What was reckoned holds for the workload that it was reckoned for. When that turns to one that
//! writes, a merge that is under way goes on if it pays within what is expected to follow, and ends
//! early if not: its remaining runs have to pay anew. What is left of it costs and spares the same
//! share of the whole, so that the whole tells. Assumed is that the only mission that was seen of
//! the new workload speaks for it, and that it lasts as those before it; where their lengths are
//! not known, nothing goes on.

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

/// What is said of a merge that does not pay under another workload, and of one that the planner
/// refuses.
const TURNED: &str = "the workload has turned, so that its runs must pay for it anew";
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

/// A merge of a level under the present workload.
struct Case {
    level: LogicalLevel,
    merge: Merge,
    /// Seconds that an operation loses by the runs that it would spare, on average.
    saved: f64,
    /// Seconds that the reads of a mission lose by them.
    rate: f64,
    /// Seconds that it is charged.
    price: f64,
    /// Missions that it takes.
    takes: f64,
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

impl Case {
    /// `None` before the model has seen anything.
    fn of(
        seen: &Question<'_>,
        cost: &Cost,
        structure: &Structure<'_>,
        level: LogicalLevel,
        merge: Merge,
    ) -> Option<Case> {
        let spared = |entries: f64| merge.spares(structure, entries);
        let (saved, byte) = cost.of_runs(level, merge.fewer, spared)?;
        let reads = seen.mission.operations.reads() as f64;
        let mission_seconds = seen.mission.duration.as_secs_f64();
        Some(Case {
            level,
            saved,
            rate: saved * (reads + writes(seen.mission)),
            price: merge.extra_bytes() * byte,
            takes: cost.compaction_seconds(merge.bytes()) / mission_seconds,
            merge,
        })
    }

    /// Whether what it spares in so many missions comes to its price.
    fn pays_within(&self, missions: f64) -> bool {
        self.rate > 0.0 && self.rate * self.merge.counts(missions, self.takes) >= self.price
    }

    /// Whether reads have lost enough for it, where so many missions are expected to follow.
    fn is_due(&self, lost: &Lost, follow: f64) -> bool {
        let part = if self.pays_within(follow) { EARLY } else { 1.0 };
        self.pays_within(f64::INFINITY) && lost.seconds >= part * lost.times() * self.price
    }

    fn urgency(&self, lost: &Lost) -> f64 {
        lost.seconds / (lost.times() * self.price).max(1e-12)
    }

    fn wanted(&self, lost: &Lost) -> Wanted {
        let why = format!(
            "reads have lost {:.1} s by {:.0} runs too many, a merge is to save an operation \
             {:.1} µs and is charged {:.1} s",
            lost.seconds,
            self.merge.fewer,
            self.saved * 1e6,
            self.price
        );
        Wanted {
            change: Change {
                level: self.level,
                why,
            },
            goes_down: self.merge.goes_down(),
        }
    }
}

impl Lost {
    /// Reads have lost so many seconds more, by a level of so many runs.
    fn lose(&mut self, runs: usize, seconds: f64) {
        if runs < self.runs {
            (self.seconds, self.refused) = (0.0, 0);
        }
        self.runs = runs;
        self.seconds += seconds;
    }

    /// The merge that is under way. What it has given down makes its level lack more.
    fn under_way(&self, now: Merge) -> Merge {
        Merge {
            extra: self.extra.min(now.extra),
            ..now
        }
    }

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
        let Some((deepest, structure)) = structure_of(seen) else {
            return Vec::new();
        };
        self.lost.resize(usize::from(deepest.0), Lost::default());
        let may_merge = sure || nobody_writes(seen.mission);
        let mut due: Vec<(f64, Asked, Wanted)> = Vec::new();
        for (level, lost) in (1..).map(LogicalLevel).zip(&mut self.lost) {
            let merge = merge(seen, level, deepest);
            let Some(case) = Case::of(seen, cost, &structure, level, merge) else {
                continue;
            };
            lost.lose(case.merge.runs, case.rate);
            if may_merge && case.is_due(lost, follow) {
                let asked = Asked::of(&case.merge);
                due.push((case.urgency(lost), asked, case.wanted(lost)));
            }
        }
        due.sort_by(|(one, ..), (other, ..)| other.total_cmp(one));
        let wanted = apart(due);
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
    /// that writes, and they do not pay within so many missions like this one.
    pub fn end(
        &mut self,
        seen: &Question<'_>,
        cost: &Cost,
        turned: bool,
        follow: f64,
    ) -> Vec<Change> {
        let Some((deepest, structure)) = structure_of(seen) else {
            return Vec::new();
        };
        if turned {
            self.lost.iter_mut().for_each(|lost| lost.refused = 0);
        }
        let turned = turned && !nobody_writes(seen.mission);
        let pays = |level: LogicalLevel, merge: Merge| {
            let case = Case::of(seen, cost, &structure, level, merge);
            case.is_some_and(|case| case.pays_within(follow))
        };
        let mut abandoned = Vec::new();
        for (level, lost) in (1..).map(LogicalLevel).zip(&mut self.lost) {
            let Some(asked) = lost.asked else {
                continue;
            };
            let now = merge(seen, level, deepest);
            let mut abandon = |why: &str| {
                let why = why.to_owned();
                abandoned.push(Change { level, why });
            };
            if asked.is_over(&now) {
                *lost = lost.anew(now.runs);
            } else if seen.refused.contains(&level) {
                *lost = Lost {
                    refused: lost.refused + 1,
                    ..lost.anew(lost.runs)
                };
                abandon(REFUSED);
            } else if turned && !pays(level, lost.under_way(now)) {
                *lost = lost.anew(lost.runs);
                abandon(TURNED);
            }
        }
        abandoned
    }
}

/// The deepest level of the tree, and its structure; `None` without a level below L0.
fn structure_of<'a>(seen: &Question<'a>) -> Option<(LogicalLevel, Structure<'a>)> {
    let deepest = seen.tree.deepest_occupied(&seen.shape.layout)?;
    Some((deepest, Structure::of(seen.shape, seen.tree)?))
}

fn writes(mission: &Mission) -> f64 {
    mission.operations.writes as f64 + mission.operations.deletes as f64
}

fn nobody_writes(mission: &Mission) -> bool {
    let reads = mission.operations.reads() as f64;
    reads > 0.0 && writes(mission) <= NO_WRITES * reads
}
