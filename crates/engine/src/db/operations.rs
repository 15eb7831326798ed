//! Reads and writes of one column family, counted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rust_rocksdb::{BoundColumnFamily, DBPinnableSlice, IteratorMode, ReadOptions, WriteOptions};

use super::batch::{Tallies, Tally};
use super::scan::Scan;
use crate::RocksDb;
use crate::error::{Error, Result};
use crate::events::{Events, holds_writers_back};
use crate::statistics::counters::Counters;
use crate::statistics::sample;

type RocksResult<T> = std::result::Result<T, rust_rocksdb::Error>;

/// A column family as reads and writes need it; the default one without a
/// handle.
#[derive(Clone, Copy)]
pub(super) struct Operations<'a> {
    pub(super) rocks: &'a RocksDb,
    pub(super) family: Option<&'a Arc<BoundColumnFamily<'a>>>,
    pub(super) counters: &'a Counters,
    pub(super) events: &'a Events,
}

impl<'a> Operations<'a> {
    fn read<T>(
        &self,
        found: impl FnOnce(&T) -> bool,
        read: impl FnOnce() -> RocksResult<T>,
    ) -> Result<T> {
        let sample = sample::read();
        let value = read()?;
        if let Some(sample) = sample {
            self.counters.get.record(sample.elapsed());
            sample.end(self.counters);
        }
        self.counters.count_get(found(&value));
        Ok(value)
    }

    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.read(Option::is_some, || match self.family {
            None => self.rocks.get(key),
            Some(family) => self.rocks.get_cf(family, key),
        })
    }

    pub(super) fn get_opt(&self, key: &[u8], options: &ReadOptions) -> Result<Option<Vec<u8>>> {
        self.read(Option::is_some, || match self.family {
            None => self.rocks.get_opt(key, options),
            Some(family) => self.rocks.get_cf_opt(family, key, options),
        })
    }

    pub(super) fn get_pinned(&self, key: &[u8]) -> Result<Option<DBPinnableSlice<'a>>> {
        self.read(Option::is_some, || match self.family {
            None => self.rocks.get_pinned(key),
            Some(family) => self.rocks.get_pinned_cf(family, key),
        })
    }

    pub(super) fn multi_get(&self, keys: &[&[u8]]) -> Vec<Result<Option<Vec<u8>>>> {
        let sample = sample::read();
        let values = match self.family {
            None => self.rocks.multi_get(keys),
            Some(family) => self
                .rocks
                .multi_get_cf(keys.iter().map(|key| (family, *key))),
        };
        if let Some(sample) = sample {
            // For each key: keys are what is counted as gets.
            let keys = u32::try_from(keys.len()).unwrap_or(u32::MAX);
            if let Some(each) = sample.elapsed().checked_div(keys) {
                self.counters.get.record(each);
            }
            sample.end(self.counters);
        }
        let found = values
            .iter()
            .filter(|value| matches!(value, Ok(Some(_))))
            .count();
        self.counters
            .count_gets(found as u64, (values.len() - found) as u64);
        values
            .into_iter()
            .map(|value| value.map_err(Error::from))
            .collect()
    }

    /// How writes are written that bring no options. One that meets the drop of its column family
    /// comes to nothing, as if it had come before: RocksDB would else find out in the midst of it,
    /// and refuse every later write. Those to the default column family, which is never dropped,
    /// say so too: RocksDB writes several at once as the first of them is to be written.
    pub(super) fn write_options(&self) -> WriteOptions {
        let mut options = WriteOptions::default();
        options.set_ignore_missing_column_families(true);
        options
    }

    /// A write of so many entries and bytes.
    fn write_as(
        &self,
        writes: u64,
        deletes: u64,
        bytes: u64,
        write: impl FnOnce() -> RocksResult<()>,
    ) -> Result<()> {
        if self.counters.is_dropped() {
            return Err(dropped());
        }
        let written = self.timed(write)?;
        let tally = Tally {
            writes,
            deletes,
            bytes,
        };
        written.count(self.counters, &tally, written.took);
        Ok(())
    }

    /// A batch counts for each column family what is written to it; for none what goes to one that
    /// the autopilot has left. Its time is that of its operations, each as long.
    pub(super) fn write_batch(
        &self,
        tallies: &Tallies,
        write: impl FnOnce() -> RocksResult<()>,
    ) -> Result<()> {
        let written = self.timed(write)?;
        let all = u128::from(tallies.operations().max(1));
        let took = |own: &Tally| {
            let nanos = written.took.as_nanos() * u128::from(own.operations()) / all;
            Duration::from_nanos(nanos as u64)
        };
        let default = &tallies.default;
        if default.operations() > 0 || tallies.others.is_empty() {
            written.count(self.counters, default, took(default));
        }
        for (family, own) in &tallies.others {
            if let Some(counters) = self.events.counters_of(*family) {
                written.count(&counters, own, took(own));
            }
        }
        Ok(())
    }

    /// Every write is timed, for a stall may meet any.
    fn timed(&self, write: impl FnOnce() -> RocksResult<()>) -> Result<Written> {
        let events = self.events;
        let (stalling, news) = (events.stalling(), events.stall_news());
        let begun = Instant::now();
        write()?;
        let took = begun.elapsed();
        let held_back = stalling || events.stalling() || news != events.stall_news();
        if held_back {
            events.note_stall(took);
            events.doubt_stall(|| holds_writers_back(self.rocks));
        }
        Ok(Written {
            took,
            held_back,
            is_sampled: sample::is_turn(),
        })
    }

    pub(super) fn put(&self, key: &[u8], value: &[u8], options: &WriteOptions) -> Result<()> {
        let bytes = (key.len() + value.len()) as u64;
        self.write_as(1, 0, bytes, || match self.family {
            None => self.rocks.put_opt(key, value, options),
            Some(family) => self.rocks.put_cf_opt(family, key, value, options),
        })
    }

    pub(super) fn merge(&self, key: &[u8], value: &[u8], options: &WriteOptions) -> Result<()> {
        let bytes = (key.len() + value.len()) as u64;
        self.write_as(1, 0, bytes, || match self.family {
            None => self.rocks.merge_opt(key, value, options),
            Some(family) => self.rocks.merge_cf_opt(family, key, value, options),
        })
    }

    pub(super) fn delete(&self, key: &[u8], options: &WriteOptions) -> Result<()> {
        self.write_as(0, 1, key.len() as u64, || match self.family {
            None => self.rocks.delete_opt(key, options),
            Some(family) => self.rocks.delete_cf_opt(family, key, options),
        })
    }

    pub(super) fn single_delete(&self, key: &[u8], options: &WriteOptions) -> Result<()> {
        self.write_as(0, 1, key.len() as u64, || match self.family {
            None => self.rocks.single_delete_opt(key, options),
            Some(family) => self.rocks.single_delete_cf_opt(family, key, options),
        })
    }

    pub(super) fn delete_range(
        &self,
        from: &[u8],
        to: &[u8],
        options: &WriteOptions,
    ) -> Result<()> {
        // RocksDB would have it in its log when it sees that, and then refuse every write.
        if from > to {
            return Err(Error::fix(format!(
                "cannot delete the range from {} to {}: its end comes before its start, so \
                 exchange them",
                from.escape_ascii(),
                to.escape_ascii()
            )));
        }
        let bytes = (from.len() + to.len()) as u64;
        let default;
        let family = match self.family {
            Some(family) => family,
            None => {
                default = self.rocks.cf_handle("default").ok_or_else(|| {
                    Error::bug("a database without the column family \"default\"")
                })?;
                &default
            }
        };
        self.write_as(0, 1, bytes, || {
            self.rocks.delete_range_cf_opt(family, from, to, options)
        })
    }

    pub(super) fn scan(
        &self,
        start: &[u8],
        limit: usize,
        mut visit: impl FnMut(&[u8], &[u8]),
    ) -> Result<usize> {
        let mut sample = sample::scan();
        let mut iterator = sample::within(&mut sample, || {
            let mut iterator = match self.family {
                None => self.rocks.raw_iterator_opt(across_prefixes()),
                Some(family) => self.rocks.raw_iterator_cf_opt(family, across_prefixes()),
            };
            iterator.seek(start);
            iterator
        });
        let mut visited = 0;
        while visited < limit
            && let Some((key, value)) = iterator.item()
        {
            visit(key, value);
            visited += 1;
            if visited < limit {
                sample::within(&mut sample, || iterator.next());
            }
        }
        if let Some(sample) = sample {
            sample.end(self.counters, visited as u64);
        }
        self.counters.count_scan(visited as u64);
        iterator.status()?;
        Ok(visited)
    }

    pub(super) fn iterator(
        &self,
        mode: IteratorMode<'_>,
        options: ReadOptions,
        counters: Arc<Counters>,
    ) -> Scan<'a> {
        let mut sample = sample::scan();
        let iterator = sample::within(&mut sample, || match self.family {
            None => self.rocks.iterator_opt(mode, options),
            Some(family) => self.rocks.iterator_cf_opt(family, options, mode),
        });
        Scan::new(iterator, counters, sample)
    }
}

/// How a write went.
struct Written {
    took: Duration,
    held_back: bool,
    is_sampled: bool,
}

impl Written {
    /// Counts what of it was a column family's, and took `own`.
    fn count(&self, counters: &Counters, tally: &Tally, own: Duration) {
        let free = if self.held_back { Duration::ZERO } else { own };
        counters.count_writes(tally.writes, tally.deletes, tally.bytes, free);
        if self.held_back {
            counters.note_stall(self.took, own);
        }
        if self.is_sampled {
            counters.put.record(self.took);
        }
    }
}

/// Under a prefix extractor RocksDB otherwise passes over keys of other prefixes than
/// the one that is sought.
pub(super) fn across_prefixes() -> ReadOptions {
    let mut options = ReadOptions::default();
    options.set_total_order_seek(true);
    options
}

fn dropped() -> Error {
    Error::fix(
        "this column family was dropped: write to another one, or make it anew with Db::create_cf \
         and get it by Db::family",
    )
}
