//! Adopting: the state file is written, then the planner sinks runs by moves and
//! merges what is over its limits.
//!
//! The steps, each of which leaves a database that opens:
//!
//! 1. it is refused for what its files say, or looked at read-only, and refused for how
//!    its tables are compressed;
//! 2. it is opened with Lissom's options, which writes an OPTIONS file;
//! 3. the state file is written: from here on the directory is adopted;
//! 4. the autopilot works until it wants nothing more.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lissom_core::tuner::Policy;
use lissom_core::{Observation, Tree, TreeState, planner};
use rust_rocksdb::Options;

use super::drive::{self, Customise};
use super::forecast::foresee;
use super::refusal::{self, Candidate};
use super::space::{check_space, free_bytes_once_opened};
use super::work::{Watch, Work};
use crate::error::{Error, Result};
use crate::files::pin;
use crate::files::state::{self, StoredFamily};
use crate::inspect::record::Record;
use crate::inspect::{read, recorded};
use crate::places::{has_log, recorded_log};
use crate::settings::Settings;

/// A change to the settings of a column family, given its name.
type Change = dyn Fn(&str, &mut Settings) + Send + Sync;

/// Takes over a directory.
///
/// ```no_run
/// use lissom::adopt::Adopter;
///
/// let adopter = Adopter::new("data");
/// println!("at most {} bytes will be merged", adopter.forecast()?.merged_bytes());
/// adopter.adopt(&mut |_| ())?;
/// # Ok::<(), lissom::Error>(())
/// ```
pub struct Adopter {
    directory: PathBuf,
    change: Box<Change>,
    customise: Arc<Customise>,
}

impl Adopter {
    /// Takes over the directory with the settings that its files record, and
    /// Lissom's defaults for the rest.
    pub fn new(directory: impl AsRef<Path>) -> Adopter {
        Adopter {
            directory: directory.as_ref().to_owned(),
            change: Box::new(|_, _| ()),
            customise: Arc::new(|_, _| ()),
        }
    }

    /// Changes the settings of a column family, given its name.
    pub fn settings(
        mut self,
        change: impl Fn(&str, &mut Settings) + Send + Sync + 'static,
    ) -> Adopter {
        self.change = Box::new(change);
        self
    }

    /// Sets merge operators and other things that only the application has; see
    /// [`Opening::customise`](crate::db::Opening::customise).
    pub fn customise(
        mut self,
        change: impl Fn(&str, &mut Options) + Send + Sync + 'static,
    ) -> Adopter {
        self.customise = Arc::new(change);
        self
    }

    /// What will be moved and merged. Changes nothing.
    ///
    /// # Errors
    /// When there is no database, or one that cannot be taken over.
    pub fn forecast(&self) -> Result<Work> {
        self.look().map(|(work, _)| work)
    }

    fn look(&self) -> Result<(Work, BTreeMap<String, Settings>)> {
        let (opened, stored) = read::open_whole(&self.directory, &*self.customise, &check)?;
        let record = &opened.record;
        let mut work = Work::begin(&self.directory, free_bytes_once_opened(&self.directory)?);
        let mut all_settings = BTreeMap::new();
        for name in &record.names {
            let before = recorded::family_settings(&record.options, &stored, name)?;
            let settings = self.wanted(&before, name)?;
            let seen = opened.look(name)?;
            // What cannot be read may be compressed in a way that cannot be undone here.
            let unread = seen.unread.as_ref();
            let why = unread.map(|error| format!("its files could not all be read: {error}"));
            if let Some(why) = why.or_else(|| refusal::tables(&seen.tables)) {
                return Err(refused(record, &of_family(name, &why)));
            }
            if let Some(options) = record.family(name) {
                work.remarks.extend(refusal::remarks(options));
            }
            let state = recorded::family_state(&stored, name, &settings);
            let state = self.begun(state, &settings, &seen.tree);
            let found = foresee(&settings, &seen, &state)?;
            let adopted = stored.families.contains_key(name) && record.has_our_levels(name);
            work.done &= adopted && found.is_nothing() && are_recorded(&settings, &before);
            work.add(name, &seen.tree, &settings, found);
            all_settings.insert(name.clone(), settings);
        }
        if !work.done && has_log(record.log())? {
            work.remark_log();
        }
        Ok((work, all_settings))
    }

