//! The merge of L0 into level 1, and of what was set apart from it or RocksDB itself left on
//! the landing level.

use std::collections::BTreeSet;

use super::apart;
use super::level::{View, keeps_its_run, view};
use super::piece::{self, describe};
use crate::layout::{Layout, LogicalLevel, PhysicalLevel};
use crate::observation::{InFlight, Observation};
use crate::plan::{Excess, Plan, PlanKind, Reason};
use crate::schedule::Level0Order;
use crate::state::Drain;
use crate::tree::File;
use crate::validate::closure;

/// The merge of L0, if it is due and level 1 can receive; or of runs that were set apart from
/// L0, which need not be due.
pub(super) fn merge(seen: &Observation) -> Option<Plan> {
    let busy = seen
        .in_flight
        .iter()
        .any(|job| job.top == PhysicalLevel::L0);
    if busy {
        return None;
    }
    let level = view(seen, LogicalLevel(1));
    let reason = due(seen);
    fold(seen, &level, reason.as_ref()).or_else(|| into_level(seen, &level, &reason?))
}

/// The drain for which L0 waits though it is due: level 1 gives up a range of its keys, and what
/// came in meanwhile would be a second run.
pub(super) fn waits_for(seen: &Observation) -> Option<&Drain> {
    let reason = due(seen)?;
    if seen.level0 == Level0Order::Wait && reason != Reason::Manual {
        return None;
    }
    let mut drains = seen.state.drains.iter();
    drains.find(|drain| keeps_its_run(seen, LogicalLevel(1), drain))
}

/// Whether a drain that is to begin would keep L0 waiting, which could be merged now.
pub(super) fn goes_before(seen: &Observation, drain: &Drain) -> bool {
    keeps_its_run(seen, LogicalLevel(1), drain)
        && merge(seen).is_some_and(|plan| super::can_be_read(seen, &plan))
}

/// Whether a merge that runs keeps L0 from being merged: of its own files, or within level 1, as
/// of runs that were set apart.
pub fn is_held_up(in_flight: &[InFlight], layout: &Layout) -> bool {
    let (_, last) = layout.span(LogicalLevel(1));
    let mut jobs = in_flight.iter();
    jobs.any(|job| job.drain.is_none() && job.top <= last)
}

/// The merge of the runs that were set apart, and of L0 above them.
fn fold(seen: &Observation, level: &View, due: Option<&Reason>) -> Option<Plan> {
    let output = apart::folds_into(seen, level)?;
    let newer = level.fresh.iter().take_while(|run| run.physical < output);
    let runs: Vec<PhysicalLevel> = newer.map(|run| run.physical).collect();
    let reason = due
        .cloned()
        .unwrap_or(Reason::SetApart { runs: runs.len() });
    let files = runs.iter().flat_map(|run| seen.tree.files(*run));
    let chosen = oldest(seen, output).iter().chain(files);
    merge_of(seen, chosen, output, reason).filter(|plan| !meets_unreadable(seen, plan))
}

/// The merge of L0 alone into a run of level 1, or into one of its own.
fn into_level(seen: &Observation, level: &View, reason: &Reason) -> Option<Plan> {
    if seen.level0 == Level0Order::Wait && *reason != Reason::Manual {
        return None;
    }
    let into = |output| merge_of(seen, oldest(seen, output), output, reason.clone());
    let joined = level.receiver(seen).and_then(into);
    let moves = |plan: &Plan| plan.kind == PlanKind::Move;
    let plan = match seen.level0 {
        // Slots get few long before the level is full: L0 must not wait for its drain. What
        // moves costs nothing under any load.
        Level0Order::MergeApart if !joined.as_ref().is_some_and(moves) => {
            level.slot_apart(seen).and_then(into).or(joined)
        }
        _ => joined,
    }?;
    if meets_unreadable(seen, &plan) {
        return level.free_slot(seen).and_then(into);
    }
    Some(plan)
}

/// Whether a merge takes a file below L0 that cannot be read. Above the run that holds it
/// there may be a slot. So L0 waits for no file but its own, one on the landing level, and one in
/// the highest slot of level 1: above these no run has a place.
fn meets_unreadable(seen: &Observation, plan: &Plan) -> bool {
    let deep = plan.inputs.iter();
    deep.filter(|input| input.level > PhysicalLevel::L0)
        .flat_map(|input| &input.files)
        .any(|file| seen.unreadable.contains(file))
}

/// The merge of files that lie above a run of level 1, with what RocksDB adds to them; or their
/// move, where they are files of L0 that meet nothing.
pub(super) fn merge_of<'a>(
    seen: &Observation,
    chosen: impl IntoIterator<Item = &'a File>,
    output: PhysicalLevel,
    reason: Reason,
) -> Option<Plan> {
    let chosen: BTreeSet<u64> = chosen.into_iter().map(|file| file.number).collect();
    let files = closure(&seen.tree, &chosen, output);
    let mut plan = describe(seen, &files, output, reason)?;
    plan.kind = kind(seen, &plan);
    let bound = seen.shape.piece_bytes(seen.tree.total_bytes());
    let large = plan.kind == PlanKind::Merge && plan.input_bytes > bound;
    plan.excess = large.then_some(Excess::Level0);
    Some(plan)
}

