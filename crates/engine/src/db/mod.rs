//! A database with its autopilot inside.

mod batch;
mod created;
pub(crate) mod directory;
mod dropping;
mod family;
mod in_effect;
mod ingestion;
mod methods;
mod opening;
mod operations;
mod scan;
pub(crate) mod tables;
#[cfg(test)]
mod tests;
mod trash;
mod turns;

pub use family::Family;
pub use opening::Opening;
pub use scan::Scan;

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use lissom_core::Mission;
use lissom_core::tuner::Policy;
use parking_lot::Mutex;
use rust_rocksdb::{Cache, WriteBatch, WriteOptions};

use self::batch::Tallies;
use self::created::Created;
use self::in_effect::is_in_effect;
use self::methods::operations;
use self::opening::{Customise, check_new_name};
use self::operations::Operations;
use self::turns::Turns;
use crate::RocksDb;
use crate::apply::{Applied, Wanted};
use crate::autopilot::{Autopilot, Health};
use crate::error::{Error, Result};
use crate::events::Events;
use crate::options::Preparation;
use crate::rate_limit::RateLimit;
use crate::settings::Settings;
use crate::statistics::Statistics;
use crate::statistics::counters::Counters;

/// An open database.
///
/// Reads and writes go straight to RocksDB; the methods here count them, so
/// that tuners see the mix of operations, and time each write and one read in 128.
/// Everything else that RocksDB can do is reached through [`Deref`]: snapshots,
/// properties, checkpoints, backups. Reads and writes through RocksDB's own handle or a
/// snapshot work just as well and are not in the mix.
///
/// Durability and isolation are RocksDB's: by its default `WriteOptions` a write is in the
/// write-ahead log when it returns, and on the disk only with `set_sync`.
///
/// Dropping it ends the autopilot, aborts its compactions, and closes the
/// database.
pub struct Db {
    // Before `rocks`: threads end before the database closes.
    autopilot: Autopilot,
    rocks: Arc<RocksDb>,
    // Behind both, whose handles it tells from the application's; it closes the database.
    created: Created,
    counters: Arc<Counters>,
    events: Arc<Events>,
    /// Held for moments only: whoever waits for RocksDB does so without it.
    preparation: Mutex<Preparation>,
    /// The preparation's, for who must not wait for it.
    cache: Cache,
    rate_limit: Option<Arc<RateLimit>>,
    turns: Turns,
    customise: Option<Arc<Customise>>,
}

impl Db {
    /// Opens the database in a directory with all its column families, or makes
    /// one.
    ///
    /// A plain RocksDB directory is taken over first, by [`Adopter`](crate::adopt::Adopter)
    /// or `lissom adopt`.
    ///
    /// # Errors
    /// A setting outside its range; a directory that is no database of
    /// Lissom's, cannot be read, or is open already; a table file that is missing or has
    /// another length than it should; a state file of another layout; a feature of RocksDB
    /// that does not go with the autopilot.
    pub fn open(path: impl AsRef<Path>, settings: Settings) -> Result<Db> {
        Db::opening(path, settings).open()
    }

    /// As [`Db::open`], step by step: settings by column family, merge
    /// operators, compaction filters.
    pub fn opening(path: impl AsRef<Path>, settings: Settings) -> Opening {
        Opening::new(path.as_ref().to_owned(), settings)
    }

