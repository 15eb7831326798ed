//! Lissom with settings by name.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lissom::adopt::Adopter;
use lissom::{Compression, RocksDb, Settings};
use lissom_search::export::OptionsFile;
use lissom_search::space::Section;
use rust_rocksdb::{Direction, IteratorMode};

use super::access::Access;
use super::slowdown::Slowdown;
use super::{Contender, lissom_settings};
use crate::arms::LissomStore;
use crate::arms::options_file::applied;
use crate::error::Result;
use crate::store::{Counters, Shape, Store};
use crate::trial::plan::Limits;

/// Settings of one tree.
pub(super) struct Tree {
    settings: Settings,
}

impl Tree {
    /// Reads a JSON object: names and values.
    ///
    /// # Errors
    /// It is none; a setting is unknown or outside its range.
    pub(super) fn read(text: &str, limits: &Limits) -> Result<Self> {
        let settings = lissom_settings::settings(text, limits)?;
        Ok(Self { settings })
    }
}

impl Contender for Tree {
    /// Filters by level begin as filters of the same mean.
    fn shape(&self) -> OptionsFile {
        let settings = &self.settings;
        let compression = match settings.compression.last() {
            Some(Compression::None) => "kNoCompression",
            Some(Compression::Zstd) => "kZSTD",
            Some(Compression::Lz4) | None => "kLZ4Compression",
        };
        let filter = if settings.bloom_bits_per_key > 0.0 {
            format!("bloomfilter:{}:false", settings.bloom_bits_per_key)
        } else {
            "nullptr".to_owned()
        };
        let mut shape = OptionsFile::default();
        shape.set(Section::Cf, "compression", compression);
        let file_size = settings.target_file_size_base.to_string();
        shape.set(Section::Cf, "target_file_size_base", file_size);
        shape.set(
            Section::Table,
            "block_size",
            settings.block_size.to_string(),
        );
        shape.set(Section::Table, "filter_policy", filter);
        shape
    }

    /// The run sinks to the level where its size belongs, which rewrites nothing.
    fn take_over(&self, directory: &Path) -> Result<()> {
        let settings = self.settings.clone();
        let adopter = Adopter::new(directory).settings(move |_, it| *it = settings.clone());
        adopter.adopt(&mut |_| ())?;
        Ok(())
    }

    fn open(&self, directory: &Path, _remarks: &mut Vec<String>) -> Result<Box<dyn Store>> {
        let store = LissomStore::with_settings(directory, self.settings.clone())?;
        let charged = self.settings.rate_limit_bytes_per_second.is_some();
        Ok(Box::new(TreeTrial {
            store,
            slowdown: Slowdown::of(&applied::used(directory)?)?,
            access: Access::new(charged),
        }))
    }
}

/// An open Lissom without RocksDB's statistics.
struct TreeTrial {
    store: LissomStore,
    slowdown: Slowdown,
    access: Access,
}

impl Store for TreeTrial {
    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        if !self.access.charged {
            return self.store.get(key, value);
        }
        let Some(found) = self.store.db().get_opt(key, &self.access.reads)? else {
            return Ok(false);
        };
        *value = found;
        Ok(true)
    }

    fn put(&self, key: &[u8], value: &[u8]) -> Result<()> {
        Ok(self.store.db().put_opt(key, value, &self.access.writes)?)
    }

    fn delete(&self, key: &[u8]) -> Result<()> {
        Ok(self.store.db().delete_opt(key, &self.access.writes)?)
    }

    fn scan(&self, start: &[u8], length: u64, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<()> {
        if !self.access.charged {
            return self.store.scan(start, length, visit);
        }
        let from = IteratorMode::From(start, Direction::Forward);
        let entries = self.store.db().iterator_opt(from, self.access.iterator());
        for entry in entries.take(length as usize) {
            let (key, value) = entry?;
            visit(&key, &value);
        }
        Ok(())
    }

    fn counters(&self) -> Counters {
        self.store.bytes()
    }

    fn take_largest_piece(&self) -> u64 {
        self.store.take_largest_piece()
    }

    fn shape(&self) -> Shape {
        self.store.shape()
    }

    fn settle(&self, patience: Duration) -> Result<bool> {
        self.store.settle(patience)
    }

    fn session_begins(&self, name: &str) -> Result<()> {
        self.store.session_begins(name)
    }

    fn resumed(&self) -> Result<()> {
        let rocksdb: &RocksDb = self.store.db().rocksdb();
        self.slowdown.begin_anew(rocksdb)
    }

    fn close(self: Box<Self>) -> Result<()> {
        Box::new(self.store).close()
    }

    fn settings_files(&self) -> Vec<PathBuf> {
        self.store.settings_files()
    }
}
