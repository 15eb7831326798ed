//! A column family other than the default one.

use std::sync::Arc;

use rust_rocksdb::BoundColumnFamily;

use super::methods::operations;
use super::operations::Operations;
use crate::RocksDb;
use crate::error::Result;
use crate::events::Events;
use crate::statistics::counters::Counters;

/// A column family, from [`Db::family`](crate::Db::family). Keep it while you
/// need it: getting it costs a look-up by name.
pub struct Family<'a> {
    pub(super) rocks: &'a RocksDb,
    pub(super) handle: Arc<BoundColumnFamily<'a>>,
    pub(super) counters: Arc<Counters>,
    pub(super) events: &'a Events,
}

impl<'a> Family<'a> {
    fn operations(&self) -> Operations<'_> {
        Operations {
            rocks: self.rocks,
            family: Some(&self.handle),
            counters: &self.counters,
            events: self.events,
        }
    }

    /// RocksDB's handle, for batches and everything else.
    pub fn handle(&self) -> &Arc<BoundColumnFamily<'a>> {
        &self.handle
    }

    operations!();
}
