//! Table files from outside: RocksDB's methods, with the autopilot held back for the commit
//! (see [`Autopilot::without_compactions`](crate::Autopilot::without_compactions)).

use std::path::Path;

use rust_rocksdb::{AsColumnFamilyRef, IngestExternalFileOptions};

use super::Db;
use crate::error::{Error, Result};
use crate::ffi::ingestion::PreparedFiles;
use crate::ffi::{self, CfRef};

const MOST_TRIES: usize = 10;

impl Db {
    /// Takes table files, made by RocksDB's `SstFileWriter`, into the default
    /// column family. Waits for the compactions that run, at most a piece each.
    ///
    /// # Errors
    /// RocksDB's, as when a file cannot be read.
    pub fn ingest_external_file<P: AsRef<Path>>(&self, paths: Vec<P>) -> Result<()> {
        self.ingest_external_file_opts(&IngestExternalFileOptions::default(), paths)
    }

    /// As [`Db::ingest_external_file`], with options.
    ///
    /// # Errors
    /// RocksDB's.
    pub fn ingest_external_file_opts<P: AsRef<Path>>(
        &self,
        options: &IngestExternalFileOptions,
        paths: Vec<P>,
    ) -> Result<()> {
        let default = self
            .rocks
            .cf_handle("default")
            .ok_or_else(|| Error::bug("a database without the column family \"default\""))?;
        self.ingest_external_file_cf_opts(&default, options, paths)
    }

    /// As [`Db::ingest_external_file`], into a column family.
    ///
    /// # Errors
    /// When the column family is another database's; RocksDB's.
    pub fn ingest_external_file_cf<P: AsRef<Path>>(
        &self,
        family: &impl AsColumnFamilyRef,
        paths: Vec<P>,
    ) -> Result<()> {
        self.ingest_external_file_cf_opts(family, &IngestExternalFileOptions::default(), paths)
    }

    /// As [`Db::ingest_external_file_cf`], with options.
    ///
    /// # Errors
    /// When the column family is another database's; RocksDB's.
    pub fn ingest_external_file_cf_opts<P: AsRef<Path>>(
        &self,
        family: &impl AsColumnFamilyRef,
        options: &IngestExternalFileOptions,
        paths: Vec<P>,
    ) -> Result<()> {
        let target = CfRef::of(family)?;
        let (name, directory) = target.names()?;
        self.check_is_here(&name, &directory)?;
        let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
        let ingest = || {
            // Files are copied while compactions go on: that may take minutes.
            let prepared = PreparedFiles::new(target, options, &paths)?;
            let commit = || prepared.commit();
            self.autopilot.without_compactions(&name, commit)
        };
        until_flushed(ingest).map_err(|error| Error::of_status(&error.to_string()))
    }

    /// The commit goes to the database of the handle: another one's autopilot would not be
    /// held back.
    fn check_is_here(&self, family: &str, directory: &str) -> Result<()> {
        if Path::new(directory) == self.rocks.path() {
            return Ok(());
        }
        Err(Error::fix(format!(
            "the column family \"{family}\" is of the database in {directory}, not of that in {}: \
             ingest with the Db that it is from",
            self.rocks.path().display()
        )))
    }
}

/// RocksDB flushes before it ingests, and now and then says that it does not
/// see the flush yet. Nothing has happened then.
fn until_flushed(
    mut ingest: impl FnMut() -> std::result::Result<(), ffi::Error>,
) -> std::result::Result<(), ffi::Error> {
    for _ in 1..MOST_TRIES {
        match ingest() {
            Err(error) if error.to_string().contains("Inconsistent memtable") => {}
            done => return done,
        }
    }
    ingest()
}
