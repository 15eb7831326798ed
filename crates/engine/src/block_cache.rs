//! The block cache, in shards that hold what a read needs of a table file.

use rust_rocksdb::{Cache, LruCacheOptions};

/// RocksDB's own bounds on the shards of an LRU cache: not more than 2^6 of them, none of fewer
/// bytes.
const MOST_BITS: u32 = 6;
const LEAST_SHARD: u64 = 512 << 10;

/// A shard has an eighth of a table file at least. With blocks of 4 KiB and 10 filter bits a key
/// the index and the filter of a file are a hundredth of it where entries have a kilobyte and an
/// eighth where they have ten bytes. A block that is larger than its shard is read again each time.
const FILES_EIGHTH: u64 = 8;

/// A cache of `capacity` bytes for the blocks of table files of `file_bytes`: RocksDB's LRU cache,
/// in fewer shards than by itself where files are large beside it.
pub fn block_cache(capacity: usize, file_bytes: u64) -> Cache {
    let mut options = LruCacheOptions::default();
    options.set_capacity(capacity);
    options.set_num_shard_bits(shard_bits(capacity as u64, file_bytes) as i32);
    Cache::new_lru_cache_opts(&options)
}

/// Bits of the number of shards.
fn shard_bits(capacity: u64, file_bytes: u64) -> u32 {
    let shard = LEAST_SHARD.max(file_bytes / FILES_EIGHTH);
    (capacity / shard).max(1).ilog2().min(MOST_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_shard_holds_what_a_read_needs_of_a_file() {
        assert_eq!(shard_bits(512 * MIB, 64 * MIB), 6, "by default as RocksDB");
        assert_eq!(shard_bits(36 * MIB, 4 * MIB), 6, "small files as RocksDB");
        assert_eq!(shard_bits(36 * MIB, 64 * MIB), 2, "shards of 9 MiB");
        assert_eq!(shard_bits(4 * MIB, 64 * MIB), 0, "one is the least");
        assert_eq!(shard_bits(i64::MAX as u64, 1), 6);
        assert_eq!(shard_bits(0, u64::MAX), 0);
    }

    #[test]
    fn the_cache_has_its_capacity() {
        let cache = block_cache(36 << 20, 64 * MIB);
        assert_eq!((cache.get_capacity(), cache.get_usage()), (36 << 20, 0));
    }
}
