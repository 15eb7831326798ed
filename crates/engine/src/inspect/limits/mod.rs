//! Why each level has its run limit, from the journal: what it was before, what was
//! expected, and what came.

mod came;
mod reading;
mod reason;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use lissom_core::LogicalLevel;
use lissom_core::journal::{Entry, Event};
use lissom_core::tuner::Trial;

use self::reading::Reading;
pub use self::reason::LimitReason;

/// The reason of every level that held data when the last mission of its column family
/// ended.
pub(super) fn reasons(entries: &[Entry]) -> Vec<LimitReason> {
    let mut families: BTreeMap<&str, Reading> = BTreeMap::new();
    for entry in entries {
        let reading = families.entry(&entry.column_family).or_default();
        match &entry.event {
            Event::Begin { policy, limits, .. } => {
                let why = format!("the autopilot began with {policy}");
                reading.set(entry, limits, |_| Some(why.clone()));
            }
            Event::Mission {
                mission,
                tree,
                trial,
                pinned,
                ..
            } => {
                reading.see(mission, tree);
                if !pinned {
                    reading.set(entry, &trial.limits, |level| said(trial, level));
                }
            }
            _ => {}
        }
    }
    families.into_values().flat_map(Reading::told).collect()
}

/// What a tuner says of a level whose limit it changes.
fn said(trial: &Trial, level: LogicalLevel) -> Option<String> {
    let change = trial.changes.iter().find(|change| change.level == level);
    change.map(|change| change.why.clone())
}
