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
//! A merge begins while there is credit for what it will write ([`budget`]); until then it waits,
//! and that is told once. What was begun goes on whatever it takes, and keeps the credit for what
//! it is still to write from others. A drain that comes anyway needs none.
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

mod budget;
mod case;
mod due;
mod merge;
#[cfg(test)]
mod tests;

pub(super) use self::budget::{Budget, Credit};
use self::case::Case;
pub(super) use self::due::Wanted;
use self::due::{Due, chosen};
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
    /// That its merge waits for credit was told.
    told: bool,
}

/// A level whose merge is asked for, as it was then.
#[derive(Clone, Copy, Debug)]
struct Asked {
    /// Runs of the level.
    runs: usize,
    /// The highest number of the files that were to leave their runs.
    newest: u64,
    goes_down: bool,
    /// As [`Merge::owed`].
    owed: bool,
    /// As [`Merge::extra`].
    extra: f64,
    /// Bytes of credit for what it is still to write, by what missions tell.
    left: f64,
}

impl Asked {
    fn of(merge: &Merge) -> Asked {
        Asked {
            runs: merge.runs,
            newest: merge.newest,
            goes_down: merge.goes_down(),
            owed: merge.owed,
            extra: merge.extra,
            left: if merge.owed { 0.0 } else { merge.bytes() },
        }
    }

    /// Whether the merge is over: it has spared runs, or others have come in their place. What has
    /// become of the oldest run does not tell: files of it that nothing newer meets are in no piece.
    fn is_over(&self, now: &Merge) -> bool {
        let left = if self.goes_down {
            now.first
        } else {
            now.first_above
        };
        now.runs < self.runs || left > self.newest
    }
}

impl Lost {
    /// Reads have lost so many seconds more, by a level of so many runs.
    fn lose(&mut self, runs: usize, seconds: f64) {
        if runs < self.runs {
            (self.seconds, self.refused, self.told) = (0.0, 0, false);
        }
        self.runs = runs;
        self.seconds += seconds;
    }

    /// Whether this merge goes on. What is left of a drain that came anyway, and comes no more, is
    /// another one.
    fn is_under_way(&self, now: &Merge) -> bool {
        let asked = self.asked.filter(|it| !it.owed && !it.is_over(now));
        asked.is_some_and(|it| it.goes_down == now.goes_down())
    }

    /// Bytes of credit that no other level's merge may have. What runs goes on when its level
    /// fills, or gets another run, though it would be another merge by now.
    fn reserved(&self, now: &Merge) -> f64 {
        let asked = self.asked.filter(|asked| !asked.is_over(now));
        asked.map_or(0.0, |asked| asked.left)
    }

    /// Its merge has written so many bytes more.
    fn write(&mut self, bytes: u64) {
        if let Some(asked) = &mut self.asked {
            asked.left = (asked.left - bytes as f64).max(0.0);
        }
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
    /// as what the drain of a full level leaves; and a drain that came anyway may come no more.
    fn ask(&mut self, asked: Asked) {
        self.told = false;
        let goes_on =
            |first: &Asked| first.goes_down == asked.goes_down && (asked.owed || !first.owed);
        match self.asked {
            Some(first) if goes_on(&first) => {
                self.extra = self.extra.min(asked.extra);
            }
            _ => (self.asked, self.extra) = (Some(asked), asked.extra),
        }
    }
}

/// What is wanted of levels for which reads have lost enough.
#[derive(Clone, Debug, Default)]
pub(super) struct Wants {
    /// The levels to merge now, the most urgent first.
    pub merges: Vec<Wanted>,
    /// Levels whose merge has come to wait for credit.
    pub waits: Vec<Change>,
}

impl Losses {
    /// The levels to merge now: those for which reads have lost enough, as far as there is credit;
    /// so many missions are expected to follow like this one. While it is not sure which workload
    /// this is, only what nobody writes to is merged.
    pub fn after(
        &mut self,
        seen: &Question<'_>,
        cost: &Cost,
        budget: &Budget,
        sure: bool,
        follow: f64,
    ) -> Wants {
        let Some((deepest, structure)) = structure_of(seen) else {
            return Wants::default();
        };
        self.lost.resize(usize::from(deepest.0), Lost::default());
        for (lost, level) in self.lost.iter_mut().zip(&seen.mission.levels) {
            lost.write(level.for_reads_write_bytes);
        }
        let may_merge = sure || nobody_writes(seen.mission);
        let mut credit = budget.left();
        let mut due = Vec::new();
        for (level, lost) in (1..).map(LogicalLevel).zip(&mut self.lost) {
            let merge = merge(seen, level, deepest, cost.stored());
            credit -= lost.reserved(&merge);
            let Some(case) = Case::of(seen, cost, &structure, level, merge) else {
                continue;
            };
            lost.lose(case.merge.runs, case.rate);
            if may_merge && case.is_due(lost, follow) {
                due.push(case.due(lost));
            }
        }
        let grows = seen.mission.user_write_bytes > 0;
        let (begin, wait) = chosen(due, credit, grows);
        Wants {
            merges: begin.into_iter().map(|it| self.ask(it)).collect(),
            waits: wait.into_iter().filter_map(|it| self.tell(it)).collect(),
        }
    }

    fn at(&mut self, level: LogicalLevel) -> &mut Lost {
        &mut self.lost[usize::from(level.0) - 1]
    }

    fn ask(&mut self, due: Due) -> Wanted {
        self.at(due.wanted.change.level).ask(due.asked);
        due.wanted
    }

    /// That a merge waits, unless it was told.
    fn tell(&mut self, due: Due) -> Option<Change> {
        let lost = self.at(due.wanted.change.level);
        let is_new = !std::mem::replace(&mut lost.told, true);
        is_new.then(|| due.waits())
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
            let now = merge(seen, level, deepest, cost.stored());
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
