//! Levels above a file that cannot be read. What a drain has to leave because it meets that file
//! stays in the level, in as many runs as it had; it must not keep the level from being drained.

use super::level::{View, view};
use super::seating;
use super::start::{Begin, down, drainable};
use super::urgency::FEW_SLOTS;
use crate::layout::{LogicalLevel, PhysicalLevel};
use crate::observation::Observation;
use crate::plan::Reason;

/// The drain of a level, by what it is from a run on. Where nothing can be merged of the runs that
/// leave slots to others, it takes as many newer ones as it must to give anything.
pub(super) fn drain_from(
    seen: &Observation,
    here: &View,
    drain: impl Fn(PhysicalLevel) -> Option<Begin>,
) -> Option<Begin> {
    let newest = drainable(seen, here)?;
    if seen.unreadable.is_empty() {
        return drain(newest);
    }
    let runs = here.fresh.iter().rev().map(|run| run.physical);
    runs.filter(|run| *run <= newest)
        .filter_map(drain)
        .find(|begin| begin.has_pieces(seen))
}

/// The merge of leftovers into one run where slots get few, for each drain leaves more of them.
/// They can all be read, but for those that hold such a file themselves.
pub(super) fn for_leftovers(seen: &Observation, here: &View) -> Option<Begin> {
    let (first, _) = seen.shape.layout.span(here.level);
    let scarce = here.fresh.first()?.physical.0 < first.0 + FEW_SLOTS;
    if seen.unreadable.is_empty() || !scarce || seating::moves_within(seen, here.level) {
        return None;
    }
    let left = left_over(seen, here);
    let (newest, older) = left.split_first()?;
    let into = |target: &PhysicalLevel| Begin {
        top: *newest,
        target: *target,
        range: None,
        reason: reason(here),
    };
    let mut merges = older.iter().rev().map(into);
    merges.find(|begin| begin.has_pieces(seen))
}

/// Whether files that cannot be read leave nothing of a level to drain, whatever runs now.
pub(super) fn is_stuck(seen: &Observation, level: LogicalLevel) -> bool {
    if seen.unreadable.is_empty() {
        return false;
    }
    let mut quiet = seen.clone();
    quiet.in_flight.clear();
    let here = view(&quiet, level);
    !here.fresh.is_empty() && left_over(&quiet, &here).len() == here.fresh.len()
}

/// The oldest runs of a level as long as a drain could take nothing of them, newest first.
fn left_over(seen: &Observation, here: &View) -> Vec<PhysicalLevel> {
    let gives = |run: &PhysicalLevel| {
        let drain = down(seen, here, *run, reason(here));
        drain.is_none_or(|drain| drain.has_pieces(seen))
    };
    let runs = here.fresh.iter().rev().map(|run| run.physical);
    let mut left: Vec<PhysicalLevel> = runs.take_while(|run| !gives(run)).collect();
    left.reverse();
    left
}

fn reason(here: &View) -> Reason {
    Reason::Leftovers { level: here.level }
}
