//! Runs of level 1 that L0 was merged into by itself, and how they go back.
//!
//! Under [`Level0Order::MergeApart`] L0 goes to runs of its own though the active run still
//! admits merges. Once it is merged as usual again, those that are too many for the run limit
//! are merged into the run below them, so that the order leaves no other tree behind than
//! merges as usual would, where the limit is one. Where it is more, those within it stay, smaller
//! than they would be, so that the level may come to some runs more before it is full. Runs that
//! are too many because a limit was lowered stay: a change of limits rewrites nothing.
//!
//! They are known by where they lie ([`TreeState::set_apart`]), from the plan that makes them on:
//! only the planner fills a slot of level 1, and it sees each that has become empty before it
//! fills that anew. A run that loses files to another merge stays what it is.
//!
//! [`TreeState::set_apart`]: crate::state::TreeState::set_apart

use std::collections::BTreeSet;

use super::level::{Run, View, view};
use super::seating::is_readable;
use super::urgency::{self, HURRY};
use crate::layout::{LogicalLevel, PhysicalLevel};
use crate::observation::Observation;
use crate::plan::{Plan, PlanKind};
use crate::schedule::Level0Order;

/// The runs set apart that are still there, or on their way; none once no more are there than
/// the run limit lets stay.
pub(super) fn left(seen: &Observation) -> BTreeSet<PhysicalLevel> {
    let comes = |slot| seen.in_flight.iter().any(|job| job.output == slot);
    let is_left = |slot: &PhysicalLevel| !seen.tree.files(*slot).is_empty() || comes(*slot);
    let left = seen.state.set_apart.iter().copied().filter(is_left);
    let mut jobs = seen.in_flight.iter();
    let level = view(seen, LogicalLevel(1));
    // A drain that ends early gives back the runs that it has not taken yet.
    let settled = seen.level0 == Level0Order::Merge
        && !jobs.any(|job| job.top == PhysicalLevel::L0)
        && level.drained_from.is_none()
        && surplus(seen, &level) == 0;
    left.filter(|_| !settled).collect()
}

/// Notes the runs that these plans set apart, or move.
pub(super) fn mark(now: &mut Observation, plans: &[Plan]) {
    let level = view(now, LogicalLevel(1));
    let (_, last) = now.shape.layout.span(level.level);
    // Where there is none, or it admits no more, a new run would begin anyway.
    let apart = now.level0 == Level0Order::MergeApart
        && (!now.state.set_apart.is_empty() || !level.sealed(now));
    for plan in plans.iter().filter(|plan| plan.output <= last) {
        let begins = plan.top() == PhysicalLevel::L0 && now.tree.files(plan.output).is_empty();
        let moves = plan.kind == PlanKind::Move || plan.reason.is_reseat();
        let follows = moves && now.state.set_apart.contains(&plan.top());
        if (apart && begins) || follows {
            now.state.set_apart.insert(plan.output);
        }
    }
}

/// The run into which L0 is merged together with all above it: the lowest that was set apart
/// and may stay, or the one below them. `None` where none is too many, where the level is about
/// to be drained, and while L0 is long, or at its bound, which says nothing of the load: it would
/// keep its files until all of that is rewritten.
pub(super) fn folds_into(seen: &Observation, level: &View) -> Option<PhysicalLevel> {
    let is_long = seen.at_bound || urgency::level0(seen) >= HURRY;
    if seen.level0 != Level0Order::Merge || level.inbound || is_long {
        return None;
    }
    folding(seen, level).last().copied()
}

/// Files of level 1 that are merged once L0 is merged as usual, due or not: runs that were set
/// apart and are too many, and the run below them. None where a file above them cannot be read.
pub fn set_apart_files(seen: &Observation) -> BTreeSet<u64> {
    let level = view(seen, LogicalLevel(1));
    let above = [PhysicalLevel::L0, PhysicalLevel::LANDING];
    if !above.iter().all(|place| is_readable(seen, *place)) {
        return BTreeSet::new();
    }
    let runs = folding(seen, &level).into_iter();
    runs.flat_map(|run| seen.tree.files(run))
        .map(|file| file.number)
        .collect()
}

/// Runs that become one, newest first; none, or two at least. None where a file of theirs cannot
/// be read: that would be owed for ever.
fn folding(seen: &Observation, level: &View) -> Vec<PhysicalLevel> {
    let is_full = seen.shape.is_full(level.level, level.bytes());
    let last = set_apart(seen, level).min(surplus(seen, level));
    let runs = level.fresh.iter().take(last + 1);
    let runs = runs.filter(|_| last > 0 && !is_full);
    let runs: Vec<PhysicalLevel> = runs.map(|run| run.physical).collect();
    if !runs.iter().all(|run| is_readable(seen, *run)) {
        return Vec::new();
    }
    runs
}

/// Runs over the limit.
fn surplus(seen: &Observation, level: &View) -> usize {
    let limit = usize::from(seen.state.limits.get(level.level).get());
    level.fresh.len().saturating_sub(limit)
}

/// How many runs were set apart, or lie above one that was.
fn set_apart(seen: &Observation, level: &View) -> usize {
    let is_apart = |run: &Run| seen.state.set_apart.contains(&run.physical);
    let oldest = level.fresh.iter().rposition(is_apart);
    oldest.map_or(0, |at| at + 1)
}
