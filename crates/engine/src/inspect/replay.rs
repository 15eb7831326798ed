//! A store's journal, decided again by another policy.

use std::path::Path;

use lissom_core::replay::Redecided;
use lissom_core::tuner::Policy;

use super::history;
use super::read::check_directory;
use super::recorded::recorded_settings;
use crate::error::{Error, Result};
use crate::settings::check_exploration;

/// The recorded missions of one column family, decided again by a policy. `path`
/// is a database directory or the journal in one; the store may be open. `learned` may
/// spend as much on trials as the store let it, or the share `exploration`, from 0 to 1.
/// `lerp` propagates by the filters that the policy on record needs, uniform ones where it
/// needs none.
///
/// # Errors
/// An exploration outside its range; no database, or no mission in its journals.
pub fn replay(
    path: &Path,
    column_family: &str,
    policy: &Policy,
    exploration: Option<f64>,
) -> Result<Vec<Redecided>> {
    if let Some(share) = exploration {
        check_exploration(share)?;
    }
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
    let entries = history::all(directory)?;
    let mut begin = |recorded| policy.tuner_exploring(exploration.unwrap_or(recorded));
    let decided = lissom_core::replay::replay(&entries, column_family, &shape, &mut begin);
    if decided.is_empty() {
        return Err(Error::fix(format!(
            "the journal of {} tells of no mission of the column family \"{column_family}\": a \
             store writes one when it has served operations through Lissom's handle",
            directory.display()
        )));
    }
    Ok(decided)
}
