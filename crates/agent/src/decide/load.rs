//! How much of the device clients use.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::observation::Counters;

/// An estimate of the bytes per second that clients move.
///
/// Neither sees the CPU: SQL does not tell it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadModel {
    /// DLC's equation 6: γ · bytes added to the block cache / interval, with γ
    /// the compression ratio. Writes are left out, and without a block cache it
    /// sees nothing.
    BlockCache,
    /// The same, and writes: what goes to the write-ahead log at once, and what
    /// goes to the memtables and will be flushed. Flushes are counted when their
    /// bytes are written by clients, not when they happen, which is in bursts.
    ReadsAndWrites,
}

impl LoadModel {
    /// Bytes per second over an interval in which `counted` was counted; `None`
    /// for an interval of no length.
    pub fn client_bytes_per_sec(
        self,
        compression_ratio: f64,
        counted: &Counters,
        interval: Duration,
    ) -> Option<f64> {
        if interval.is_zero() {
            return None;
        }
        let reads = compression_ratio * counted.block_cache_bytes_insert as f64;
        let bytes = match self {
            LoadModel::BlockCache => reads,
            LoadModel::ReadsAndWrites => {
                let flushed_later = compression_ratio * counted.bytes_written as f64;
                reads + counted.wal_bytes as f64 + flushed_later
            }
        };
        Some(bytes / interval.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted() -> Counters {
        Counters {
            block_cache_bytes_insert: 4_000,
            bytes_written: 1_000,
            wal_bytes: 1_200,
            ..Counters::default()
        }
    }

    #[test]
    fn reads_are_compressed_and_writes_are_two() {
        let two = Duration::from_secs(2);
        let read = LoadModel::BlockCache.client_bytes_per_sec(0.5, &counted(), two);
        assert_eq!(read, Some(1_000.0));
        let both = LoadModel::ReadsAndWrites.client_bytes_per_sec(0.5, &counted(), two);
        assert_eq!(both, Some(1_850.0));
        let never = LoadModel::BlockCache.client_bytes_per_sec(1.0, &counted(), Duration::ZERO);
        assert_eq!(never, None);
    }

    #[test]
    fn a_counter_that_goes_back_counts_nothing() {
        let later = counted();
        let earlier = Counters::default();
        assert_eq!(later.since(&earlier), Some(later));
        assert_eq!(earlier.since(&later), None);
    }
}
