//! A data set that is loaded once and given to every trial.
//!
//! It is one sorted run in level 1 of a plain RocksDB with two levels, which every
//! compaction style, every number of levels and Lissom can open. A trial's table files
//! must be its own, though: blocks, filters and compression are in the files, and
//! RocksDB changes them for new ones only. So a trial whose options shape files
//! otherwise than the set's rewrites its copy, in one pass, before it begins.

mod failures;
mod link;
mod plain;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use lissom_search::export::OptionsFile;

use crate::error::{BenchError, Place, Result};
use crate::generate::DataShape;
use crate::run::{Filling, remove_directory};
use crate::workload::sha256_hex;

/// Inside a set: the database, and the options that shaped its files.
const DATABASE: &str = "database";
const SHAPE: &str = "shape";

/// Data sets in a directory, of which one is meant.
pub(super) struct Prepared<'a> {
    place: &'a Path,
    filling: &'a Filling<'a>,
    data: &'a DataShape,
    direct_io: bool,
}

impl<'a> Prepared<'a> {
    /// The set of this filling under `place`.
    pub(super) fn new(
        place: &'a Path,
        filling: &'a Filling<'a>,
        data: &'a DataShape,
        direct_io: bool,
    ) -> Self {
        Self {
            place,
            filling,
            data,
            direct_io,
        }
    }

    /// Puts the set into `directory`, with files of this shape. The set is loaded first
    /// if it is not there; of several trials that find none, one loads it and the
    /// others wait.
    pub(super) fn provide(&self, shape: &OptionsFile, directory: &Path) -> Result<()> {
        let place = || format!("--prepared {}", self.place.display());
        let set = self.set(shape).map_err(|error| error.at(place()))?;
        link::link(&set.join(DATABASE), directory)?;
        let shaped = fs::read_to_string(set.join(SHAPE)).place(place())?;
        if shaped == shape.to_string() {
            return Ok(());
        }
        plain::rewrite(directory, shape, self.direct_io)
    }

    /// The set's directory, in which nothing changes any more.
    fn set(&self, shape: &OptionsFile) -> Result<PathBuf> {
        let name = self.name()?;
        fs::create_dir_all(self.place).place("the directory cannot be made")?;
        let set = self.place.join(&name);
        let lock = File::create(self.place.join(format!("{name}.lock"))).place("the lock")?;
        // Released with the file, however the process ends.
        lock.lock().place("the lock")?;
        if !set.exists() {
            let draft = self.place.join(format!("{name}.part"));
            remove_directory(&draft)?;
            self.load(shape, &draft)?;
            fs::rename(&draft, &set).place(set.display())?;
        }
        Ok(set)
    }

    fn load(&self, shape: &OptionsFile, draft: &Path) -> Result<()> {
        let database = draft.join(DATABASE);
        fs::create_dir_all(&database).place(database.display())?;
        plain::build(&database, shape, self.direct_io, self.filling, self.data)?;
        let path = draft.join(SHAPE);
        fs::write(&path, shape.to_string()).place(path.display())
    }

    /// Equal for equal data: sessions do not matter.
    fn name(&self) -> Result<String> {
        let workload = self.filling.workload;
        let identity = (
            workload.entries,
            workload.key_size,
            workload.value_size,
            workload.compressible_share,
            workload.key_order,
            workload.fill.order,
            workload.fill.share,
            self.filling.seed,
        );
        let text = serde_json::to_string(&identity)
            .map_err(|error| BenchError::new(format!("the workload is no JSON: {error}")))?;
        Ok(sha256_hex(text.as_bytes()).chars().take(16).collect())
    }
}
