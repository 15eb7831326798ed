//! How many table files RocksDB may hold open.

use rustix::process::{Resource, getrlimit, setrlimit};

use crate::error::{Error, Result};

/// Fewer leave no room for logs, manifests and the outputs of compactions.
const LEAST_LIMIT: u64 = 64;

/// RocksDB's word for all of them.
const ALL: i32 = -1;

/// Raises the limit on open files as far as this process may, for a program that works on
/// directories with as many tables as there may be: where nothing else is on record, RocksDB opens
/// all of them at once. A program that calls `select` must not.
pub fn raise_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Where it may not be raised, RocksDB says what it could not open.
    let _ = setrlimit(Resource::Nofile, limit);
}

/// RocksDB's `max_open_files` for this process.
///
/// # Errors
/// The process may open so few files that no database works.
pub(crate) fn max_open_files() -> Result<i32> {
    within(getrlimit(Resource::Nofile).current)
}

/// Half of what the process may open: the other half is for logs, for compactions, and
/// for the application. A tree of more files works, and opens them again when it reads
/// them.
fn within(limit: Option<u64>) -> Result<i32> {
    match limit {
        None => Ok(ALL),
        Some(limit) if limit < LEAST_LIMIT => Err(Error::fix(format!(
            "this process may open {limit} files: raise the limit to {LEAST_LIMIT} at least, as \
             with `ulimit -n`"
        ))),
        Some(limit) => Ok(i32::try_from(limit / 2).unwrap_or(i32::MAX)),
    }
}

/// RocksDB's own `table_cache_numshardbits`.
pub(crate) const MOST_TABLE_SHARD_BITS: i32 = 6;

/// For about so many tables a shard of the cache of open tables has room. By chance one shard gets
/// more of them than another, and what has no room in its own is opened anew, index and filter read
/// again, by whoever asks for it. Of 502 slots in 64 shards of 8, 450 tables miss in 6 to 12 % of all
/// look-ups.
const TABLES_IN_A_SHARD: u32 = 64;

/// RocksDB's `table_cache_numshardbits` where so many files may be open; where all may, a negative
/// number, RocksDB's own.
pub(crate) fn table_shard_bits(max_open_files: i32) -> i32 {
    let bits = |files: u32| (files / TABLES_IN_A_SHARD).max(1).ilog2() as i32;
    let most = MOST_TABLE_SHARD_BITS;
    u32::try_from(max_open_files).map_or(most, |files| most.min(bits(files)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_what_the_process_may_open() {
        assert_eq!(within(Some(1024)).expect("enough"), 512);
        assert_eq!(within(Some(64)).expect("enough"), 32);
        assert_eq!(within(Some(1 << 40)).expect("enough"), i32::MAX);
        assert_eq!(within(None).expect("no limit"), ALL);
    }

    #[test]
    fn few_open_files_lie_in_few_shards() {
        let bits = [16, 32, 127, 128, 512, 4_095, 4_096, i32::MAX, ALL].map(table_shard_bits);
        assert_eq!(bits, [0, 0, 0, 1, 3, 5, 6, 6, 6]);
    }

    #[test]
    fn too_few_are_refused() {
        let error = within(Some(63)).expect_err("too few").to_string();
        assert_eq!(
            error,
            "this process may open 63 files: raise the limit to 64 at least, as with `ulimit -n`"
        );
    }
}
