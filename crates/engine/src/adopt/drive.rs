//! Running the autopilot on a directory until nothing is left to do.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lissom_core::{PhysicalLevel, Tree};
use rust_rocksdb::{ColumnFamilyDescriptor, Options};

use super::work::{Progress, Watch};
use crate::RocksDb;
use crate::apply::directory::recovery;
use crate::autopilot::Autopilot;
use crate::db::tables;
use crate::entrance;
use crate::error::{Error, Result};
use crate::ffi::options_text::{Lines, change_options};
use crate::inspect::read::handle;
use crate::observe::observe;
use crate::open_error::{Cause, RECOMPRESS};
use crate::options::Preparation;
use crate::settings::Settings;

/// A change to RocksDB's options of a column family, given its name.
pub(crate) type Customise = dyn Fn(&str, &mut Options) + Send + Sync;

/// How long to wait for the autopilot between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// A merge of everything is asked for this often: each request leaves one run
/// unless somebody writes.
const MOST_REQUESTS: u32 = 5;

/// After so many failed rounds in a row, some 3 s, the work is not waited for.
const MOST_FAILED_ROUNDS: u32 = 6;

/// How often progress is told.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// A database with Lissom's options, and no autopilot yet: nothing moves.
pub(crate) struct Ready {
    db: Arc<RocksDb>,
    preparation: Preparation,
    directory: PathBuf,
}

/// Opens a directory, plain or adopted, with Lissom's options. What its log holds is read by
/// the rules that it was written under: by RocksDB's defaults a damaged log would end where it
/// is damaged.
pub(crate) fn open(
    directory: &Path,
    settings: &BTreeMap<String, Settings>,
    customise: &Customise,
) -> Result<Ready> {
    let recovery = recovery(directory)?;
    if !recovery.is_empty() {
        flush_log(directory, settings, customise, recovery)?;
    }
    open_with(directory, settings, customise)
}

/// Reads the log by rules of its own, lines of `[DBOptions]`, and leaves nothing in it.
fn flush_log(
    directory: &Path,
    settings: &BTreeMap<String, Settings>,
    customise: &Customise,
    recovery: String,
) -> Result<()> {
    let lines = Lines {
        db: recovery,
        ..Lines::default()
    };
    change_options(&mut Options::default(), &lines)?;
    let by_its_rules = |name: &str, options: &mut Options| {
        // They were taken a moment ago.
        let _ = change_options(options, &lines);
        customise(name, options);
    };
    let db = open_with(directory, settings, &by_its_rules)?.into_db();
    settings
        .keys()
        .try_for_each(|name| Ok(db.flush_cf(&handle(&db, name)?)?))
}

/// What only the log of a directory holds becomes files of L0, read by the rules that it was
/// written under, and written as Lissom's are.
pub(crate) fn flush(
    directory: &Path,
    settings: &BTreeMap<String, Settings>,
    customise: &Customise,
) -> Result<()> {
    flush_log(directory, settings, customise, recovery(directory)?)
}

fn open_with(
    directory: &Path,
    settings: &BTreeMap<String, Settings>,
    customise: &dyn Fn(&str, &mut Options),
) -> Result<Ready> {
    let default = settings
        .get("default")
        .ok_or_else(|| Error::bug("a database without its default column family"))?;
    // Nobody reads beside it, and whoever comes after it finds nothing left over.
    let mut preparation = Preparation::new(&Settings {
        delete_rate_bytes_per_second: 0,
        ..default.clone()
    })?;
    let mut descriptors = Vec::new();
    for (name, settings) in settings {
        let mut options = preparation.options_with(name, settings, customise)?;
        // Who has them off would wait here without end for what nobody merges.
        options.set_disable_auto_compactions(false);
        descriptors.push(ColumnFamilyDescriptor::new(name, options));
    }
    let mut options = preparation.options_with("default", default, customise)?;
    options.create_if_missing(false);
    let db = entrance::open(directory, &options, descriptors, advice)?;
    Ok(Ready {
        db: Arc::new(db),
        preparation,
        directory: directory.to_owned(),
    })
}

/// What to do about a cause, for whoever gave a command and may give it again.
pub(crate) fn advice(cause: Cause) -> &'static str {
    match cause {
        Cause::OpenAlready => {
            "it is open in this or another process: close it there first, and try again"
        }
        Cause::NoSpace => "free some space on its disk, and try again",
        Cause::NoPermission => "give this user the right to read and write it, and try again",
        Cause::Corruption => "it is damaged: restore it from a backup",
        Cause::Compression => RECOMPRESS,
        Cause::Lack(advice) => advice,
        Cause::MergeOperator | Cause::PreparedTransactions | Cause::Comparator | Cause::Other => {
            "give the same command again; if this stays, restore it from a backup"
        }
    }
}

