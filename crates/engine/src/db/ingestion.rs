//! Table files from outside: RocksDB's methods, with the autopilot held back
//! (see [`Autopilot::without_compactions`](crate::Autopilot::without_compactions)).

use std::path::Path;

use rust_rocksdb::{AsColumnFamilyRef, ErrorKind, IngestExternalFileOptions};

use super::Db;
use crate::error::Result;
use crate::ffi::CfRef;

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
        let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
        let ingest = || self.rocks.ingest_external_file_opts(options, paths.clone());
        let act = || until_flushed(ingest);
        Ok(self.autopilot.without_compactions("default", act)?)
    }

    /// As [`Db::ingest_external_file`], into a column family.
    ///
    /// # Errors
    /// RocksDB's.
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
    /// RocksDB's.
    pub fn ingest_external_file_cf_opts<P: AsRef<Path>>(
        &self,
        family: &impl AsColumnFamilyRef,
        options: &IngestExternalFileOptions,
        paths: Vec<P>,
    ) -> Result<()> {
        let (name, _) = CfRef::of(family)?.names()?;
        let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
        let ingest = || {
            self.rocks
                .ingest_external_file_cf_opts(family, options, paths.clone())
        };
        let act = || until_flushed(ingest);
        Ok(self.autopilot.without_compactions(&name, act)?)
    }
}

/// RocksDB flushes before it ingests, and now and then says that it does not
/// see the flush yet. Nothing has happened then.
fn until_flushed(
    mut ingest: impl FnMut() -> std::result::Result<(), rust_rocksdb::Error>,
) -> std::result::Result<(), rust_rocksdb::Error> {
    for _ in 1..MOST_TRIES {
        match ingest() {
            Err(error)
                if error.kind() == ErrorKind::TryAgain
                    && error.as_ref().contains("Inconsistent memtable") => {}
            done => return done,
        }
    }
    ingest()
}
