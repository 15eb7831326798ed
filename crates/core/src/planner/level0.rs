//! The merge of L0 into level 1, and what RocksDB itself left on the landing
//! level.

use std::collections::BTreeSet;

use super::level::view;
use super::piece::describe;
use crate::layout::{LogicalLevel, PhysicalLevel};
use crate::observation::Observation;
use crate::plan::{Excess, Plan, Reason};
use crate::schedule::Level0Order;
use crate::tree::File;
use crate::validate::closure;

/// The merge of L0, if it is due and level 1 can receive.
pub(super) fn merge(seen: &Observation) -> Option<Plan> {
    let reason = due(seen)?;
    if seen.level0 == Level0Order::Wait && reason != Reason::Manual {
        return None;
    }
    let busy = seen
        .in_flight
        .iter()
        .any(|job| job.top == PhysicalLevel::L0);
    if busy {
        return None;
    }
    let level = view(seen, LogicalLevel(1));
    let output = match seen.level0 {
        // Slots get few long before the level is full: L0 must not wait for its drain.
        Level0Order::MergeApart => level.slot_apart(seen).or_else(|| level.receiver(seen)),
        Level0Order::Merge | Level0Order::Wait => level.receiver(seen),
    }?;
    let into = |output| merge_of(seen, oldest(seen), output, reason.clone());
    let plan = into(output)?;
    if meets_unreadable(seen, &plan) {
        return level.free_slot(seen).and_then(into);
    }
    Some(plan)
}

/// Whether a merge takes a file below L0 that cannot be read. Above the run that holds it
/// there may be a slot, and L0 waits for no file but its own.
fn meets_unreadable(seen: &Observation, plan: &Plan) -> bool {
    let deep = plan.inputs.iter();
    deep.filter(|input| input.level > PhysicalLevel::L0)
        .flat_map(|input| &input.files)
        .any(|file| seen.unreadable.contains(file))
}

/// The merge of files that lie above level 1, with what RocksDB adds to them.
pub(super) fn merge_of(
    seen: &Observation,
    chosen: &[File],
    output: PhysicalLevel,
    reason: Reason,
) -> Option<Plan> {
    let chosen: BTreeSet<u64> = chosen.iter().map(|file| file.number).collect();
    let files = closure(&seen.tree, &chosen, output);
    let mut plan = describe(seen, &files, output, reason)?;
    let bound = seen.shape.piece_bytes(seen.tree.total_bytes());
    plan.excess = (plan.input_bytes > bound).then_some(Excess::Level0);
    Some(plan)
}

/// Why L0 should be merged now.
fn due(seen: &Observation) -> Option<Reason> {
    let files = seen.tree.level0();
    let trigger = seen.shape.level0_file_num_compaction_trigger;
    if files.len() >= trigger as usize {
        return Some(Reason::Level0Trigger {
            files: files.len(),
            trigger,
        });
    }
    let asked = |file: &File| {
        let after = seen.state.compact_all_after;
        seen.state.compact_all && after.is_none_or(|after| file.number <= after)
    };
    if files.iter().any(asked) {
        return Some(Reason::Manual);
    }
    files
        .iter()
        .find(|file| file.deletion_share() >= seen.shape.tombstone_share)
        .map(|file| Reason::Tombstones {
            file: file.number,
            share: file.deletion_share(),
        })
}

/// The oldest files of L0: as many as a piece may hold, and no fewer than the
/// trigger, since every merge also rewrites what they overlap.
fn oldest(seen: &Observation) -> &[File] {
    let files = seen.tree.level0();
    let least = seen.shape.level0_file_num_compaction_trigger as usize;
    let bound = seen.shape.piece_bytes(seen.tree.total_bytes());
    let mut bytes = 0;
    let fitting = files
        .iter()
        .rev()
        .take_while(|file| {
            bytes += file.size;
            bytes <= bound
        })
        .count();
    &files[files.len().saturating_sub(fitting.max(least))..]
}
