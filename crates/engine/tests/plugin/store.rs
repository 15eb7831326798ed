//! A small database in a temporary directory whose tree the test builds itself.

use lissom::ffi::CfRef;
use lissom::ffi::snapshot::{FileRow, tree_snapshot};
use rust_rocksdb::{CompactionOptions, DB, DBCompressionType, Error, Options};
use tempfile::TempDir;

pub const LEVELS: usize = 20;

pub struct Store {
    // Before the directory: a database closes before its files go.
    pub db: DB,
    pub directory: TempDir,
}

/// Level style, nothing compacts by itself, no compression.
pub fn options() -> Options {
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_num_levels(LEVELS as i32);
    options.set_level_compaction_dynamic_level_bytes(false);
    options.set_disable_auto_compactions(true);
    options.set_compression_type(DBCompressionType::None);
    options.set_max_compaction_bytes(1 << 60);
    options
}

pub fn key(n: u32) -> Vec<u8> {
    format!("key{n:06}").into_bytes()
}

impl Store {
    pub fn open(options: &Options) -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let db = DB::open(options, directory.path()).expect("a fresh database opens");
        Self { db, directory }
    }

    /// Closes the database and opens the same directory with other options.
    pub fn reopen(self, options: &Options) -> Self {
        let Self { db, directory } = self;
        drop(db);
        let db = DB::open(options, directory.path()).expect("the database opens again");
        Self { db, directory }
    }

    pub fn cf(&self) -> CfRef<'_> {
        CfRef::default_of(&self.db).expect("the plug-in fits the binding")
    }

    /// Writes `keys` with 100-byte values and flushes them into one file.
    pub fn flush(&self, keys: impl Iterator<Item = u32>) {
        for n in keys {
            self.db.put(key(n), [n as u8; 100]).expect("put");
        }
        self.db.flush().expect("flush");
    }

    pub fn files(&self) -> Vec<FileRow> {
        tree_snapshot(self.cf()).expect("a snapshot").files
    }

    pub fn files_at(&self, level: u32) -> Vec<FileRow> {
        let mut files = self.files();
        files.retain(|file| file.level == level);
        files
    }

    /// Compacts all files of `from` into `to`.
    pub fn compact(&self, from: u32, to: u32, trivial_move: bool) -> Result<(), Error> {
        let names = self.files_at(from).iter().map(name).collect::<Vec<_>>();
        assert!(!names.is_empty(), "level {from} has no files");
        let mut options = CompactionOptions::default();
        options.set_allow_trivial_move(trivial_move);
        options.set_output_file_size_limit(1 << 30);
        self.db
            .compact_files(&options, &names, to as i32)
            .map(|_| ())
    }

    pub fn assert_reads(&self, keys: impl Iterator<Item = u32>) {
        for n in keys {
            let value = self.db.get(key(n)).expect("get");
            assert_eq!(value.as_deref(), Some(&[n as u8; 100][..]), "key {n}");
        }
    }
}

pub fn name(file: &FileRow) -> String {
    format!("{:06}.sst", file.number)
}
