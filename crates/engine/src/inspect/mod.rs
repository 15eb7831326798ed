//! A read-only look at a directory, also while another process has it open.
//!
//! ```no_run
//! use lissom::inspect::{Question, Style, draw, inspect};
//!
//! let seen = inspect("data".as_ref(), &Question::default())?;
//! print!("{}", draw(&seen, &Style::default()));
//! # Ok::<(), lissom::Error>(())
//! ```

mod draw;
mod history;
mod limits;
mod lines;
mod merges;
mod portrait;
pub(crate) mod read;
pub(crate) mod record;
pub(crate) mod recorded;
mod replay;
mod workloads;

pub use draw::{Style, bytes, draw, plural};
pub use history::Decision;
pub use limits::LimitReason;
pub use portrait::{
    DrainPortrait, Flexible, Landing, Level, Level0, Plain, PlainLevel, Portrait, Run, RunState,
    TreePortrait,
};
pub use recorded::{recorded_policy, recorded_settings};
pub use replay::{AllowedInstead, Replayed, replay};
pub use workloads::observed_workloads;

use std::path::Path;

use lissom_core::schedule::{Conditions, Debt, Estimate};
use lissom_core::{Layout, Observation, Shape, Tree, TreeState, planner};
use serde::Serialize;

use self::limits::Asked;
use self::lines::Lines;
use crate::error::Result;
use crate::files::state::{self, StoredSchedule};
use crate::files::{pin, probe};
use crate::settings::workers_under;

/// No more of the journals' end is read for the last decisions than this, bytes.
const TAIL: u64 = 16 << 20;

/// What an inspection should look at.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Question {
    /// Only this column family; all when absent.
    pub column_family: Option<String>,
    /// How many of the journal's last decisions are wanted; with any, also why each level
    /// has its run limit.
    pub decisions: usize,
}

/// What an inspection found.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Inspection {
    /// The directory.
    pub directory: String,
    /// Whether the autopilot drives it.
    pub adopted: bool,
    /// Whether the pin holds its limits.
    pub pinned: bool,
    /// Sentences on what could not be seen.
    pub remarks: Vec<String>,
    /// Its column families.
    pub families: Vec<Portrait>,
    /// What those that the autopilot drives owe; absent where the device's speed was neither
    /// given nor measured, as under the schedule `eager` by default.
    pub owed: Option<Owed>,
    /// Why each level has its run limit: the decision by the state file, or else by the
    /// journal, with what came of it by the journal.
    pub limits: Vec<LimitReason>,
    /// The journal's last decisions, oldest first.
    pub decisions: Vec<Decision>,
}

/// What waits to be merged.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Owed {
    /// Files in L0, of the column family that has the most.
    pub level0_files: usize,
    /// Bytes in L0, over all column families.
    pub level0_bytes: u64,
    /// Bytes that begun drains will read: what they have left, and what they rewrite where it
    /// goes.
    pub drain_bytes: u64,
    /// Bytes that merges of full levels will read and write besides ([`Debt::waiting_bytes`]).
    pub waiting_bytes: u64,
    /// What the device reads and writes together: as the settings gave it at the last open,
    /// or else as it was measured.
    pub device_bytes_per_second: u64,
    /// How long catching up would take now if nobody else used the machine, seconds
    /// ([`Estimate::catch_up`]): by what merges cost and how fast they went, whichever schedule
    /// was last. Before any were seen, bytes of L0 are read and written in two levels, as fast
    /// as the device does it.
    pub catch_up_seconds: f64,
}

/// Looks at a directory without changing anything in it.
///
/// # Errors
/// When there is no database, when it cannot be read, or when it has no column
/// family of the name asked for.
pub fn inspect(directory: &Path, question: &Question) -> Result<Inspection> {
    inspect_end(directory, question, TAIL)
}

