//! How operations reach RocksDB: with a rate limit, user reads and the log are charged
//! to it as compactions are, so that it stands for a device of that bandwidth.

use rust_rocksdb::{IoPriority, ReadOptions, WriteOptions};

/// Options of reads and writes.
pub(super) struct Access {
    pub(super) charged: bool,
    pub(super) reads: ReadOptions,
    pub(super) writes: WriteOptions,
}

impl Access {
    /// Operations that are charged to a rate limiter, or are not.
    pub(super) fn new(charged: bool) -> Self {
        let mut writes = WriteOptions::default();
        if charged {
            writes.set_rate_limiter_priority(IoPriority::User as i32);
        }
        Self {
            charged,
            reads: read_options(charged),
            writes,
        }
    }

    /// Options for an iterator, which keeps them.
    pub(super) fn iterator(&self) -> ReadOptions {
        read_options(self.charged)
    }
}

fn read_options(charged: bool) -> ReadOptions {
    let mut reads = ReadOptions::default();
    if charged {
        reads.set_rate_limiter_priority(IoPriority::User as i32);
    }
    reads
}
