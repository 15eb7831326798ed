//! A store in memory, to test the harness itself. Its name says how it misbehaves:
//! `mock-good`, `mock-stale` (every write is lost once the load is over), `mock-restless`
//! (never settles), `mock-forgets` (loses its last entry when the closing session begins),
//! `mock-skips` (leaves the third entry out of a scan that begins at a key), `mock-tires` (ends
//! such a scan one entry early, where it has more than one), `mock-revives` (a get finds what was
//! deleted), `mock-fails` (refuses to open).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use crate::error::{BenchError, Result};
use crate::store::{Counters, LevelShape, Shape, Store};
use crate::workload::CLOSING_SESSION;

/// A sorted map behind the trait.
#[derive(Debug, Default)]
pub struct MockStore {
    entries: RwLock<BTreeMap<Vec<u8>, Vec<u8>>>,
    written: AtomicU64,
    largest_write: AtomicU64,
    loses_writes: bool,
    restless: bool,
    forgets: bool,
    skips: bool,
    tires: bool,
    revives: bool,
    /// What was deleted, of one that revives it.
    deleted: RwLock<BTreeMap<Vec<u8>, Vec<u8>>>,
    measured: AtomicBool,
}

impl MockStore {
    /// Opens the mock called `mock-NAME`.
    pub fn open(name: &str) -> Result<Self> {
        match name {
            "fails" => Err(BenchError::new("mock-fails never opens")),
            _ => Ok(Self {
                loses_writes: name == "stale",
                restless: name == "restless",
                forgets: name == "forgets",
                skips: name == "skips",
                tires: name == "tires",
                revives: name == "revives",
                ..Self::default()
            }),
        }
    }

    fn loses(&self) -> bool {
        self.loses_writes && self.measured.load(Ordering::Relaxed)
    }
}

impl Store for MockStore {
    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        let deleted = self.deleted.read().unwrap_or_else(PoisonError::into_inner);
        let Some(found) = entries.get(key).or_else(|| deleted.get(key)) else {
            return Ok(false);
        };
        value.clone_from(found);
        Ok(true)
    }

    fn put(&self, key: &[u8], value: &[u8]) -> Result<()> {
        let bytes = (key.len() + value.len()) as u64;
        self.written.fetch_add(bytes, Ordering::Relaxed);
        self.largest_write.fetch_max(bytes, Ordering::Relaxed);
        if !self.loses() {
            let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
            entries.insert(key.to_vec(), value.to_vec());
        }
        Ok(())
    }

    fn delete(&self, key: &[u8]) -> Result<()> {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        if let (Some(gone), true) = (entries.remove(key), self.revives) {
            let mut deleted = self.deleted.write().unwrap_or_else(PoisonError::into_inner);
            deleted.insert(key.to_vec(), gone);
        }
        Ok(())
    }

    fn scan(&self, start: &[u8], length: u64, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<()> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        let from_start = entries.range(start.to_vec()..).enumerate();
        let skips = self.skips && !start.is_empty();
        let seen = from_start.filter(|(at, _)| !(skips && *at == 2));
        let tired = self.tires && !start.is_empty() && length > 1;
        let length = length - u64::from(tired);
        for (_, (key, value)) in seen.take(length as usize) {
            visit(key, value);
        }
        Ok(())
    }

    fn counters(&self) -> Counters {
        let written = self.written.load(Ordering::Relaxed);
        Counters {
            flushed_bytes: written,
            ..Counters::default()
        }
    }

    /// As if every write were merged by itself.
    fn take_largest_piece(&self) -> u64 {
        self.largest_write.swap(0, Ordering::Relaxed)
    }

    fn shape(&self) -> Shape {
        let bytes = self.written.load(Ordering::Relaxed);
        Shape {
            levels: vec![LevelShape {
                level: 1,
                runs: 1,
                files: 1,
                bytes,
                run_limit: Some(1),
            }],
            debt_bytes: Some(0),
        }
    }

    fn settle(&self, _patience: Duration) -> Result<bool> {
        Ok(!self.restless)
    }

    fn session_begins(&self, name: &str) -> Result<()> {
        self.measured.store(true, Ordering::Relaxed);
        if self.forgets && name == CLOSING_SESSION {
            let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
            entries.pop_last();
        }
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
