//! Whole runs that change their place without being rewritten.

use super::level::{Run, View, view};
use super::level0::merge_of;
use super::piece::describe;
use super::urgency::FEW_SLOTS;
use crate::layout::{LogicalLevel, PhysicalLevel};
use crate::observation::Observation;
use crate::plan::{Plan, PlanKind, Reason};

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

/// Whether a run of the level moves before anything is merged out of it.
pub(super) fn moves_within(seen: &Observation, level: LogicalLevel) -> bool {
    sink(seen, level).or_else(|| reseat(seen, level)).is_some()
}

/// The oldest run of a level goes down as it is when it fills the level alone
/// and the level below would begin a new run for it anyway. Where moves rewrite, its drain
/// does the same piece by piece.
fn sink(seen: &Observation, level: LogicalLevel) -> Option<Plan> {
    let here = view(seen, level);
    let may_move = here.at_rest() && !seen.moves_rewrite;
    let run = here.fresh.last().filter(|_| may_move)?;
    let full = seen.shape.is_full(level, run.bytes);
    if level == seen.shape.layout.deepest() || !full || !is_readable(seen, run.physical) {
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

/// A run goes to its seat when slots get scarce above.
fn reseat(seen: &Observation, level: LogicalLevel) -> Option<Plan> {
    if seen.moves_rewrite {
        return None;
    }
    let (run, to) = seat(seen, level, FEW_SLOTS)?;
    whole_run(seen, &run, to, Reason::Reseat { level })
}

/// The oldest run of a level at rest that may lie deeper, and its seat: the deepest free slot of
/// the level, or as deep as those below it let it that cannot be read. None while so many slots
/// are free above.
pub(super) fn seat(
    seen: &Observation,
    level: LogicalLevel,
    enough: u16,
) -> Option<(Run, PhysicalLevel)> {
    let here = view(seen, level);
    let (first, last) = seen.shape.layout.span(level);
    let scarce = here.fresh.first()?.physical.0 < first.0 + enough;
    if !scarce || !here.at_rest() {
        return None;
    }
    let mut seat = last;
    for run in here.fresh.iter().rev() {
        if run.physical < seat && is_readable(seen, run.physical) {
            return Some((*run, seat));
        }
        seat = PhysicalLevel(run.physical.0 - 1);
    }
    None
}

/// What RocksDB left on the landing level becomes the newest run of level 1, or
/// is merged into the newest one where all slots are taken.
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
    let reason = Reason::Landing { bytes };
    match first.free_slot(seen) {
        Some(slot) if !seen.moves_rewrite => whole_run(seen, &run, slot, reason),
        slot => {
            let landed = seen.tree.files(PhysicalLevel::LANDING);
            let output = slot.or_else(|| first.receiver(seen))?;
            merge_of(seen, landed, output, reason)
        }
    }
}

/// Whether every file there can be read. A run of which that is not so stays where it is, and
/// nothing waits for its move.
pub(super) fn is_readable(seen: &Observation, place: PhysicalLevel) -> bool {
    let mut files = seen.tree.files(place).iter();
    files.all(|file| !seen.unreadable.contains(&file.number))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{RunLimit, RunLimits};
    use crate::testing::{Model, small_shape};

    #[test]
    fn the_landing_level_is_emptied_also_when_every_slot_of_level_1_is_taken() {
        let mut model = Model::new(small_shape(), RunLimits::uniform(RunLimit::ONE));
        let layout = model.shape.layout;
        let (first, last) = layout.span(LogicalLevel(1));
        for physical in (first.0..=last.0).rev() {
            model.place(PhysicalLevel(physical), 0..3);
        }
        model.place(PhysicalLevel::LANDING, 0..20);
        model.settle(100);
        let tree = model.tree();
        assert!(tree.files(PhysicalLevel::LANDING).is_empty());
        assert_eq!(tree.runs_of(&layout, LogicalLevel(1)).len(), 16);
        model.check();
    }
}
