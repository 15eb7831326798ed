//! Why each level has its run limit: what it was before, what was expected, and what came.
//! The state file has the last decision on each level; the journal has what came since, and
//! the decision where the state file is of an older version.

mod came;
mod reading;
mod reason;
#[cfg(test)]
mod tests;

use lissom_core::journal::Entry;
use lissom_core::reasons::Decided;
use lissom_core::{LogicalLevel, RunLimits};

use self::reading::Reading;
pub use self::reason::LimitReason;

/// A column family whose limits are to be explained.
pub(super) struct Asked<'a> {
    pub name: String,
    /// The deepest level that holds data; no deeper one has need of a reason.
    pub deepest: Option<LogicalLevel>,
    /// Its limits, by the state file.
    pub limits: Option<&'a RunLimits>,
    /// The decisions that the state file has.
    pub decided: &'a [Decided],
}

/// The reason of every level that holds data, or lies above one that does. `entries` is the
/// journals' end without a hole; the state file knows of so many openings.
pub(super) fn reasons(asked: &[Asked<'_>], entries: &[Entry], openings: u64) -> Vec<LimitReason> {
    let opening = entries.last().map_or(0, |entry| entry.opening);
    let opening = opening.max(openings);
    let of_family = |asked: &Asked<'_>| {
        let mut reading = Reading::new(asked.decided, entries.first());
        for entry in entries {
            if entry.column_family == asked.name {
                reading.follow(entry);
            }
        }
        reading.told(asked, opening)
    };
    asked.iter().flat_map(of_family).collect()
}
