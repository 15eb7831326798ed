//! Opening a database, step by step.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use rust_rocksdb::{ColumnFamilyDescriptor, Options};

use super::created::Created;
use super::turns::Turns;
use super::{Db, directory, tables, trash};
use crate::autopilot::Autopilot;
use crate::entrance;
use crate::error::{Error, Result};
use crate::files::{pin, state};
use crate::options::Preparation;
use crate::places::Places;
use crate::settings::Settings;

/// A change to RocksDB's options of a column family, given its name.
pub(super) type Customise = dyn Fn(&str, &mut Options) + Send + Sync;

/// A database that is about to be opened, from
/// [`Db::opening`](crate::Db::opening).
#[must_use = "nothing is opened before open() is called"]
pub struct Opening {
    path: PathBuf,
    settings: Settings,
    families: BTreeMap<String, Settings>,
    customise: Option<Arc<Customise>>,
}

impl Opening {
    pub(super) fn new(path: PathBuf, settings: Settings) -> Opening {
        Opening {
            path,
            settings,
            families: BTreeMap::new(),
            customise: None,
        }
    }

    /// Gives a column family settings of its own, and makes it if it is not
    /// there. Column families that are not named get the database's settings.
    pub fn family(mut self, name: &str, settings: Settings) -> Opening {
        self.families.insert(name.to_owned(), settings);
        self
    }

    /// Lets the application set what Lissom has no setting for: merge
    /// operators, compaction filters, prefix extractors, log options. Lissom
    /// puts its own options on top; features that do not go with the autopilot
    /// are refused. It is called several times for each column family, also for options that
    /// are only looked at.
    pub fn customise(
        mut self,
        change: impl Fn(&str, &mut Options) + Send + Sync + 'static,
    ) -> Opening {
        self.customise = Some(Arc::new(change));
        self
    }

    /// Opens the database.
    ///
    /// # Errors
    /// See [`Db::open`].
    pub fn open(self) -> Result<Db> {
        let mut preparation = Preparation::new(&self.settings)?;
        let existing = directory::check(&self.path, self.settings.create_if_missing)?;
        let is_new = existing.is_none();
        // Before RocksDB touches the directory: another layout is refused.
        let (mut names, mut merge_operators) = (Vec::new(), BTreeMap::new());
        if let Some(existing) = existing {
            state::load(&self.path)?;
            names = directory::families(&self.path)?;
            existing.check_places(&self.path, &self.places(&names)?)?;
            merge_operators = existing.merge_operators();
        }
        let mut options = self.options(&mut preparation, "default")?;
        options.create_missing_column_families(true);
        let descriptors = self.descriptors(&mut preparation, &options, names, &merge_operators)?;
        if is_new && state::path(&self.path).exists() {
            // RocksDB's DestroyDB leaves them. Column families begin at the same number in every
            // database: nothing would tell the old ones' limits and memory from the new ones'.
            state::forget(&self.path)?;
            pin::clear(&self.path)?;
        }
        let rocks = entrance::open(&self.path, &options, descriptors, directory::advice)?;
        tables::check(&rocks)?;
        trash::clear_archive(&self.path);
        let rocks = Arc::new(rocks);
        let autopilot = Autopilot::start(rocks.clone(), &preparation, false)
            .map_err(|error| error.within(self.path.display()))?;
        let events = preparation.events.clone();
        let created = Created::of(&rocks);
        created.keep("default", options);
        Ok(Db {
            autopilot,
            rocks,
            created,
            counters: events.counters("default"),
            events,
            cache: preparation.cache.clone(),
            rate_limit: preparation.rate_limit.clone(),
            turns: Turns::default(),
            preparation: Mutex::new(preparation),
            customise: self.customise,
        })
    }

    fn descriptors(
        &self,
        preparation: &mut Preparation,
        default: &Options,
        there: Vec<String>,
        merge_operators: &BTreeMap<String, String>,
    ) -> Result<Vec<ColumnFamilyDescriptor>> {
        let mut names = BTreeSet::from(["default".to_owned()]);
        names.extend(there);
        for name in self.families.keys() {
            if names.insert(name.clone()) {
                check_new_name(name)?;
            }
        }
        names
            .into_iter()
            .map(|name| {
                // The same objects as in the database's options: the autopilot
                // knows one filter policy and one guard table of each family.
                let mut options = match &*name {
                    "default" => default.clone(),
                    _ => self.options(preparation, &name)?,
                };
                if let Some(operator) = merge_operators.get(&name) {
                    directory::needs_merge_operator(&self.path, &name, operator, &mut options)?;
                }
                Ok(ColumnFamilyDescriptor::new(name, options))
            })
            .collect()
    }

    fn places(&self, names: &[String]) -> Result<Places> {
        match &self.customise {
            Some(customise) => Places::brought(names, &**customise),
            None => Ok(Places::default()),
        }
    }

    fn options(&self, preparation: &mut Preparation, name: &str) -> Result<Options> {
        let settings = self.families.get(name).unwrap_or(&self.settings);
        let nothing = |_: &str, _: &mut Options| ();
        let options = match &self.customise {
            Some(customise) => preparation.options_with(name, settings, &**customise),
            None => preparation.options_with(name, settings, &nothing),
        };
        options.map_err(|error: Error| error.within(format!("column family {name:?}")))
    }
}

/// RocksDB makes a column family without a name; the OPTIONS file that it writes then has
/// a section that nobody can name.
pub(super) fn check_new_name(name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(Error::fix(
            "a column family cannot be made with an empty name: give it another one",
        ));
    }
    Ok(())
}