    /// The settings that a column family is to have, over those that are recorded.
    fn wanted(&self, recorded: &Settings, name: &str) -> Result<Settings> {
        let mut settings = recorded.clone();
        (self.change)(name, &mut settings);
        settings.create_if_missing = false;
        settings
            .check()
            .map_err(|error| error.within(format!("column family \"{name}\"")))?;
        Ok(settings)
    }

    /// What the planner goes by from the first round on: it holds the limits of a fixed policy.
    fn begun(&self, state: TreeState, settings: &Settings, tree: &Tree) -> TreeState {
        let Policy::Fixed(limits) = &settings.policy else {
            return state;
        };
        if *limits == state.limits || limits == state.wanted_limits() {
            return state;
        }
        let shape = settings.shape().fitted(tree);
        let mut seen = Observation::quiet(shape, tree.clone(), state, settings.workers);
        seen.pinned = pin::is_set(&self.directory);
        planner::with_limits(&seen, limits.clone())
    }

    /// Takes the directory over, goes on where an earlier call was interrupted, or
    /// brings it to another policy and other dimensions. Returns what was foreseen.
    ///
    /// # Errors
    /// As [`Adopter::forecast`]; when the directory is open elsewhere; when too
    /// little space is free; when the disk fails. No data is lost, and the same
    /// call goes on.
    pub fn adopt(&self, watch: &mut Watch<'_>) -> Result<Work> {
        let (work, settings) = self.look()?;
        if work.done {
            return Ok(work);
        }
        check_space(&work)?;
        let ready = drive::open(&self.directory, &settings, &*self.customise)?;
        mark(&self.directory, &settings)?;
        ready.settle(work.merged_bytes(), watch)?;
        Ok(work)
    }
}

/// Whether a directory records these settings, as far as its state file holds settings.
fn are_recorded(settings: &Settings, recorded: &Settings) -> bool {
    // The state file has the name of the tuner, which does not say where a learner began.
    let tuner = |it: &Settings| it.policy.over(it.filters).tuner().name();
    tuner(settings) == tuner(recorded) && settings.shape() == recorded.shape()
}

/// Refuses a database before it is opened, for what its files say.
fn check(record: &Record) -> Result<()> {
    let wal_dir = recorded_log(&record.directory, &record.options.db.wal_dir);
    let blobs = has_files(&record.directory, ".blob")?;
    let tables = has_files(&record.directory, ".sst")?;
    let why = refusal::database(&record.options, wal_dir, blobs)
        .or_else(|| record.names.iter().find_map(|name| family(record, name)))
        .or_else(|| compressions(record).filter(|_| tables));
    match why {
        Some(why) => Err(refused(record, &why)),
        None => record.require_places("lissom::adopt::Adopter::customise"),
    }
}

/// Why a column family cannot be taken over, by what is on record of it.
fn family(record: &Record, name: &str) -> Option<String> {
    let candidate = Candidate {
        options: record.family(name)?,
        merge_operator: record.merge_operators.get(name).map(String::as_str),
    };
    refusal::family(&candidate).map(|why| of_family(name, &why))
}

/// Why table files cannot be read, where the compression of every column family is on
/// record.
fn compressions(record: &Record) -> Option<String> {
    let names = record.names.iter();
    let families: Option<Vec<_>> = names.map(|name| record.family(name)).collect();
    refusal::compressions(&families?)
}

fn of_family(name: &str, why: &str) -> String {
    format!("column family \"{name}\": {why}")
}

fn refused(record: &Record, why: &str) -> Error {
    Error::fix(format!(
        "{} cannot be adopted: {why}",
        record.directory.display()
    ))
}

/// Writes the state file, with an entry for each column family that has none.
fn mark(directory: &Path, settings: &BTreeMap<String, Settings>) -> Result<()> {
    let mut stored = state::load_to_write(directory)?.stored;
    let before = stored.clone();
    for (name, settings) in settings {
        stored
            .families
            .entry(name.clone())
            .or_insert_with(|| StoredFamily::of(settings));
    }
    if stored == before && state::path(directory).exists() {
        return Ok(());
    }
    state::save(directory, &stored)
}

/// Whether a directory has files whose names end so.
fn has_files(directory: &Path, ending: &str) -> Result<bool> {
    let cannot = |error| Error::io("read the directory", directory, &error);
    for entry in std::fs::read_dir(directory).map_err(cannot)? {
        let name = entry.map_err(cannot)?.file_name();
        if name.to_string_lossy().ends_with(ending) {
            return Ok(true);
        }
    }
    Ok(false)
}
