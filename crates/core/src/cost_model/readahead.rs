//! How many reads a scan takes of a run.
//!
//! RocksDB reads a file block by block at first, and ahead from the third block in a row on: two
//! blocks, twice as many each time, 64 at most
//! (`BlockBasedTableOptions::num_file_reads_for_auto_readahead`, `initial_auto_readahead_size`,
//! `max_auto_readahead_size`, with their defaults of 2, 8 KiB and 256 KiB, and blocks of 4 KiB).
//! So a long scan takes few reads of one run that holds all of what it returns, and many more of
//! several that share it: 30 blocks are 6 reads, three times 10 blocks are 13.

/// Bytes of a block before compression (`BlockBasedTableOptions::block_size`, its default).
pub const BLOCK_BYTES: f64 = 4096.0;

/// Blocks that are read one by one.
const ONE_BY_ONE: f64 = 2.0;

/// Blocks that the first read ahead brings.
const FIRST_AHEAD: f64 = 2.0;

/// Blocks that a read ahead brings at most.
const MOST_AHEAD: f64 = 64.0;

/// Reads of so many blocks in a row, between whole numbers by a straight or a smooth line.
/// Files that end on the way are not counted: each begins anew.
pub fn reads(blocks: f64) -> f64 {
    let ahead = (blocks - ONE_BY_ONE).max(0.0);
    // The doubling ones bring 2 + 4 + ... + 64 blocks.
    let doubling = ahead.min(2.0 * MOST_AHEAD - FIRST_AHEAD);
    blocks.clamp(0.0, ONE_BY_ONE)
        + (1.0 + doubling / FIRST_AHEAD).log2()
        + (ahead - doubling) / MOST_AHEAD
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let cases = [
            (0.0, 0.0),
            (1.0, 1.0),
            (2.0, 2.0),
            (4.0, 3.0),
            (8.0, 4.0),
            (128.0, 8.0),
            (192.0, 9.0),
        ];
        for (blocks, expected) in cases {
            assert!((reads(blocks) - expected).abs() < 1e-9, "{blocks}");
        }
    }

    #[test]
    fn blocks_in_several_runs_are_never_fewer_reads() {
        for blocks in 1..500u32 {
            let (whole, half) = (f64::from(blocks), f64::from(blocks) / 2.0);
            assert!(2.0 * reads(half) >= reads(whole) - 1e-9, "{blocks}");
            assert!(reads(whole) <= whole && reads(whole + 1.0) > reads(whole));
        }
    }
}
