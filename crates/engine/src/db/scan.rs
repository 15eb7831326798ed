//! An iterator that counts what it returns.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rust_rocksdb::DBIteratorWithThreadMode;

use crate::RocksDb;
use crate::error::{Error, Result};
use crate::statistics::counters::Counters;

/// Entries in order, from [`Db::iterator`](crate::Db::iterator).
pub struct Scan<'a> {
    iterator: DBIteratorWithThreadMode<'a, RocksDb>,
    counters: Arc<Counters>,
    entries: u64,
    /// What RocksDB took so far, if this scan is one of those that are timed.
    took: Option<Duration>,
}

impl<'a> Scan<'a> {
    /// An iterator that was placed in so much time; `None` if it is not timed.
    pub(super) fn new(
        iterator: DBIteratorWithThreadMode<'a, RocksDb>,
        counters: Arc<Counters>,
        placed: Option<Duration>,
    ) -> Scan<'a> {
        Scan {
            iterator,
            counters,
            entries: 0,
            took: placed,
        }
    }
}

impl Iterator for Scan<'_> {
    type Item = Result<(Box<[u8]>, Box<[u8]>)>;

    fn next(&mut self) -> Option<Self::Item> {
        let begun = self.took.is_some().then(Instant::now);
        let item = self.iterator.next();
        if let Some((took, begun)) = self.took.as_mut().zip(begun) {
            *took += begun.elapsed();
        }
        let item = item?;
        self.entries += 1;
        Some(item.map_err(Error::from))
    }
}

impl Drop for Scan<'_> {
    fn drop(&mut self) {
        self.counters.count_scan(self.entries);
        if let Some(took) = self.took {
            self.counters.seek.record(took);
        }
    }
}
