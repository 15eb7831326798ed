//! An iterator that counts what it returns.

use std::sync::Arc;

use rust_rocksdb::DBIteratorWithThreadMode;

use crate::RocksDb;
use crate::error::{Error, Result};
use crate::statistics::counters::Counters;
use crate::statistics::sample::{self, ScanSample};

/// Entries in order, from [`Db::iterator`](crate::Db::iterator).
pub struct Scan<'a> {
    iterator: DBIteratorWithThreadMode<'a, RocksDb>,
    counters: Arc<Counters>,
    entries: u64,
    /// What RocksDB did so far, if this scan is one of those that are looked at.
    sample: Option<ScanSample>,
}

impl<'a> Scan<'a> {
    /// An iterator that was placed, with the sample that has seen it placed.
    pub(super) fn new(
        iterator: DBIteratorWithThreadMode<'a, RocksDb>,
        counters: Arc<Counters>,
        sample: Option<ScanSample>,
    ) -> Scan<'a> {
        Scan {
            iterator,
            counters,
            entries: 0,
            sample,
        }
    }
}

impl Iterator for Scan<'_> {
    type Item = Result<(Box<[u8]>, Box<[u8]>)>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = sample::within(&mut self.sample, || self.iterator.next())?;
        self.entries += 1;
        Some(item.map_err(Error::from))
    }
}

impl Drop for Scan<'_> {
    fn drop(&mut self) {
        self.counters.count_scan(self.entries);
        if let Some(sample) = self.sample.take() {
            sample.end(&self.counters, self.entries);
        }
    }
}
