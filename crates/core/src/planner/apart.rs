//! Runs of level 1 that L0 was merged into by itself, and how they go back.
//!
//! Under [`Level0Order::MergeApart`] L0 goes to runs of its own though the active run still
//! admits merges. Once it is merged as usual again, those that are too many for the run limit
//! are merged into the run below them, so that the order leaves no other tree behind than
//! merges as usual would, where the limit is one. Where it is more, those within it stay, smaller
//! than they would be, so that the level may come to some runs more before it is full. Runs that
//! are too many because a limit was lowered stay: a change of limits rewrites nothing.
//!
//! They are those above the run that holds a certain file, the newest of the active run when
//! the first of them began ([`TreeState::apart_from`]): a run that moves keeps its files, and
//! one that they were merged into has others.
//!
//! [`TreeState::apart_from`]: crate::state::TreeState::apart_from

use std::collections::BTreeSet;

use super::level::{View, view};
use super::urgency::{self, HURRY};
use crate::layout::{LogicalLevel, PhysicalLevel};
use crate::observation::Observation;
use crate::schedule::Level0Order;

/// The file of the run from which others were set apart; `None` once there are none, or no
/// more than the run limit lets stay.
pub(super) fn remembered(seen: &Observation) -> Option<u64> {
    let from = seen.state.apart_from;
    if seen
        .in_flight
        .iter()
        .any(|job| job.top == PhysicalLevel::L0)
    {
        // What comes in may be the first of them.
        return from;
    }
    let level = view(seen, LogicalLevel(1));
    let kept = from.filter(|from| set_apart(seen, &level, *from) > 0);
    match seen.level0 {
        Level0Order::MergeApart => kept.or_else(|| newest_of_active(seen, &level)),
        Level0Order::Wait => kept,
        Level0Order::Merge => kept.filter(|_| surplus(seen, &level) > 0),
    }
}

/// The run into which L0 is merged together with all above it: the lowest that was set apart
/// and may stay, or the one below them. `None` where none is too many, where the level is about
/// to be drained, and while L0 is long: it would keep its files until all of that is rewritten.
pub(super) fn folds_into(seen: &Observation, level: &View) -> Option<PhysicalLevel> {
    let is_long = urgency::level0(seen) >= HURRY;
    if seen.level0 != Level0Order::Merge || level.inbound || is_long {
        return None;
    }
    folding(seen, level).last().copied()
}

/// Files of level 1 that are merged once L0 is merged as usual, due or not: runs that were set
/// apart and are too many, and the run below them.
pub fn set_apart_files(seen: &Observation) -> BTreeSet<u64> {
    let level = view(seen, LogicalLevel(1));
    let runs = folding(seen, &level).into_iter();
    runs.flat_map(|run| seen.tree.files(run))
        .map(|file| file.number)
        .collect()
}

/// Runs that become one, newest first; none, or two at least. None where a file of theirs cannot
/// be read: that would be owed for ever.
fn folding(seen: &Observation, level: &View) -> Vec<PhysicalLevel> {
    let is_full = level.bytes() >= seen.shape.full_at(level.level);
    let Some(from) = seen.state.apart_from.filter(|_| !is_full) else {
        return Vec::new();
    };
    let last = set_apart(seen, level, from).min(surplus(seen, level));
    let runs = level.fresh.iter().take(last + 1).filter(|_| last > 0);
    let runs: Vec<PhysicalLevel> = runs.map(|run| run.physical).collect();
    let mut files = runs.iter().flat_map(|run| seen.tree.files(*run));
    if files.any(|file| seen.unreadable.contains(&file.number)) {
        return Vec::new();
    }
    runs
}

/// Runs over the limit.
fn surplus(seen: &Observation, level: &View) -> usize {
    let limit = usize::from(seen.state.limits.get(level.level).get());
    level.fresh.len().saturating_sub(limit)
}

/// How many runs lie above the one that holds the file; 0 where none does.
fn set_apart(seen: &Observation, level: &View, from: u64) -> usize {
    let files = |run: PhysicalLevel| seen.tree.files(run).iter();
    let mut runs = level.fresh.iter();
    let below = runs.position(|run| files(run.physical).any(|file| file.number == from));
    below.unwrap_or(0)
}

/// The newest file of the active run; `None` where a new run would begin anyway.
fn newest_of_active(seen: &Observation, level: &View) -> Option<u64> {
    let active = level.fresh.first().filter(|_| !level.sealed(seen))?;
    let files = seen.tree.files(active.physical).iter();
    files.map(|file| file.number).max()
}