/// The same, by so many bytes of the journals' end.
pub(crate) fn inspect_end(directory: &Path, question: &Question, tail: u64) -> Result<Inspection> {
    let found = read::open(directory)?;
    let loaded = state::load(directory)?;
    let mut remarks: Vec<String> = loaded.remark.into_iter().collect();
    let (mut families, mut asked, mut debt) = (Vec::new(), Vec::new(), Debt::default());
    let why = question.decisions > 0;
    for name in found.record.choose(question.column_family.as_deref())? {
        let seen = found.look(&name)?;
        remarks.extend(seen.unread.map(|error| {
            format!(
                "the files of column family {name} could not all be read, so entries, tombstones \
                 and filters are not shown: {error}"
            )
        }));
        let settings = recorded::family_settings(&found.record.options, &loaded.stored, &name)?;
        let stored = loaded.stored.families.get(&name);
        let driven = stored.is_some() || found.record.has_our_levels(&name);
        let tree = if driven {
            let fresh = lissom_core::TreeState::new(settings.policy.first_limits());
            let state = stored.map_or(&fresh, |stored| &stored.tree);
            let shape = settings.shape().fitted(&seen.tree);
            add_debt(&mut debt, &shape, &seen.tree, state);
            let known = portrait::Known {
                shape: &shape,
                state,
                policy: stored.map(|stored| stored.policy.as_str()),
                unreadable_files: stored.map_or(0, |stored| stored.unreadable.len()),
            };
            portrait::flexible(&seen.tree, known)
        } else {
            portrait::plain(&seen.tree, found.record.style(&name))
        };
        families.push(portrait::frame(&name, &seen.tree, &seen.tables, tree));
        if why {
            asked.push(Asked {
                name,
                deepest: seen.tree.deepest_occupied(&Layout::V1),
                limits: stored.map(|stored| stored.tree.wanted_limits()),
                decided: stored.map(|it| &it.reasons[..]).unwrap_or_default(),
            });
        }
    }
    let driven = |family: &Portrait| matches!(family.tree, TreePortrait::Lissom(_));
    let journal = match why {
        true => lines::read(directory, Some(tail))?,
        false => Lines::default(),
    };
    remarks.extend(journal.remark());
    Ok(Inspection {
        directory: directory.display().to_string(),
        adopted: families.iter().any(driven),
        pinned: pin::is_set(directory),
        remarks,
        families,
        owed: owed(
            &debt,
            &loaded.stored.schedule,
            probe::device_id(directory),
            workers(&found),
        ),
        limits: limits::reasons(&asked, &journal.entries, loaded.stored.openings),
        decisions: history::last(&journal.entries, question),
    })
}

fn add_debt(debt: &mut Debt, shape: &Shape, tree: &Tree, state: &TreeState) {
    let own = Debt::of_level0(tree);
    debt.level0_files = debt.level0_files.max(own.level0_files);
    debt.level0_bytes += own.level0_bytes;
    debt.deep_bytes += state.drained_bytes(tree);
    let alone = Observation::quiet(shape.clone(), tree.clone(), state.clone(), 1);
    debt.add_waiting(&planner::waiting_below_level0(&alone));
}

/// Those that RocksDB had room for at the last open.
fn workers(found: &read::Opened) -> usize {
    workers_under(found.record.options.db.max_background_jobs as usize)
}

fn owed(
    debt: &Debt,
    schedule: &StoredSchedule,
    device_id: Option<u64>,
    workers: usize,
) -> Option<Owed> {
    let device = schedule.device(device_id)?;
    let conditions = Conditions {
        device_bytes_per_second: device as f64,
        workers,
        ..Conditions::default()
    };
    let catch_up = Estimate::kept(schedule.merges).catch_up(debt, &conditions)?;
    Some(Owed {
        level0_files: debt.level0_files,
        level0_bytes: debt.level0_bytes,
        drain_bytes: debt.deep_bytes,
        waiting_bytes: debt.waiting_bytes,
        device_bytes_per_second: device,
        catch_up_seconds: catch_up.as_secs_f64(),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lissom_core::schedule::{Load, Merges};

    use super::*;

    const DEBT: Debt = Debt {
        level0_files: 7,
        level0_bytes: 100_000_000,
        level0_delayed_bytes: 0,
        level0_at_own_bound: false,
        level0_share: None,
        level0_merging_bytes: 0,
        level0_held_up: false,
        deep_bytes: 50_000_000,
        waiting_bytes: 0,
        below_per_byte: 0.0,
        crowding: 0.0,
    };

    fn stored(merges: Option<Merges>) -> StoredSchedule {
        StoredSchedule {
            merges,
            device_bytes_per_second: Some(100_000_000),
            ..StoredSchedule::default()
        }
    }

    #[test]
    fn what_is_owed_takes_as_long_as_the_device_needs_for_it() {
        let known = stored(None);
        let owed = owed(&DEBT, &known, None, 2).expect("the device is known");
        assert_eq!(owed.catch_up_seconds, 5.0);
        assert_eq!((owed.level0_files, owed.drain_bytes), (7, 50_000_000));
        let unknown = StoredSchedule::default();
        assert_eq!(super::owed(&DEBT, &unknown, None, 2), None);
        assert_eq!(super::owed(&DEBT, &known, Some(5), 2), None, "another one");
    }

    /// Ten bytes are moved for each that leaves L0, and ten megabytes a second by a worker.
    #[test]
    fn what_is_owed_takes_as_long_as_the_merges_that_were_seen() {
        let mut estimate = Estimate::default();
        let load = Load {
            interval: Duration::from_secs(1),
            level0_merged_bytes: 1_000_000,
            compacted_bytes: 10_000_000,
            compacted_micros: 1_000_000,
            ..Load::default()
        };
        estimate.learn(&load, &Conditions::default(), None);
        let seconds = |workers| {
            let owed = owed(&DEBT, &stored(Some(estimate.merges())), None, workers);
            owed.map(|owed| owed.catch_up_seconds)
        };
        assert_eq!([1, 2].map(seconds), [Some(110.0), Some(55.0)]);
    }
}
