//! Drains that go on as data comes in.
//!
//! A level that is drained at once stands still most of the time, and then moves all it
//! has. A paced one moves a piece whenever as much has come in: it is never fuller than
//! at the start, and empty of what it had once half its capacity has come.

use std::collections::BTreeSet;

use super::level::view;
use super::urgency::for_space;
use crate::observation::Observation;
use crate::plan::Reason;
use crate::state::Drain;

/// A drain is over when so much of the level's capacity has come in anew.
const OVER_AT: f64 = 0.5;

/// A drain as urgent as this does not wait: two slots are left for new runs, or the
/// level holds two and a half times its capacity.
const LATE: f64 = 0.75;

/// Whether the next piece of a drain is due. Pieces that run count as done.
///
/// Only drains of full levels can wait; and not those by ranges, which are pieces
/// themselves, nor when someone waits for the level to be merged, nor when the tree nears
/// its bound on space: a drain that waits keeps the deepest level from merging for it.
/// Less urgency than [`LATE`] is no hurry: a full level of ten runs has some at once.
pub(super) fn is_due(seen: &Observation, drain: &Drain, urgency: f64) -> bool {
    let Reason::LevelFull {
        level, capacity, ..
    } = drain.reason
    else {
        return true;
    };
    let state = &seen.state;
    let wanted = [&state.consolidate, &state.push_down, &state.forced];
    let awaited = state.compact_all || wanted.iter().any(|levels| !levels.is_empty());
    let in_a_hurry = urgency >= LATE || for_space(seen, drain) > 0.0;
    if awaited || in_a_hurry || drain.range.is_some() {
        return true;
    }
    let come = view(seen, level).bytes() as f64;
    left_bytes(seen, drain) as f64 > capacity as f64 - come / OVER_AT
}

/// Bytes in a drain's source files that no piece has taken yet.
fn left_bytes(seen: &Observation, drain: &Drain) -> u64 {
    let taken: BTreeSet<u64> = seen
        .in_flight
        .iter()
        .filter(|job| job.drain == Some(drain.id))
        .flat_map(|job| job.files.iter().copied())
        .collect();
    seen.tree
        .runs_within(drain.top, drain.target)
        .into_iter()
        .filter(|run| *run < drain.target)
        .flat_map(|run| seen.tree.files(run))
        .filter(|file| !taken.contains(&file.number))
        .map(|file| file.size)
        .sum()
}
