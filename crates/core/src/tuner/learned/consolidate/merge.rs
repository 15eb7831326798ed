//! What a merge of one level would do.

use super::super::cost::Scan;
use super::super::structure::Structure;
use crate::layout::{LogicalLevel, PhysicalLevel};
use crate::planner::{drained, may_give_pieces};
use crate::tuner::Question;

/// A merge of one level.
pub(super) struct Merge {
    /// Runs of the level.
    pub runs: usize,
    /// Runs that it would spare.
    pub fewer: f64,
    /// Missions like the present one until the level is drained anyway.
    pub lasts: f64,
    /// The part of its price that no later drain is spared.
    pub extra: f64,
    /// The level is full, and drained for that: all that can be chosen is how soon.
    pub owed: bool,
    /// Bytes that the oldest run would take in: scans pass them no more.
    pub hidden: f64,
    /// Bytes of each run that it merges, and rewrites.
    pub sizes: Vec<f64>,
    /// The lowest number of the level's files, and of those that its oldest run would take in.
    pub first: u64,
    pub first_above: u64,
    /// The highest number of the files that it takes out of their runs.
    pub newest: u64,
}

impl Merge {
    /// Its only run, or all of a full level, goes into the next one; otherwise its runs become one.
    pub fn goes_down(&self) -> bool {
        self.owed || self.runs == 1
    }

    /// Bytes that it would write.
    pub fn bytes(&self) -> f64 {
        self.sizes.iter().sum()
    }

    /// Of so many missions, those for which what the merge spares is spared, if it takes so
    /// many: it comes evenly while the merge runs, and ends where the level is drained anyway.
    pub fn counts(&self, missions: f64, takes: f64) -> f64 {
        let missions = missions.min(self.lasts);
        if takes <= 0.0 || missions.is_infinite() {
            missions
        } else if missions > takes {
            missions - takes / 2.0
        } else {
            missions * missions / (2.0 * takes)
        }
    }

    /// Those of them that no later drain is spared.
    pub fn extra_bytes(&self) -> f64 {
        self.extra * self.bytes()
    }

    /// What it would spare a scan of so many entries.
    pub fn spares(&self, structure: &Structure<'_>, entries: f64) -> Scan {
        let reads = |bytes: f64| structure.reads(bytes, entries);
        let apart: f64 = self.sizes.iter().map(|bytes| reads(*bytes)).sum();
        Scan {
            reads: (apart - reads(self.bytes())).max(0.0),
            passed: structure.passed(self.hidden),
        }
    }
}

/// What a merge of a level would do: its runs become one; a single one goes into the newest
/// below. Of each byte that users write so many come in.
pub(super) fn merge(
    seen: &Question<'_>,
    level: LogicalLevel,
    deepest: LogicalLevel,
    stored: f64,
) -> Merge {
    let runs = |level| seen.tree.runs_of(&seen.shape.layout, level);
    let here = runs(level);
    let own: u64 = here.iter().map(|run| seen.tree.bytes(*run)).sum();
    // Nobody takes such a level's run as a whole: no drain is owed, and none to be spared.
    let gives_pieces = may_give_pieces(seen.limits, level, Some(deepest))
        && here.len() == 1
        && runs(level.next()).len() == 1;
    let owed = level < deepest && seen.shape.is_full(level, own) && !gives_pieces;
    let goes_below = owed || (level < deepest && here.len() == 1);
    let below = goes_below.then(|| runs(level.next()));
    let taker = below.as_ref().and_then(|runs| runs.first());
    let oldest = seen.tree.runs().next_back();
    let stays = here.last().filter(|run| Some(**run) == oldest);
    let hidden = match stays {
        Some(run) => own - seen.tree.bytes(*run),
        None if taker.copied() == oldest => own,
        None => 0,
    };
    let fewer = (here.len() - usize::from(taker.is_none() && !here.is_empty())) as f64;
    let inflow = seen.shape.inflow(level) as f64;
    let (lasts, lacks) = match (owed, gives_pieces) {
        (true, _) => (f64::INFINITY, 1.0),
        // Its run is there again with the next inflow.
        (false, true) => (missions(seen, inflow, stored), 1.0),
        (false, false) => until_drained(seen, level, deepest, own, stored),
    };
    let spares_drain = taker.is_some() && !gives_pieces && seen.mission.user_write_bytes > 0;
    // Its oldest run takes in the others, unless all goes below.
    let drained = drained(&seen.shape.layout, level, &here);
    let above = &drained[..drained.len().saturating_sub(1)];
    let taken = if owed || here.len() == 1 {
        &here[..]
    } else {
        above
    };
    let numbers = |runs: &[PhysicalLevel]| -> Vec<u64> {
        let files = runs.iter().flat_map(|run| seen.tree.files(*run));
        files.map(|file| file.number).collect()
    };
    let lowest = |runs| numbers(runs).into_iter().min();
    Merge {
        runs: here.len(),
        first: lowest(&here).unwrap_or(0),
        first_above: lowest(above).unwrap_or(u64::MAX),
        newest: numbers(taken).into_iter().max().unwrap_or(0),
        fewer,
        lasts,
        extra: if spares_drain { lacks } else { 1.0 },
        owed,
        hidden: hidden as f64,
        sizes: here
            .iter()
            .chain(taker)
            .map(|run| seen.tree.bytes(*run) as f64)
            .collect(),
    }
}

/// Missions like the present one until a level of so many bytes is full, and the share of
/// it that is empty. The deepest is never drained.
fn until_drained(
    seen: &Question<'_>,
    level: LogicalLevel,
    deepest: LogicalLevel,
    bytes: u64,
    stored: f64,
) -> (f64, f64) {
    if level >= deepest {
        return (f64::INFINITY, 1.0);
    }
    let full = seen.shape.full_at(level);
    let room = full.saturating_sub(bytes) as f64;
    (missions(seen, room, stored), room / full.max(1) as f64)
}

/// Missions like the present one in which so many bytes come in.
fn missions(seen: &Question<'_>, bytes: f64, stored: f64) -> f64 {
    let written = seen.mission.user_write_bytes as f64 * stored;
    if written > 0.0 {
        bytes / written
    } else {
        f64::INFINITY
    }
}
