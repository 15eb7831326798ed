//! Which work first? A number for each: 0 where it has just become due, 1 where
//! the tree holds as much as it should ever hold.
//!
//! Workers go where the number is highest, so that under a load that is too much
//! no part of the tree grows without end while another is kept tidy.

use super::level::view;
use crate::layout::LogicalLevel;
use crate::observation::Observation;
use crate::plan::Reason;
use crate::state::Drain;

/// A drain as urgent as this may take the worker that is kept for L0.
pub(super) const HURRY: f64 = 0.5;

/// A level should never hold more than this many times its capacity.
const MOST_CAPACITIES: f64 = 3.0;

/// With fewer free slots above its newest run, a level's runs are seated anew and
/// its drain gets urgent: new runs need slots also while a drain holds the others.
pub(super) const FEW_SLOTS: u16 = 8;

/// Merging for space begins at this share of the space that the bound leaves,
/// since writes go on meanwhile.
pub(crate) const SPACE_SHARE: f64 = 0.8;

/// Of the merge of L0: from its trigger to where writers are slowed down.
pub(super) fn level0(seen: &Observation) -> f64 {
    let trigger = f64::from(seen.shape.level0_file_num_compaction_trigger);
    let slowdown = f64::from(seen.shape.level0_slowdown_writes_trigger);
    let files = seen.tree.level0().len() as f64;
    ((files - trigger) / (slowdown - trigger).max(1.0)).max(0.0)
}

/// Of a drain: from its level's capacity to three times that, or until no slot
/// is left for new runs; into the deepest level, also until the bound on space. One of a
/// range of keys is as urgent as the level above, which may have to wait for it. One for
/// the reads' sake is not urgent before it is in a hurry.
pub(super) fn drain(seen: &Observation, drain: &Drain) -> f64 {
    let source = seen.shape.layout.logical(drain.top);
    let by_level = source.map_or(0.0, |(level, _)| {
        let above = level.0.saturating_sub(u16::from(drain.range.is_some()));
        (above.max(1)..=level.0)
            .map(|level| crowding(seen, LogicalLevel(level)))
            .fold(0.0, f64::max)
    });
    let urgency = by_level.max(for_space(seen, drain));
    if is_for_reads(drain) && urgency < HURRY {
        0.0
    } else {
        urgency
    }
}

/// Whether a drain is in a hurry.
pub(super) fn is_hurried(seen: &Observation, it: &Drain) -> bool {
    drain(seen, it) >= HURRY
}

/// Whether a drain is wanted for the reads' sake alone: nothing waits for it.
pub(super) fn is_for_reads(drain: &Drain) -> bool {
    matches!(drain.reason, Reason::Consolidate { .. })
}

/// Whether a merge for the reads' sake cannot begin before a drain is over, which takes from or
/// leads into a level of its. The merge of L0 is none such: it is planned after those wishes that
/// can begin.
pub(super) fn is_awaited(seen: &Observation, drain: &Drain) -> bool {
    let layout = &seen.shape.layout;
    let meets = |from: LogicalLevel, to: LogicalLevel| {
        drain.top <= layout.span(to).1 && drain.target >= layout.span(from).0
    };
    let state = &seen.state;
    state.consolidate.iter().any(|it| meets(*it, *it))
        || state.push_down.iter().any(|it| meets(*it, it.next()))
}

/// Of a drain for the bound on space alone; 0 unless it leads into the deepest level.
pub(super) fn for_space(seen: &Observation, drain: &Drain) -> f64 {
    let layout = &seen.shape.layout;
    let target = layout.logical(drain.target).map(|(level, _)| level);
    if target >= seen.tree.deepest_occupied(layout) {
        space(seen)
    } else {
        0.0
    }
}

/// How far the tree is on its way from where merging for space begins to the bound; 1 beyond it,
/// so that L0 goes first where writers wait for it. By the largest run: the oldest one is small
/// while the deepest level is drained into an empty one, or where a file was ingested below.
pub(super) fn space(seen: &Observation) -> f64 {
    let largest = seen.tree.runs().map(|run| seen.tree.bytes(run)).max();
    let largest = largest.unwrap_or_default().max(1);
    let estimate = seen.tree.total_bytes() as f64 / largest as f64;
    let share = (estimate - 1.0) / (seen.shape.max_space_amplification - 1.0);
    ((share - SPACE_SHARE) / (1.0 - SPACE_SHARE)).clamp(0.0, 1.0)
}

/// How far a level, drained runs included, is past its capacity.
pub(super) fn crowding(seen: &Observation, level: LogicalLevel) -> f64 {
    let bytes = seen.tree.level_bytes(&seen.shape.layout, level);
    let capacities = bytes as f64 / seen.shape.capacity(level) as f64;
    let by_bytes = (capacities - 1.0) / (MOST_CAPACITIES - 1.0);
    let (first, _) = seen.shape.layout.span(level);
    let slot = view(seen, level).free_slot(seen);
    let free = slot.map_or(0, |slot| slot.0 - first.0 + 1);
    let by_slots = 1.0 - f64::from(free) / f64::from(FEW_SLOTS);
    by_bytes.max(by_slots).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::drawing::parse;

    fn space_of(drawing: &str) -> f64 {
        let mut seen = parse(drawing).expect("a drawing");
        seen.shape.max_space_amplification = 3.0;
        space(&seen)
    }

    #[test]
    fn space_is_urgent_by_what_the_data_cannot_be_smaller_than() {
        assert_eq!(space_of(""), 0.0);
        let begun = "2.14: 0-90:26 \n 3.15: 0-9:1 \n drain 2.14 -> 3.15";
        assert_eq!(space_of(begun), 0.0, "an empty level fills");
        let of = |runs: u16| {
            let runs: Vec<_> = (0..runs)
                .map(|at| format!("2.{}: 0-90:26", 15 - at))
                .collect();
            space_of(&runs.join("\n"))
        };
        assert!((of(2), of(4)) == (0.0, 1.0) && (0.99..=1.0).contains(&of(3)));
    }
}
