//! Dropping a column family of a RocksDB that has jobs running.

use std::mem;
use std::thread;
use std::time::{Duration, Instant};

use rust_rocksdb::properties::{NUM_RUNNING_COMPACTIONS, NUM_RUNNING_FLUSHES};

use crate::RocksDb;

/// RocksDB is rarely without a job for less than this.
const PATIENCE: Duration = Duration::from_secs(10);
const GLANCE: Duration = Duration::from_millis(5);

/// Drops a column family.
///
/// A flush or compaction tells listeners of changed write stalls after it has let go of
/// the family, by a pointer to the family's options (`SuperVersionContext::Clean` in
/// RocksDB 11.12). So the handle, which keeps them alive, is held until no job runs; and
/// for ever where there is always one, which costs its memory until the database closes.
///
/// False where there was always one.
///
/// # Errors
/// RocksDB's; the family is then as it was, unless it [was dropped all the same](super::in_effect).
pub(super) fn drop_family(rocks: &RocksDb, name: &str) -> Result<bool, rust_rocksdb::Error> {
    let handle = rocks.cf_handle(name);
    rocks.drop_cf(name)?;
    let is_at_rest = rests(rocks);
    if !is_at_rest {
        mem::forget(handle);
    }
    Ok(is_at_rest)
}

/// Waits for an instant without a job of RocksDB's; false when there is none.
fn rests(rocks: &RocksDb) -> bool {
    let running = |property| rocks.property_int_value(property).ok().flatten();
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let compactions = running(NUM_RUNNING_COMPACTIONS);
        let flushes = running(NUM_RUNNING_FLUSHES);
        if compactions.unwrap_or(0) + flushes.unwrap_or(0) == 0 {
            return true;
        }
        thread::sleep(GLANCE);
    }
    false
}
