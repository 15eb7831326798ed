//! Detaching: everything becomes one run, which is refitted to a level that a
//! plain RocksDB has; then RocksDB opens the directory by itself.
//!
//! The steps, each of which leaves a database that opens, and each of which is
//! passed over when the manifest shows that it is done:
//!
//! 1. the planner merges every column family into one run, piece by piece;
//! 2. `CompactRange` moves the run up to level 6, which rewrites nothing;
//! 3. RocksDB opens the directory with 7 levels, which writes an OPTIONS file;
//! 4. Lissom's files are removed, the state file last.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lissom_core::{PhysicalLevel, Tree};
use rust_rocksdb::{
    BlockBasedOptions, BottommostLevelCompaction, ColumnFamilyDescriptor, CompactOptions, Options,
};

use super::drive::{self, Customise, is_one_run};
use super::forecast::{Forecast, foresee};
use super::space::{check_space, free_bytes_once_opened};
use super::work::{Watch, Work};
use crate::entrance;
use crate::error::{Error, Result};
use crate::files::state::Stored;
use crate::files::{application, journal, pin, probe, remove_file, request, state, sync_directory};
use crate::inspect::record::Record;
use crate::inspect::{read, recorded};
use crate::open_files::max_open_files;
use crate::options::TABLE_FORMAT;
use crate::places::has_log;
use crate::settings::Settings;

/// The deepest level of a plain RocksDB.
const LAST_LEVEL: PhysicalLevel = PhysicalLevel(6);

/// RocksDB's default number of levels.
const NUM_LEVELS: i32 = 7;

/// Gives a directory back as a plain RocksDB directory.
///
/// ```no_run
/// use lissom::adopt::Detacher;
///
/// let detacher = Detacher::new("data");
/// println!("at most {} bytes will be merged", detacher.forecast()?.merged_bytes());
/// detacher.detach(&mut |_| ())?;
/// # Ok::<(), lissom::Error>(())
/// ```
pub struct Detacher {
    directory: PathBuf,
    customise: Arc<Customise>,
}

/// What the manifest shows.
struct Seen {
    work: Work,
    /// Its log holds entries, and it has Lissom's levels.
    logged: bool,
    settings: BTreeMap<String, Settings>,
    /// Some column family is more than one run, of which one lies too deep.
    must_merge: bool,
    /// Some column family's run lies too deep.
    must_refit: bool,
}

impl Detacher {
    /// Gives back the directory.
    pub fn new(directory: impl AsRef<Path>) -> Detacher {
        Detacher {
            directory: directory.as_ref().to_owned(),
            customise: Arc::new(|_, _| ()),
        }
    }

    /// Sets merge operators and other things that only the application has; see
    /// [`Opening::customise`](crate::db::Opening::customise).
    pub fn customise(
        mut self,
        change: impl Fn(&str, &mut Options) + Send + Sync + 'static,
    ) -> Detacher {
        self.customise = Arc::new(change);
        self
    }

    /// What will be merged. Changes nothing.
    ///
    /// # Errors
    /// When there is no database, or it cannot be read.
    pub fn forecast(&self) -> Result<Work> {
        self.look().map(|seen| seen.work)
    }

    fn look(&self) -> Result<Seen> {
        let (opened, stored) = read::open_whole(&self.directory, &*self.customise, &check)?;
        let record = &opened.record;
        let ours = record.names.iter().any(|name| record.has_our_levels(name));
        let mut seen = Seen {
            work: Work::begin(&self.directory, free_bytes_once_opened(&self.directory)?),
            logged: ours && has_log(record.log())?,
            settings: BTreeMap::new(),
            must_merge: false,
            must_refit: false,
        };
        seen.work.done = !ours && !state::path(&self.directory).exists();
        if seen.logged {
            seen.work.remark_log();
        }
        let mut families = BTreeMap::new();
        for name in &record.names {
            let settings = recorded::family_settings(&record.options, &stored, name)?;
            let family = opened.look(name)?;
            seen.must_merge |= !fits(&family.tree) && !is_one_run(&family.tree);
            seen.must_refit |= !fits(&family.tree);
            families.insert(name, family);
            seen.settings.insert(name.clone(), settings);
        }
        for (name, family) in &families {
            seen.add(name, family, &stored)?;
        }
        Ok(seen)
    }

