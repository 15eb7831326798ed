//! How much the planner still wants to merge.

use std::collections::BTreeSet;

use lissom_core::{File, Observation, PhysicalLevel, Plan};

/// Bytes of all files that are inputs of a running or proposed merge, that a
/// begun drain has left, or that lie in L0 when it is over its trigger. What
/// drains that have not begun will move is not in it.
pub(super) fn debt_bytes(seen: &Observation, plans: &[Plan]) -> u64 {
    let inputs: BTreeSet<u64> = seen
        .in_flight
        .iter()
        .flat_map(|job| job.files.iter().copied())
        .chain(plans.iter().flat_map(Plan::files))
        .collect();
    let trigger = seen.shape.level0_file_num_compaction_trigger as usize;
    let level0_due = seen.tree.level0().len() >= trigger;
    let is_due = |level: PhysicalLevel, file: &File| {
        inputs.contains(&file.number)
            || (level == PhysicalLevel::L0 && level0_due)
            || seen.state.is_drained(level, &file.smallest)
    };
    seen.tree
        .iter()
        .filter(|(level, file)| is_due(*level, file))
        .map(|(_, file)| file.size)
        .sum()
}
