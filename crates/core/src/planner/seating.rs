//! Whole runs that change their place without being rewritten.

use super::level::{Run, View, view};
use super::piece::describe;
use crate::layout::{LogicalLevel, PhysicalLevel};
use crate::observation::Observation;
use crate::plan::{Plan, PlanKind, Reason};

/// Slots above the newest run under which a level's runs are seated anew.
const FEW_SLOTS: u16 = 3;

/// All moves that are worth making now, deepest first: at most one a level,
/// since one makes room for the next.
pub(super) fn moves(seen: &Observation) -> Vec<Plan> {
    let mut plans: Vec<Plan> = seen
        .shape
        .layout
        .logical_levels()
        .rev()
        .filter_map(|level| sink(seen, level).or_else(|| reseat(seen, level)))
        .collect();
    plans.extend(fold_landing(seen));
    plans
}

/// The oldest run of a level goes down as it is when it fills the level alone
/// and the level below would begin a new run for it anyway.
pub(super) fn sink(seen: &Observation, level: LogicalLevel) -> Option<Plan> {
    let here = view(seen, level);
    let run = here.fresh.last().filter(|_| here.at_rest())?;
    if level == seen.shape.layout.deepest() || run.bytes < seen.shape.full_at(level) {
        return None;
    }
    let below = view(seen, level.next());
    let slot = below
        .free_slot(seen)
        .filter(|_| !below.inbound && below.sealed(seen))?;
    let reason = Reason::Sink {
        level,
        bytes: run.bytes,
    };
    movable(seen, run, slot)
        .then(|| whole_run(seen, run, slot, reason))
        .flatten()
}

/// A run goes to the deepest free slot of its level when slots get scarce above.
fn reseat(seen: &Observation, level: LogicalLevel) -> Option<Plan> {
    let here = view(seen, level);
    let (first, last) = seen.shape.layout.span(level);
    let scarce = here.fresh.first()?.physical.0 < first.0 + FEW_SLOTS;
    if !scarce || !here.at_rest() {
        return None;
    }
    let mut seat = last;
    for run in here.fresh.iter().rev() {
        if run.physical < seat {
            return whole_run(seen, run, seat, Reason::Reseat { level });
        }
        seat = PhysicalLevel(run.physical.0 - 1);
    }
    None
}

/// What RocksDB left on the landing level becomes the newest run of level 1.
fn fold_landing(seen: &Observation) -> Option<Plan> {
    let bytes = seen.tree.bytes(PhysicalLevel::LANDING);
    let first: View = view(seen, LogicalLevel(1));
    let busy = seen
        .in_flight
        .iter()
        .any(|job| job.top <= PhysicalLevel::LANDING);
    if bytes == 0 || first.inbound || busy {
        return None;
    }
    let run = Run {
        physical: PhysicalLevel::LANDING,
        bytes,
    };
    whole_run(
        seen,
        &run,
        first.free_slot(seen)?,
        Reason::Landing { bytes },
    )
}

/// Whether moving is as good as merging: same compression, few tombstones.
fn movable(seen: &Observation, run: &Run, to: PhysicalLevel) -> bool {
    let files = seen.tree.files(run.physical);
    seen.shape.compression_class(run.physical) == seen.shape.compression_class(to)
        && files
            .iter()
            .all(|file| file.deletion_share() < seen.shape.tombstone_share)
}

fn whole_run(seen: &Observation, run: &Run, to: PhysicalLevel, reason: Reason) -> Option<Plan> {
    let files = seen
        .tree
        .files(run.physical)
        .iter()
        .map(|file| file.number)
        .collect();
    let mut plan = describe(seen, &files, to, reason)?;
    plan.kind = PlanKind::Move;
    Some(plan)
}
