//! Where the model's outputs end.

use super::model::{ENTRY_BYTES, Entries, name};
use crate::guards::Guards;
use crate::key::Key;
use crate::layout::{LogicalLevel, PhysicalLevel};
use crate::plan::Plan;
use crate::shape::Shape;
use crate::state::TreeState;
use crate::tree::Tree;

/// Cuts outputs at guards and at the plan's file size, as the engine's partitioner does.
pub(super) fn cut(plan: &Plan, guards: &[Key], merged: Entries) -> Vec<Entries> {
    let most = (plan.output_file_size / ENTRY_BYTES).max(1) as usize;
    let mut files: Vec<Entries> = Vec::new();
    let mut guard = 0;
    for (key, version) in merged {
        let name = name(key);
        let before = guard;
        while guards.get(guard).is_some_and(|cut| *cut <= name) {
            guard += 1;
        }
        match files.last_mut() {
            Some(file) if guard == before && file.len() < most => {
                file.insert(key, version);
            }
            _ => files.push(Entries::from([(key, version)])),
        }
    }
    files
}

/// The keys at which outputs into a physical level are cut.
pub fn level_guards(
    shape: &Shape,
    state: &TreeState,
    output: PhysicalLevel,
    tree: &Tree,
) -> Vec<Key> {
    let level = shape
        .layout
        .logical(output)
        .map_or(LogicalLevel(1), |at| at.0);
    let pieces = shape.pieces(level, &state.limits, tree);
    let guards: &Guards = &state.guards;
    guards.for_intervals(pieces).cloned().collect()
}