/// Files of L0 move where RocksDB moves them: none in L0 overlaps another. Not where one would
/// be without the cuts of level 1; nor where everything is merged by hand: a merge may leave
/// entries out, and pieces of the drain that follows move where they meet nothing.
fn kind(seen: &Observation, plan: &Plan) -> PlanKind {
    let [input] = &plan.inputs[..] else {
        return PlanKind::Merge;
    };
    let taken = || {
        let files = seen.tree.level0().iter();
        files.filter(|file| input.files.contains(&file.number))
    };
    let moves = input.level == PhysicalLevel::L0
        && plan.reason != Reason::Manual
        && seen.tree.level0_is_disjoint()
        && !taken().any(|file| reaches_over_a_cut(seen, file));
    if moves {
        piece::kind(seen, &plan.inputs, plan.output, taken())
    } else {
        PlanKind::Merge
    }
}

/// Whether a merge into level 1 would cut a file at a guard: pieces of its drains end there.
fn reaches_over_a_cut(seen: &Observation, file: &File) -> bool {
    let shape = &seen.shape;
    let pieces = shape.pieces(LogicalLevel(1), &seen.state.limits, &seen.tree);
    let mut cuts = seen.state.guards.for_intervals(pieces);
    cuts.any(|cut| file.smallest < *cut && *cut <= file.largest)
}

/// Why L0 should be merged now.
fn due(seen: &Observation) -> Option<Reason> {
    let files = seen.tree.level0();
    let trigger = seen.shape.level0_file_num_compaction_trigger;
    let asked = |file: &File| {
        let after = seen.state.compact_all_after;
        seen.state.compact_all && after.is_none_or(|after| file.number <= after)
    };
    if files.iter().any(asked) {
        return Some(Reason::Manual);
    }
    if files.len() >= trigger as usize {
        return Some(Reason::Level0Trigger {
            files: files.len(),
            trigger,
        });
    }
    files
        .iter()
        .find(|file| file.deletion_share() >= seen.shape.tombstone_share)
        .map(|file| Reason::Tombstones {
            file: file.number,
            share: file.deletion_share(),
        })
}

/// The oldest files of L0, no fewer than the trigger: as many as a piece may hold, or as the
/// merge rewrites below L0 in any case, which is the cheaper the more of L0 it is done for.
fn oldest(seen: &Observation, output: PhysicalLevel) -> &[File] {
    let files = seen.tree.level0();
    let trigger = seen.shape.level0_file_num_compaction_trigger as usize;
    let least = trigger.min(files.len());
    let piece = seen.shape.piece_bytes(seen.tree.total_bytes());
    let bound = piece.max(rewritten(seen, &files[files.len() - least..], output));
    let mut bytes = 0;
    let fitting = files
        .iter()
        .rev()
        .take_while(|file| {
            bytes += file.size;
            bytes <= bound
        })
        .count();
    &files[files.len() - fitting.max(least)..]
}

/// Bytes below L0, down to the output, that a merge of these files rewrites.
fn rewritten(seen: &Observation, files: &[File], output: PhysicalLevel) -> u64 {
    let low = files.iter().map(|file| &file.smallest).min();
    let high = files.iter().map(|file| &file.largest).max();
    let Some((low, high)) = low.zip(high) else {
        return 0;
    };
    let runs = seen.tree.runs_within(PhysicalLevel::LANDING, output);
    let below = runs.into_iter().flat_map(|run| seen.tree.files(run));
    let met = below.filter(|file| file.overlaps(low, high));
    met.map(|file| file.size).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guards::Guards;
    use crate::key::Key;
    use crate::testing::drawing::parse;
    use crate::validate::{Refusal, validate};

    const APART: &str = "L0: 60-69 50-59 40-49 30-39";

    fn drawn(drawing: &str) -> Observation {
        parse(drawing).expect("a drawing")
    }

    #[test]
    fn a_file_that_reaches_over_a_cut_of_level_1_is_merged() {
        let kind = |below: &str| {
            let mut seen = drawn(&format!("{APART} \n 2.15: {below}"));
            let (_, run) = seen.shape.layout.span(LogicalLevel(2));
            seen.state.guards = Guards::build(seen.tree.files(run), &Guards::default());
            assert_eq!(seen.state.guards.len(), 1);
            merge(&seen).expect("it is due").kind
        };
        assert_eq!(kind("0-49 50-99"), PlanKind::Move);
        assert_eq!(kind("0-48 49-99"), PlanKind::Merge);
    }

    /// RocksDB would merge.
    #[test]
    fn files_of_l0_are_not_moved_once_another_overlaps_them() {
        let seen = drawn(APART);
        let plan = merge(&seen).expect("it is due");
        assert_eq!(plan.kind, PlanKind::Move);
        let after = |flushed: &str| {
            let mut tree = seen.tree.clone();
            let mut files = tree.level0().to_vec();
            let file = File {
                number: 9,
                smallest: Key::from(flushed),
                largest: Key::from(flushed),
                ..files[0].clone()
            };
            files.insert(0, file);
            tree.replace(PhysicalLevel::L0, files).expect("legal");
            validate(&tree, &[], &plan)
        };
        assert_eq!(after("00070"), Ok(()));
        assert_eq!(after("00069"), Err(Refusal::NotAMove));
    }
}