    fn operations(&self) -> Operations<'_> {
        Operations {
            rocks: &self.rocks,
            family: None,
            counters: &self.counters,
            events: &self.events,
        }
    }

    operations!();

    /// Applies a batch at once; it may name any column family of this database. RocksDB finds
    /// out too late that one was dropped, that a range ends before it starts, or that a merge
    /// has no operator: it then refuses every write until the database is opened anew.
    ///
    /// # Errors
    /// RocksDB's.
    pub fn write(&self, batch: &WriteBatch) -> Result<()> {
        self.write_opt(batch, &WriteOptions::default())
    }

    /// As [`Db::write`], with options.
    ///
    /// # Errors
    /// RocksDB's.
    pub fn write_opt(&self, batch: &WriteBatch, options: &WriteOptions) -> Result<()> {
        let tallies = Tallies::of(batch.data());
        let write = || self.rocks.write_opt(batch, options);
        self.operations().write_batch(&tallies, write)
    }

    /// A column family by name; `None` if there is none of that name.
    pub fn family(&self, name: &str) -> Option<Family<'_>> {
        // What is not there gets no counters. Those are taken before the handle that is given out:
        // where the column family is dropped in between, they say so.
        self.rocks.cf_handle(name)?;
        let counters = self.events.counters(name);
        Some(Family {
            rocks: &self.rocks,
            handle: self.rocks.cf_handle(name)?,
            counters,
            events: &self.events,
        })
    }

    /// Makes a column family with the database's settings. It is kept in the directory;
    /// its settings are given again at the next open ([`Opening::family`]).
    ///
    /// # Errors
    /// RocksDB's, as when there is one of that name.
    pub fn create_cf(&self, name: &str) -> Result<()> {
        let settings = self.preparation.lock().settings.clone();
        self.create_cf_with(name, &settings)
    }

    /// Makes a column family with settings of its own.
    ///
    /// # Errors
    /// An empty name, or a zero byte in it; a setting outside its range; RocksDB's, as when
    /// there is one of that name. Where RocksDB made it and could not write its OPTIONS file behind
    /// that, as on a full disk, the error says so.
    pub fn create_cf_with(&self, name: &str, settings: &Settings) -> Result<()> {
        check_new_name(name)?;
        let _turn = self.turns.take(name);
        if self.rocks.cf_handle(name).is_some() {
            return Err(Error::fix(format!(
                "there is a column family \"{name}\" already: choose another name"
            )));
        }
        let (options, hooks) = {
            let mut preparation = self.preparation.lock();
            let options = match &self.customise {
                Some(customise) => preparation.options_with(name, settings, &**customise)?,
                None => preparation.options(name, settings)?,
            };
            (options, preparation.hooks[name].clone())
        };
        // One of that name may have been dropped through RocksDB's own handle.
        self.autopilot.release_cf(name);
        let made = self.rocks.create_cf(name, &options);
        // RocksDB may have it, and go by its options, whatever it says: what must outlive it stays.
        self.created.keep(name, options);
        if made.is_err() {
            self.created.forget(name);
        }
        match made {
            Ok(()) => self.autopilot.adopt_cf(name, hooks),
            Err(error) if is_in_effect(&error) => Err(Error::fix(format!(
                "the column family \"{name}\" was made, and is there once the database is opened \
                 anew: {error}"
            ))),
            Err(error) => Err(error.into()),
        }
    }

    /// Drops a column family and its data. Its compactions end first, and it waits for
    /// an instant in which RocksDB has no job, ten seconds at most; where there is none, its files
    /// stay on the disk until the database is closed.
    ///
    /// Writes through a [`Family`] of it are refused from then on, and one that is under way comes
    /// to nothing. A write with options of its own, or a batch, may meet the drop within RocksDB,
    /// also one to another column family that is written together with it; RocksDB then refuses
    /// every later write. Set `ignore_missing_column_families` in them where column families are
    /// dropped meanwhile. Of a drop through RocksDB's own handle a [`Family`] knows nothing: what is
    /// written by it from then on comes to nothing.
    ///
    /// # Errors
    /// When there is none of that name, or it is the default one; RocksDB's, and the
    /// autopilot then goes on with the column family. Where RocksDB dropped it and could not write
    /// its OPTIONS file behind that, as on a full disk, the error says so.
    pub fn drop_cf(&self, name: &str) -> Result<()> {
        if name == "default" {
            return Err(Error::fix(
                "the column family \"default\" cannot be dropped: every database has it",
            ));
        }
        let _turn = self.turns.take(name);
        let counters = self.events.counters(name);
        counters.drop_family(true);
        self.autopilot.release_cf(name);
        let is_at_rest = match dropping::drop_family(&self.rocks, name) {
            Ok(is_at_rest) => is_at_rest,
            Err(error) if is_in_effect(&error) => {
                // The binding keeps its handle, and so the counters stay, which refuse writes by it.
                self.leave_family(name);
                return Err(Error::fix(format!(
                    "the column family \"{name}\" was dropped, and its name is free once the \
                     database is opened anew: {}",
                    error.to_string().trim_end()
                )));
            }
            Err(error) => {
                counters.drop_family(false);
                // Handles that were given out go on counting in these.
                self.events.remember(name, &counters);
                let hooks = self.preparation.lock().hooks.get(name).cloned();
                if let Some(hooks) = hooks {
                    self.autopilot.adopt_cf(name, hooks)?;
                }
                return Err(error.into());
            }
        };
        self.leave_family(name);
        self.events.forget(name);
        if is_at_rest {
            self.created.forget(name);
        }
        Ok(())
    }

    /// Nobody writes to a dropped column family, or waits for it.
    fn leave_family(&self, name: &str) {
        // Somebody may have asked for them since it was released.
        self.events.counters(name).drop_family(true);
        self.events.release_writers(name);
        self.preparation.lock().hooks.remove(name);
    }

    /// The autopilot of this database.
    pub fn autopilot(&self) -> &Autopilot {
        &self.autopilot
    }

    /// RocksDB's own handle, to share with code that knows nothing of Lissom. It
    /// keeps the database open; the autopilot ends with this `Db`.
    pub fn rocksdb(&self) -> &Arc<RocksDb> {
        &self.rocks
    }

    /// Takes a configuration while reads and writes go on: RocksDB's options by
    /// SetOptions and SetDBOptions, and those settings of Lissom's that [`Settings`] calls
    /// dynamically changeable. Every option reads back: the outcomes say what was changed,
    /// and why the rest was not. What holds from the next open on only is left alone, for
    /// [`Db::open`] goes by the settings that it is given.
    ///
    /// Settings hold for every column family that there is; one that is made later begins
    /// with those that it is made with.
    ///
    /// ```no_run
    /// use lissom::apply::Wanted;
    ///
    /// # let db = lissom::Db::open("data", lissom::Settings::default())?;
    /// let applied = db.apply(&Wanted::parse("[DBOptions]\nmax_background_jobs=8\n")?)?;
    /// for outcome in applied.left() {
    ///     println!("{} was not changed: {}", outcome.row.name, outcome.why);
    /// }
    /// # Ok::<(), lissom::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a column family is wanted that there is not; RocksDB's. What RocksDB
    /// refuses is in the outcomes.
    pub fn apply(&self, wanted: &Wanted) -> Result<Applied> {
        self.autopilot.apply(wanted)
    }

    /// Changes who chooses the run limits of a column family, at once and until the
    /// database is closed: see [`Autopilot::set_policy`].
    ///
    /// # Errors
    /// When there is no such column family.
    pub fn set_policy(&self, family: &str, policy: &Policy) -> Result<()> {
        self.autopilot.set_policy(family, policy)
    }

    /// Holds the run limits of all column families: see [`Autopilot::pin`].
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn pin(&self) -> Result<()> {
        self.autopilot.pin()
    }

    /// Lets the run limits change again: see [`Autopilot::unpin`].
    ///
    /// # Errors
    /// When the file cannot be removed.
    pub fn unpin(&self) -> Result<()> {
        self.autopilot.unpin()
    }

    /// Counts and shapes of all column families: see [`Autopilot::statistics`].
    ///
    /// # Errors
    /// When RocksDB cannot give the properties of its files.
    pub fn statistics(&self) -> Result<Statistics> {
        self.autopilot.statistics()
    }

    /// The mission that ended last in a column family; `None` before the first, and if
    /// there is no column family of that name.
    pub fn mission(&self, family: &str) -> Option<Mission> {
        self.autopilot.mission(family)
    }

    /// How the database and its autopilot are: see [`Autopilot::health`].
    pub fn health(&self) -> Health {
        self.autopilot.health()
    }

    /// Asks RocksDB to go on after a background error, as when a full disk has
    /// space again. The autopilot asks by itself from time to time.
    ///
    /// # Errors
    /// When RocksDB cannot go on: the database must be opened anew.
    pub fn resume(&self) -> Result<()> {
        self.events.resume(|| self.rocks.resume())?;
        self.events.bell().ring();
        Ok(())
    }

    /// Changes the bytes per second that flushes and compactions may read and write
    /// together, at least 64 KiB. Holds at once, and until the database is closed. A
    /// schedule may order less.
    ///
    /// # Errors
    /// When the database was opened without `rate_limit_bytes_per_second` and with the
    /// schedule `eager`, for then it has no rate limiter; a limit outside its range.
    pub fn set_rate_limit(&self, bytes_per_second: u64) -> Result<()> {
        match &self.rate_limit {
            Some(limit) => limit.bound(bytes_per_second),
            None => Err(Error::fix(
                "the database was opened without rate_limit_bytes_per_second: \
                 set it at open, then it can be changed",
            )),
        }
    }

    /// Bytes of memory under the budget now: cached blocks, indexes, filters and
    /// write buffers.
    pub fn memory_bytes(&self) -> u64 {
        self.cache.get_usage() as u64
    }
}

impl Deref for Db {
    type Target = RocksDb;

    fn deref(&self) -> &RocksDb {
        &self.rocks
    }
}
