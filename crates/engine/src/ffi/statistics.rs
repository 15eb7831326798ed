//! Reading a database's statistics, whoever opened it. There is no way here to
//! reset them.

use rust_rocksdb::statistics::{Histogram, Ticker};

use super::handle::Handle;
use super::{CfRef, Error, raw};

/// The statistics object of an open database.
pub struct Statistics {
    handle: Handle<raw::Statistics>,
}

/// A summary of one histogram, over the whole life of the statistics.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[allow(missing_docs)] // the names say it; the unit is the histogram's
pub struct Summary {
    pub median: f64,
    pub percentile95: f64,
    pub percentile99: f64,
    pub average: f64,
    pub max: f64,
    pub count: u64,
    pub sum: u64,
}

impl Statistics {
    /// `None` where the database was opened without statistics.
    pub fn of(cf: CfRef<'_>) -> Result<Option<Self>, Error> {
        // SAFETY: the target is alive; the new object shares ownership of the
        // statistics, so it may outlive the database, and any number of threads may
        // read them.
        let handle = unsafe {
            Handle::try_new(raw::lissom_statistics_free, |out| {
                raw::lissom_statistics_new(cf.raw(), out)
            })
        }?;
        Ok(handle.map(|handle| Self { handle }))
    }

    /// RocksDB's StatsLevel: 0 counts nothing, 1 tickers alone, 2 all but timers,
    /// from 3 on ever more timers.
    pub fn level(&self) -> i32 {
        // SAFETY: the handle is alive as long as `self`.
        unsafe { raw::lissom_statistics_level(self.handle.as_ptr()) }
    }

    /// The value of one counter since the statistics began.
    pub fn ticker(&self, ticker: Ticker) -> Result<u64, Error> {
        let mut value = 0;
        // SAFETY: the handle is alive as long as `self`.
        unsafe {
            Error::check(raw::lissom_statistics_ticker(
                self.handle.as_ptr(),
                ticker as u32,
                &raw mut value,
            ))?;
        }
        Ok(value)
    }

    /// The summary of one histogram.
    pub fn histogram(&self, histogram: Histogram) -> Result<Summary, Error> {
        let mut summary = Summary::default();
        // SAFETY: the handle is alive as long as `self`.
        unsafe {
            Error::check(raw::lissom_statistics_histogram(
                self.handle.as_ptr(),
                histogram as u32,
                &raw mut summary,
            ))?;
        }
        Ok(summary)
    }
}
