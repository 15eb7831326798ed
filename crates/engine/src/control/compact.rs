//! Compacting by hand: everything in a column family becomes one run, in
//! bounded pieces like all other work.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rust_rocksdb::Options;

use crate::adopt::drive::{self, Customise, is_one_run};
use crate::adopt::space::{check_space, free_bytes_once_opened};
use crate::adopt::{Forecast, Watch, Work, foresee};
use crate::error::Result;
use crate::inspect::record::Record;
use crate::inspect::{read, recorded};
use crate::places::has_log;
use crate::settings::Settings;

/// Merges the column families of a closed database into one run each.
///
/// In a running store call [`Autopilot::compact`](crate::Autopilot::compact);
/// one that another process runs is asked by
/// [`ask_to_compact`](crate::control::ask_to_compact).
pub struct Compactor {
    directory: PathBuf,
    column_family: Option<String>,
    customise: Arc<Customise>,
}

/// What the files show.
struct Seen {
    work: Work,
    /// The log holds entries.
    logged: bool,
    settings: BTreeMap<String, Settings>,
}

impl Compactor {
    /// Compacts all column families.
    pub fn new(directory: impl AsRef<Path>) -> Compactor {
        Compactor {
            directory: directory.as_ref().to_owned(),
            column_family: None,
            customise: Arc::new(|_, _| ()),
        }
    }

    /// Compacts one column family only.
    pub fn column_family(mut self, name: impl Into<String>) -> Compactor {
        self.column_family = Some(name.into());
        self
    }

    /// Sets merge operators and other things that only the application has; see
    /// [`Opening::customise`](crate::db::Opening::customise).
    pub fn customise(
        mut self,
        change: impl Fn(&str, &mut Options) + Send + Sync + 'static,
    ) -> Compactor {
        self.customise = Arc::new(change);
        self
    }

    /// What will be merged. Changes nothing.
    ///
    /// # Errors
    /// When there is no database, or it is not adopted, or has no column family
    /// of the name given.
    pub fn forecast(&self) -> Result<Work> {
        self.look().map(|seen| seen.work)
    }

    fn look(&self) -> Result<Seen> {
        let (opened, stored) = read::open_whole(&self.directory, &*self.customise, &check)?;
        let chosen = opened.record.choose(self.column_family.as_deref())?;
        let mut work = Work::begin(&self.directory, free_bytes_once_opened(&self.directory)?);
        let logged = has_log(opened.record.log())?;
        let mut all_settings = BTreeMap::new();
        for name in &opened.record.names {
            let settings = recorded::family_settings(&opened.record.options, &stored, name)?;
            if chosen.contains(name) {
                let seen = opened.look(name)?;
                let mut state = recorded::family_state(&stored, name, &settings);
                state.ask_compact_all(true);
                let found = if is_one_run(&seen.tree) {
                    Forecast::default()
                } else {
                    foresee(&settings, &seen, &state)?
                };
                work.add(name, &seen.tree, &settings, found);
            }
            all_settings.insert(name.clone(), settings);
        }
        work.done = !logged && is_nothing(&work);
        if logged {
            work.remark_log();
        }
        Ok(Seen {
            work,
            logged,
            settings: all_settings,
        })
    }

    /// Compacts. Returns what was foreseen.
    ///
    /// # Errors
    /// As [`Compactor::forecast`]; when the database is open elsewhere; when too
    /// little space is free; when the disk fails. No data is lost.
    pub fn compact(&self, watch: &mut Watch<'_>) -> Result<Work> {
        let mut seen = self.look()?;
        if seen.logged {
            check_space(&seen.work)?;
            // What only the log holds is to be merged with the rest.
            drive::flush(&self.directory, &seen.settings, &*self.customise)?;
            seen = self.look()?;
        }
        let Seen { work, settings, .. } = seen;
        if is_nothing(&work) {
            return Ok(work);
        }
        check_space(&work)?;
        let names: Vec<&str> = work
            .families
            .iter()
            .map(|family| family.name.as_str())
            .collect();
        drive::open(&self.directory, &settings, &*self.customise)?.merge_all(
            &names,
            work.merged_bytes(),
            watch,
        )?;
        Ok(work)
    }
}

fn is_nothing(work: &Work) -> bool {
    let mut families = work.families.iter();
    families.all(|family| family.forecast.is_nothing())
}

/// Refuses a database that is not Lissom's, or whose merges this program cannot compute.
fn check(record: &Record) -> Result<()> {
    let how = "lissom::control::Compactor::customise";
    record.require_places(how)?;
    record.names.iter().try_for_each(|name| {
        record.require_adopted(name)?;
        record.require_merge_operator(name, how)
    })
}
