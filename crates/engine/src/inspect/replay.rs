//! A store's journal, decided again by another policy.

use std::path::Path;

use lissom_core::journal::Entry;
use lissom_core::replay::Redecided;
use lissom_core::tuner::{Allowance, Policy};

use super::history;
use super::read::check_directory;
use super::recorded::recorded_settings;
use crate::error::{Error, Result};
use crate::settings::{check_exploration, check_write_amplification};

/// Recorded missions, decided again.
#[derive(Clone, PartialEq, Debug)]
pub struct Replayed {
    /// In the journal's order.
    pub missions: Vec<Redecided>,
    /// Whether the journal begins with the store's first opening. If it does not, a policy
    /// that learns is without what it had learned before, and may decide otherwise than it
    /// did in the store.
    pub from_start: bool,
    /// A sentence on lines of the journal that cannot be read; absent where there are none.
    pub remark: Option<String>,
}

/// What a learner is allowed in place of what the store allowed it; as there where absent.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct AllowedInstead {
    /// Share of the missions that it may spend on trials, from 0 to 1.
    pub exploration: Option<f64>,
    /// As of [`Settings::max_write_amplification`](crate::Settings::max_write_amplification),
    /// where the inner one is absent for no bound.
    pub max_write_amplification: Option<Option<f64>>,
}

impl AllowedInstead {
    fn check(&self) -> Result<()> {
        self.exploration.map_or(Ok(()), check_exploration)?;
        let bound = self.max_write_amplification;
        bound.map_or(Ok(()), check_write_amplification)
    }

    fn over(&self, recorded: Allowance) -> Allowance {
        let bound = self.max_write_amplification;
        Allowance {
            exploration: self.exploration.unwrap_or(recorded.exploration),
            max_write_amplification: bound.unwrap_or(recorded.max_write_amplification),
        }
    }
}

/// The recorded missions of one column family, decided again by a policy. `path`
/// is a database directory or the journal in one; the store may be open. `learned` is
/// allowed what the store allowed it, or what `instead` says.
/// `lerp` propagates by the filters that the policy on record needs, uniform ones where it
/// needs none.
///
/// # Errors
/// A setting of `instead` outside its range; no database, or no mission in its journals.
pub fn replay(
    path: &Path,
    column_family: &str,
    policy: &Policy,
    instead: &AllowedInstead,
) -> Result<Replayed> {
    instead.check()?;
    let directory = match path.parent() {
        Some(parent) if path.is_file() => parent,
        _ => path,
    };
    let directory = if directory.as_os_str().is_empty() {
        Path::new(".")
    } else {
        directory
    };
    check_directory(directory)?;
    let settings = recorded_settings(directory, column_family)?;
    let (shape, policy) = (settings.shape(), policy.over(settings.filters));
    let lines = history::all(directory)?;
    let entries = &lines.entries;
    let mut begin = |recorded| policy.tuner_within(instead.over(recorded));
    let missions = lissom_core::replay::replay(entries, column_family, &shape, &mut begin);
    if missions.is_empty() {
        return Err(Error::fix(format!(
            "the journal of {} tells of no mission of the column family \"{column_family}\": a \
             store writes one when it has served operations through Lissom's handle",
            directory.display()
        )));
    }
    Ok(Replayed {
        missions,
        from_start: entries.first().is_some_and(is_first),
        remark: lines.remark(),
    })
}

/// Whether it is the first line that the store has ever written. Where a journal was lost,
/// lines are numbered anew, and openings are not.
fn is_first(entry: &Entry) -> bool {
    entry.number <= 1 && entry.opening <= 1
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lissom_core::journal::Event;

    use super::*;

    #[test]
    fn what_is_not_said_instead_is_as_in_the_store() {
        let recorded = Allowance::default();
        assert_eq!(AllowedInstead::default().over(recorded), recorded);
        let free = AllowedInstead {
            exploration: Some(0.0),
            max_write_amplification: Some(None),
        };
        free.check().expect("legal");
        let allowed = free.over(recorded);
        assert_eq!(allowed.exploration, 0.0);
        assert_eq!(allowed.max_write_amplification, None);
        let negative = AllowedInstead {
            max_write_amplification: Some(Some(-1.0)),
            ..free
        };
        negative.check().expect_err("no bound");
    }

    #[test]
    fn the_first_line_is_that_of_the_first_opening() {
        let first = |number, opening| {
            is_first(&Entry {
                number,
                opening,
                at: Duration::ZERO,
                column_family: "default".into(),
                event: Event::Note { text: "a".into() },
            })
        };
        assert!(first(1, 1));
        assert!(first(1, 0), "an older version does not tell the opening");
        assert!(!first(2, 1), "rotated away");
        assert!(!first(1, 2), "lost");
    }
}
