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
mod portrait;
pub(crate) mod read;
pub(crate) mod recorded;
mod replay;
mod workloads;

pub use draw::{Style, draw};
pub use history::Decision;
pub use limits::LimitReason;
pub use portrait::{
    DrainPortrait, Flexible, Landing, Level, Level0, Plain, PlainLevel, Portrait, Run, RunState,
    TreePortrait,
};
pub use recorded::{recorded_policy, recorded_settings};
pub use replay::replay;
pub use workloads::observed_workloads;

use std::path::Path;

use serde::Serialize;

use crate::error::Result;
use crate::files::{pin, state};

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
    /// Why each level has its run limit, by the journal.
    pub limits: Vec<LimitReason>,
    /// The journal's last decisions, oldest first.
    pub decisions: Vec<Decision>,
}

/// Looks at a directory without changing anything in it.
///
/// # Errors
/// When there is no database, when it cannot be read, or when it has no column
/// family of the name asked for.
pub fn inspect(directory: &Path, question: &Question) -> Result<Inspection> {
    let found = read::open(directory)?;
    let loaded = state::load(directory)?;
    let mut remarks: Vec<String> = loaded.remark.into_iter().collect();
    let mut families = Vec::new();
    for name in found.choose(question.column_family.as_deref())? {
        let seen = found.look(&name)?;
        remarks.extend(seen.remark);
        let settings = recorded::family_settings(&found.options, &loaded.stored, &name)?;
        let stored = loaded.stored.families.get(&name);
        let driven = stored.is_some() || found.has_our_levels(&name);
        let tree = if driven {
            let fresh = lissom_core::TreeState::new(settings.policy.first_limits());
            let known = portrait::Known {
                shape: &settings.shape(),
                state: stored.map_or(&fresh, |stored| &stored.tree),
                policy: stored.map(|stored| stored.policy.as_str()),
                unreadable_files: stored.map_or(0, |stored| stored.unreadable.len()),
            };
            portrait::flexible(&seen.tree, known)
        } else {
            portrait::plain(&seen.tree, found.style(&name))
        };
        families.push(portrait::frame(&name, &seen.tree, &seen.tables, tree));
    }
    let driven = |family: &Portrait| matches!(family.tree, TreePortrait::Lissom(_));
    let journal = history::of(directory, question)?;
    Ok(Inspection {
        directory: directory.display().to_string(),
        adopted: families.iter().any(driven),
        pinned: pin::is_set(directory),
        remarks,
        families,
        limits: limits::reasons(&journal),
        decisions: history::last(&journal, question),
    })
}
