//! The contenders.

mod lissom;
mod listener;
mod mock;
mod name;
pub(crate) mod options_file;
mod resources;
mod rocksdb;
#[cfg(test)]
mod tests;
mod tickers;

use std::path::Path;

use crate::error::Result;
use crate::store::Store;

pub use lissom::LissomStore;
pub(crate) use lissom::{EXCESSES, excess_name, settings_of};
pub(crate) use listener::CompactionLog;
pub use mock::MockStore;
pub(crate) use name::FROZEN;
pub use name::{ArmName, LARGEST_FIXED};
pub use resources::{Compression, FullLoads, Resources};
pub use rocksdb::StockRocksDb;
pub(crate) use rocksdb::{options_files, scan_rocksdb};

/// Opens `directory` as arm `arm`, with what all arms share.
pub fn open_arm(arm: &ArmName, directory: &Path, resources: &Resources) -> Result<Box<dyn Store>> {
    match arm {
        stock if stock.is_stock() => Ok(Box::new(StockRocksDb::open(directory, stock, resources)?)),
        ArmName::Mock(name) => Ok(Box::new(MockStore::open(name)?)),
        own => Ok(Box::new(LissomStore::open(directory, own, resources)?)),
    }
}