    /// Gives the directory back, or goes on where an earlier call was
    /// interrupted. Returns what was foreseen.
    ///
    /// # Errors
    /// As [`Detacher::forecast`]; when the directory is open elsewhere; when too
    /// little space is free; when the disk fails. No data is lost, and the same
    /// call goes on.
    pub fn detach(&self, watch: &mut Watch<'_>) -> Result<Work> {
        let mut seen = self.look()?;
        if seen.logged {
            check_space(&seen.work)?;
            // What only the log holds is to be merged with the rest. A plain RocksDB would read
            // it by other rules, and write another format.
            drive::flush(&self.directory, &seen.settings, &*self.customise)?;
            seen = self.look()?;
        }
        let Seen {
            work,
            settings,
            must_merge,
            must_refit,
            ..
        } = seen;
        if work.done {
            return Ok(work);
        }
        check_space(&work)?;
        if must_merge {
            let ready = drive::open(&self.directory, &settings, &*self.customise)?;
            let names: Vec<&str> = settings.keys().map(String::as_str).collect();
            ready.merge_all(&names, work.merged_bytes(), watch)?;
        }
        if must_refit {
            self.refit(&settings)?;
        }
        self.open_plainly(&settings)?;
        remove_our_files(&self.directory)?;
        Ok(work)
    }

    /// Moves each column family's only run up to level 6.
    fn refit(&self, settings: &BTreeMap<String, Settings>) -> Result<()> {
        let db = drive::open(&self.directory, settings, &*self.customise)?.into_db();
        for name in settings.keys() {
            let tree = drive::tree(&db, name)?;
            if fits(&tree) {
                continue;
            }
            if !is_one_run(&tree) {
                return Err(Error::retry(format!(
                    "the column family \"{name}\" was written to meanwhile: close it elsewhere, \
                     and give the same command again"
                )));
            }
            let handle = read::handle(&db, name)?;
            let mut refit = CompactOptions::default();
            refit.set_exclusive_manual_compaction(true);
            refit.set_bottommost_level_compaction(BottommostLevelCompaction::Skip);
            refit.set_change_level(true);
            refit.set_target_level(i32::from(LAST_LEVEL.0));
            // It reports nothing: the manifest says whether it worked.
            db.compact_range_cf_opt(&handle, None::<&[u8]>, None::<&[u8]>, &refit);
            if !fits(&drive::tree(&db, name)?) {
                return Err(Error::retry(format!(
                    "RocksDB did not move the column family \"{name}\" to level {}: \
                     its LOG file says why; give the same command again",
                    LAST_LEVEL.0
                )));
            }
        }
        Ok(())
    }

    /// RocksDB alone opens and closes the directory.
    fn open_plainly(&self, settings: &BTreeMap<String, Settings>) -> Result<()> {
        let families = settings.iter().map(|(name, settings)| {
            let mut options = plain_options(settings);
            (self.customise)(name, &mut options);
            options.set_num_levels(NUM_LEVELS);
            ColumnFamilyDescriptor::new(name, options)
        });
        let mut options = Options::default();
        options.set_max_open_files(max_open_files()?);
        (self.customise)("default", &mut options);
        options.create_if_missing(false);
        entrance::open(&self.directory, &options, families, drive::advice).map(drop)
    }
}

impl Seen {
    /// Where one column family must be merged, the planner drives all, and may sink what
    /// fits a plain RocksDB: so all are merged.
    fn add(&mut self, name: &str, family: &read::Looked, stored: &Stored) -> Result<()> {
        let (settings, tree) = (&self.settings[name], &family.tree);
        let found = if self.must_merge && !is_one_run(tree) {
            let mut state = recorded::family_state(stored, name, settings);
            state.ask_compact_all(true);
            foresee(settings, family, &state)?
        } else {
            Forecast::default()
        };
        self.work.add(name, tree, settings, found);
        Ok(())
    }
}

/// Refuses a database whose merges this program cannot compute.
fn check(record: &Record) -> Result<()> {
    let how = "lissom::adopt::Detacher::customise";
    record.require_places(how)?;
    record
        .names
        .iter()
        .try_for_each(|name| record.require_merge_operator(name, how))
}

/// Whether a plain RocksDB has all levels that hold files.
fn fits(tree: &Tree) -> bool {
    tree.runs().next_back() <= Some(LAST_LEVEL)
}

/// RocksDB's defaults, but for what concerns the files themselves.
fn plain_options(settings: &Settings) -> Options {
    let mut options = Options::default();
    let kind = settings.compression.last().copied().unwrap_or_default();
    options.set_compression_type(kind.rocksdb());
    let mut table = BlockBasedOptions::default();
    table.set_format_version(TABLE_FORMAT);
    if settings.bloom_bits_per_key > 0.0 {
        table.set_bloom_filter(settings.bloom_bits_per_key, false);
    }
    options.set_block_based_table_factory(&table);
    options
}

/// Removes Lissom's files, the state file last: while it is there, the directory
/// counts as not yet given back.
fn remove_our_files(directory: &Path) -> Result<()> {
    let files = [
        pin::path(directory),
        probe::path(directory),
        journal::old_path(directory),
        journal::path(directory),
        state::path(directory),
    ];
    let mut all = application::left_over(directory);
    all.extend(request::left_over(directory));
    all.extend(state::left_over(directory));
    all.extend(files);
    for file in all {
        remove_file(&file)?;
    }
    sync_directory(directory)
}
