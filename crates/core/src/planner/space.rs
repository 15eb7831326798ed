//! The bound on space: which runs are merged for it.

use super::level::{Run, View, view};
use super::seating;
use super::start::{Begin, drainable};
use super::urgency::{self, SPACE_SHARE};
use crate::layout::{LogicalLevel, PhysicalLevel};
use crate::observation::Observation;
use crate::plan::Reason;
use crate::state::Drain;

/// A drain that the bound on space asks for: the runs of the deepest level, level 1 if it is
/// the only one, are merged into the oldest; if that is alone, the level above is merged
/// into it. Runs that move for nothing are seated first: L0 needs slots above them meanwhile. Where
/// files that cannot be read leave nothing of that to merge, it is another merge.
pub(super) fn for_space(seen: &Observation) -> Option<Begin> {
    let reason = over_the_bound(seen)?;
    let (level, target) = merged(seen)?;
    let from = at_rest(seen, level, target)?;
    let top = tops(seen, &from, target).first().copied();
    let first = top.map(|top| Begin {
        top,
        target,
        range: None,
        reason: reason.clone(),
    });
    first
        .filter(|begin| begin.gives(seen))
        .or_else(|| beside_unreadable(seen, &reason))
}

/// Whether a drain keeps the tree from being merged for its space, which is near its bound: it
/// touches a level of that merge.
pub(super) fn is_held_up_by(seen: &Observation, drain: &Drain) -> bool {
    let asked = merged(seen).filter(|_| urgency::space(seen) > 0.0);
    asked.is_some_and(|(level, target)| {
        let (first, _) = seen.shape.layout.span(level);
        drain.top <= target && first <= drain.target
    })
}

/// The level whose runs the bound on space has merged, and the oldest run, which takes them.
fn merged(seen: &Observation) -> Option<(LogicalLevel, PhysicalLevel)> {
    let layout = &seen.shape.layout;
    let deepest = seen.tree.deepest_occupied(layout)?;
    let runs = seen.tree.runs_of(layout, deepest);
    let level = if runs.len() > 1 {
        deepest
    } else {
        occupied_above(seen, deepest)?
    };
    Some((level, *runs.last()?))
}

/// Why a tree must be merged for its space. One that L0 alone may hold is not judged.
///
/// What is only new counts as if it hid something older, so that a tree which only grows is
/// merged whenever it has come to g = 1 + 0.8 * (bound - 1) times its oldest run. These
/// merges grow as the tree does: all together they write g / (g - 1) times what it holds in
/// the end, 1.6 times under a bound of 3.
fn over_the_bound(seen: &Observation) -> Option<Reason> {
    let bound = seen.shape.max_space_amplification;
    let estimate = seen.tree.space_amplification()?;
    let judged = seen.tree.total_bytes() >= seen.shape.level0_bytes();
    (judged && estimate > 1.0 + merged_at(seen)).then_some(Reason::SpaceBound { estimate, bound })
}

/// Newer runs are merged into an older one when they hold this many times its bytes.
fn merged_at(seen: &Observation) -> f64 {
    SPACE_SHARE * (seen.shape.max_space_amplification - 1.0)
}

/// The deepest level above another one that holds a run.
fn occupied_above(seen: &Observation, level: LogicalLevel) -> Option<LogicalLevel> {
    let runs = seen.tree.runs();
    runs.filter_map(|run| seen.shape.layout.logical(run))
        .map(|(above, _)| above)
        .filter(|above| *above < level)
        .max()
}

/// The level of which a drain takes runs into an older one; none before both levels are at rest
/// and no run is to be moved.
fn at_rest(seen: &Observation, level: LogicalLevel, target: PhysicalLevel) -> Option<View> {
    let from = view(seen, level);
    let (into, _) = seen.shape.layout.logical(target)?;
    let at_rest = from.at_rest() && view(seen, into).at_rest();
    (at_rest && !seating::moves_within(seen, level)).then_some(from)
}

/// The runs with which a drain into an older run may begin, those first that leave slots to
/// others, from the newest of them on; then newer ones, from the oldest on.
fn tops(seen: &Observation, from: &View, target: PhysicalLevel) -> Vec<PhysicalLevel> {
    let newest = drainable(seen, from);
    let runs = from.fresh.iter().map(|run| run.physical);
    let (older, newer): (Vec<_>, Vec<_>) = runs
        .filter(|run| *run < target)
        .partition(|run| newest.is_none_or(|newest| newest <= *run));
    older.into_iter().chain(newer.into_iter().rev()).collect()
}

/// What can be merged where a file that cannot be read bars the way: newer runs, of its own
/// level or of the one above, into the oldest run that takes any. The tree may stay over its
/// bound whatever is merged, so each merge is judged as if the tree ended with the run that
/// receives. Otherwise every small run would be merged into a large one as soon as it came.
fn beside_unreadable(seen: &Observation, reason: &Reason) -> Option<Begin> {
    let layout = &seen.shape.layout;
    seen.tree.runs().rev().find_map(|target| {
        let (level, _) = layout.logical(target)?;
        merge_into(seen, level, target, reason)
            .or_else(|| merge_into(seen, occupied_above(seen, level)?, target, reason))
    })
}

/// The merge of a level's runs, as many as can be, into an older run, if they hold enough.
fn merge_into(
    seen: &Observation,
    level: LogicalLevel,
    target: PhysicalLevel,
    reason: &Reason,
) -> Option<Begin> {
    let from = at_rest(seen, level, target)?;
    let enough = merged_at(seen) * seen.tree.bytes(target) as f64;
    let bytes_from = |top: PhysicalLevel| -> u64 {
        let taken = |run: &&Run| top <= run.physical && run.physical < target;
        let taken = from.fresh.iter().filter(taken);
        taken.map(|run| run.bytes).sum()
    };
    tops(seen, &from, target)
        .into_iter()
        .filter(|top| bytes_from(*top) as f64 > enough)
        .map(|top| Begin {
            top,
            target,
            range: None,
            reason: reason.clone(),
        })
        .find(|begin| begin.has_pieces(seen))
}
