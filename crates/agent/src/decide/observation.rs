//! What a decision may see: one reading of the server.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::options::FamilyOptions;
use crate::error::Result;

/// Column families by name.
pub type Families = BTreeMap<String, Family>;

/// Everything that was read, at one instant.
#[derive(Clone, PartialEq, Debug)]
pub struct Observation {
    /// When the counters were answered, since the agent began.
    pub at: Duration,
    /// How long they took: they are of some moment in that time.
    pub waited: Duration,
    /// Which server answered.
    pub instance: Instance,
    /// Its counters, or why they cannot be read.
    pub counters: Result<Counters>,
    /// `rocksdb_rate_limiter_bytes_per_sec`; 0 is none.
    pub rate_limiter_bytes_per_sec: u64,
    /// Its column families.
    pub families: Families,
}

/// A server from its start to its end.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Instance {
    /// What stays over a restart and differs between servers, unless they are made alike,
    /// as containers may be.
    pub identity: String,
    /// When it started, by its own clock, in seconds since 1970. Its clock less
    /// its uptime: a clock that is put right moves both.
    pub started_at: u64,
    /// Seconds since then; they wrap while its clock stands before its start.
    pub uptime: u64,
}

impl Instance {
    /// The server's clock when it was seen, in seconds since 1970.
    pub fn clock(&self) -> u64 {
        self.started_at.wrapping_add(self.uptime)
    }
}

/// Status counters since the server's start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Bytes of data, index and filter blocks added to the block cache,
    /// uncompressed.
    pub block_cache_bytes_insert: u64,
    /// Keys that were read one by one.
    pub keys_read: u64,
    /// Keys that were written.
    pub keys_written: u64,
    /// Range scans that began.
    pub seeks: u64,
    /// Bytes that clients wrote, without the write-ahead log.
    pub bytes_written: u64,
    /// Bytes written to the write-ahead log.
    pub wal_bytes: u64,
    /// Microseconds in which writers were held back.
    pub stall_micros: u64,
}

impl Counters {
    /// What was counted since `before`; `None` when a counter went back, as
    /// after a restart.
    pub fn since(&self, before: &Counters) -> Option<Counters> {
        Some(Counters {
            block_cache_bytes_insert: self.counted(before, |it| it.block_cache_bytes_insert)?,
            keys_read: self.counted(before, |it| it.keys_read)?,
            keys_written: self.counted(before, |it| it.keys_written)?,
            seeks: self.counted(before, |it| it.seeks)?,
            bytes_written: self.counted(before, |it| it.bytes_written)?,
            wal_bytes: self.counted(before, |it| it.wal_bytes)?,
            stall_micros: self.counted(before, |it| it.stall_micros)?,
        })
    }

    fn counted(&self, before: &Counters, of: fn(&Counters) -> u64) -> Option<u64> {
        of(self).checked_sub(of(before))
    }
}

/// A column family.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Family {
    /// The options in force.
    pub options: FamilyOptions,
    /// `level_compaction_dynamic_level_bytes`
    pub dynamic_level_bytes: bool,
    /// `compaction_style`, as RocksDB spells it.
    pub compaction_style: String,
    /// Files in level 0.
    pub level0_files: u64,
    /// Bytes in level 0.
    pub level0_bytes: u64,
}
