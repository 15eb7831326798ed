//! An iterator that counts what it returns.

use std::sync::Arc;

use rust_rocksdb::DBIteratorWithThreadMode;

use crate::RocksDb;
use crate::error::{Error, Result};
use crate::statistics::counters::Counters;

/// Entries in order, from [`Db::iterator`](crate::Db::iterator).
pub struct Scan<'a> {
    iterator: DBIteratorWithThreadMode<'a, RocksDb>,
    counters: Arc<Counters>,
    entries: u64,
}

impl<'a> Scan<'a> {
    pub(super) fn new(
        iterator: DBIteratorWithThreadMode<'a, RocksDb>,
        counters: Arc<Counters>,
    ) -> Scan<'a> {
        Scan {
            iterator,
            counters,
            entries: 0,
        }
    }
}

impl Iterator for Scan<'_> {
    type Item = Result<(Box<[u8]>, Box<[u8]>)>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = self.iterator.next()?;
        self.entries += 1;
        Some(item.map_err(Error::from))
    }
}

impl Drop for Scan<'_> {
    fn drop(&mut self) {
        self.counters.count_scan(self.entries);
    }
}