impl Ready {
    /// Lets the autopilot work until it wants nothing more.
    pub(crate) fn settle(self, expected_bytes: u64, watch: &mut Watch<'_>) -> Result<()> {
        let driven = self.start(expected_bytes)?;
        driven.wait(watch)
    }

    /// Lets the autopilot merge each of these column families into one run.
    pub(crate) fn merge_all(
        self,
        names: &[&str],
        expected_bytes: u64,
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        let driven = self.start(expected_bytes)?;
        names
            .iter()
            .try_for_each(|name| driven.merge_into_one(name, watch))
    }

    /// The database alone.
    pub(super) fn into_db(self) -> Arc<RocksDb> {
        self.db
    }

    fn start(self, expected_bytes: u64) -> Result<Driven> {
        tables::check(&self.db)?;
        let autopilot = Autopilot::start(self.db.clone(), &self.preparation, false)
            .map_err(|error| error.within(self.directory.display()))?;
        Ok(Driven {
            autopilot,
            db: self.db,
            expected_bytes,
        })
    }
}

/// A database that the autopilot drives.
struct Driven {
    // Before `db`: its threads end before the database closes.
    autopilot: Autopilot,
    db: Arc<RocksDb>,
    expected_bytes: u64,
}

impl Driven {
    /// Waits until nothing is left to merge, telling how far it is.
    fn wait(&self, watch: &mut Watch<'_>) -> Result<()> {
        let mut told = Instant::now();
        loop {
            let idle = self.autopilot.wait_until_idle(LOOK_EVERY);
            self.check_health()?;
            if idle {
                watch(self.progress()?);
                return Ok(());
            }
            if told.elapsed() >= TELL_EVERY {
                told = Instant::now();
                watch(self.progress()?);
            }
        }
    }

    /// Asks for a merge of everything and waits until there is one run and no
    /// L0.
    fn merge_into_one(&self, family: &str, watch: &mut Watch<'_>) -> Result<()> {
        for _ in 0..MOST_REQUESTS {
            self.autopilot.compact_alone(family)?;
            let deadline = Instant::now() + 4 * LOOK_EVERY;
            loop {
                self.wait(watch)?;
                if is_one_run(&tree(&self.db, family)?) {
                    return Ok(());
                }
                // The request may not have been taken up yet.
                if Instant::now() >= deadline {
                    break;
                }
                std::thread::sleep(LOOK_EVERY / 4);
            }
        }
        Err(Error::retry(format!(
            "the column family \"{family}\" did not become one run: somebody writes to it, or \
             runs compactions of their own; end that, and try again"
        )))
    }

    fn progress(&self) -> Result<Progress> {
        let statistics = self.autopilot.statistics()?;
        let mut progress = Progress {
            expected_bytes: self.expected_bytes,
            ..Progress::default()
        };
        for family in statistics.families.values() {
            progress.merged_bytes += family.pieces.read_bytes;
            progress.merges += family.pieces.merged;
            progress.moves += family.pieces.moved;
        }
        Ok(progress)
    }

    fn check_health(&self) -> Result<()> {
        let health = self.autopilot.health();
        let mut failing = health.failed_rounds.iter();
        let stuck = failing.find(|(_, rounds)| **rounds >= MOST_FAILED_ROUNDS);
        let why = |trouble: &Option<String>| {
            trouble
                .as_ref()
                .map_or(String::new(), |why| format!(": {why}"))
        };
        let cause = if let Some(error) = &health.background_error {
            Some(format!(
                "RocksDB met an error in background work: {}",
                error.message
            ))
        } else if let Some((family, files)) = health.unreadable.first_key_value() {
            Some(format!(
                "files {files:?} of column family {family} cannot be read{}",
                why(&health.trouble)
            ))
        } else if let Some((family, rounds)) = stuck {
            Some(format!(
                "rounds fail in column family \"{family}\", {rounds} times in a row{}",
                why(&health.trouble)
            ))
        } else if !health.running {
            let ended = || "the autopilot ended".to_owned();
            Some(health.trouble.clone().unwrap_or_else(ended))
        } else {
            None
        };
        match cause {
            None => Ok(()),
            Some(cause) => Err(Error::fix(format!(
                "the work stopped, and no data is lost: {cause}; put that right and give the same \
                 command again, which goes on from here"
            ))),
        }
    }
}

pub(super) fn tree(db: &RocksDb, family: &str) -> Result<Tree> {
    Ok(observe(&handle(db, family)?)?.tree)
}

/// Whether nothing lies in L0 and at most one level below it holds files.
pub(crate) fn is_one_run(tree: &Tree) -> bool {
    tree.level0().is_empty()
        && tree.files(PhysicalLevel::LANDING).is_empty()
        && tree.runs().count() <= 1
}
