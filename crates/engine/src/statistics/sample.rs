//! One read in 128, on average, is timed and counted level by level; so many writes stand for
//! the quantiles of all.
//!
//! Which one is drawn: with equal gaps a thread that does a get and a put by turns
//! would be seen at its puts alone.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use lissom_core::PhysicalLevel;

use super::counters::Counters;
use crate::ffi::perf;

/// One in this many operations of a thread is sampled, on average.
pub(crate) const EVERY: u64 = 128;

/// A sampled read that is under way.
pub(crate) struct Sample {
    begun: Instant,
    perf: Option<perf::Sample>,
}

/// A sampled scan, seen while RocksDB works on it and not in between: what is done with
/// the entries is not the scan's, be it other reads, and an iterator may move to another
/// thread.
#[derive(Debug, Default)]
pub(crate) struct ScanSample {
    took: Duration,
    read: Read,
}

/// What sampled work read.
#[derive(Debug, Default)]
struct Read {
    /// By physical level, ascending.
    levels: Vec<perf::LevelCounts>,
    /// Blocks that were read one by one.
    blocks: u64,
    /// Their bytes.
    bytes: u64,
}

thread_local! {
    /// Operations until the next sample, that one included; 0 before a gap is drawn.
    static LEFT: Cell<u64> = const { Cell::new(0) };
    static RANDOM: Cell<Option<u64>> = const { Cell::new(None) };
    static COUNTS: RefCell<perf::Counts> = RefCell::new(perf::Counts::default());
}

/// Whether it is this operation's turn.
#[inline]
pub(crate) fn is_turn() -> bool {
    LEFT.with(|left| {
        let before = left.get();
        let now = if before == 0 { gap() } else { before } - 1;
        left.set(now);
        now == 0
    })
}

/// Operations up to the next sample, that one included: 1 to 2 * EVERY - 1, each as
/// likely as the others (SplitMix64, begun elsewhere in each thread).
#[cold]
fn gap() -> u64 {
    static THREADS: AtomicU64 = AtomicU64::new(0);
    let state = RANDOM.get().unwrap_or_else(|| {
        let thread = THREADS.fetch_add(1, Relaxed);
        mixed(thread)
    });
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    RANDOM.set(Some(state));
    1 + mixed(state) % (2 * EVERY - 1)
}

fn mixed(state: u64) -> u64 {
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A sample, when it is this operation's turn.
#[inline]
pub(crate) fn read() -> Option<Sample> {
    is_turn().then(|| Sample {
        perf: perf::Sample::begin(),
        begun: Instant::now(),
    })
}

impl Sample {
    /// Time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Ends the sample and adds what was read to the counters.
    #[cold]
    pub(crate) fn end(self, counters: &Counters) {
        if let Some(sample) = self.perf {
            COUNTS.with_borrow_mut(|counts| {
                sample.end(counts);
                let read = &counts.totals;
                let (blocks, bytes) = (read.block_read_count, read.block_read_byte);
                add_levels(counters, &counts.levels, blocks, bytes);
            });
        }
    }
}

/// A sample of a scan, when it is this operation's turn.
#[inline]
pub(crate) fn scan() -> Option<ScanSample> {
    is_turn().then(ScanSample::default)
}

/// Does a part of a scan, and looks at it if the scan is sampled.
#[inline]
pub(crate) fn within<T>(sample: &mut Option<ScanSample>, work: impl FnOnce() -> T) -> T {
    match sample {
        None => work(),
        Some(sample) => sample.look_at(work),
    }
}

impl ScanSample {
    #[cold]
    fn look_at<T>(&mut self, work: impl FnOnce() -> T) -> T {
        // While another sample counts on this thread, this one is timed alone.
        let perf = perf::Sample::begin();
        let begun = Instant::now();
        let done = work();
        self.took += begun.elapsed();
        if let Some(perf) = perf {
            COUNTS.with_borrow_mut(|counts| {
                perf.end(counts);
                self.read.add(counts);
            });
        }
        done
    }

    /// Ends the sample of a scan that returned so many entries, and adds what it saw to the
    /// counters.
    #[cold]
    pub(crate) fn end(self, counters: &Counters, entries: u64) {
        counters.seek.record(self.took);
        counters.seek_entries.fetch_add(entries, Relaxed);
        let Read {
            levels,
            blocks,
            bytes,
        } = self.read;
        add_levels(counters, &levels, blocks, bytes);
    }
}

impl Read {
    fn add(&mut self, more: &perf::Counts) {
        for row in &more.levels {
            match self.levels.binary_search_by_key(&row.level, |it| it.level) {
                Ok(at) => self.levels[at] += row,
                Err(at) => self.levels.insert(at, *row),
            }
        }
        self.blocks += more.totals.block_read_count;
        self.bytes += more.totals.block_read_byte;
    }
}

/// Adds what an operation read by level; `blocks` of them it read one by one, which have
/// `bytes` bytes.
fn add_levels(counters: &Counters, levels: &[perf::LevelCounts], blocks: u64, bytes: u64) {
    for row in levels {
        let physical = u16::try_from(row.level).map_or(PhysicalLevel(u16::MAX), PhysicalLevel);
        let level = counters.level(physical);
        let add = |counter: &AtomicU64, value: u64| {
            if value > 0 {
                counter.fetch_add(value, Relaxed);
            }
        };
        let missed = row.block_cache_miss_count;
        add(&level.read_ios, missed);
        add(&level.read_bytes, bytes_of(missed, blocks, bytes));
        add(&level.filter_useful, row.bloom_filter_useful);
        add(&level.filter_positive, row.bloom_filter_full_positive);
        add(
            &level.filter_true_positive,
            row.bloom_filter_full_true_positive,
        );
    }
}

/// Bytes of `missed` blocks, each the mean of `blocks` that have `bytes`: RocksDB counts
/// bytes over all levels, and not those that it reads ahead.
fn bytes_of(missed: u64, blocks: u64, bytes: u64) -> u64 {
    missed.saturating_mul(bytes) / blocks.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(level: u64, missed: u64) -> perf::LevelCounts {
        perf::LevelCounts {
            level,
            block_cache_miss_count: missed,
            ..perf::LevelCounts::default()
        }
    }

    fn counts(levels: Vec<perf::LevelCounts>, blocks: u64, bytes: u64) -> perf::Counts {
        let mut counts = perf::Counts {
            levels,
            ..perf::Counts::default()
        };
        counts.totals.block_read_count = blocks;
        counts.totals.block_read_byte = bytes;
        counts
    }

    /// The second step read ahead: RocksDB tells of no bytes.
    #[test]
    fn a_scan_counts_all_blocks_of_all_its_steps() {
        let counters = Counters::default();
        let mut sample = ScanSample::default();
        sample
            .read
            .add(&counts(vec![row(0, 1), row(20, 1)], 2, 6_000));
        sample.read.add(&counts(vec![row(3, 2), row(20, 4)], 0, 0));
        sample.end(&counters, 7);
        let seen = |at: usize| {
            let level = &counters.levels[at];
            (level.read_ios.load(Relaxed), level.read_bytes.load(Relaxed))
        };
        // L0 and slots of level 1; a slot of level 2.
        assert_eq!(seen(0), (3, 9_000));
        assert_eq!(seen(1), (5, 15_000));
        assert_eq!(counters.seek.counts().latency().count, 1);
        assert_eq!(counters.seek_entries.load(Relaxed), 7);
        assert_eq!(bytes_of(7, 0, 0), 0, "read ahead alone");
    }

    #[test]
    fn operations_that_come_by_turns_are_all_seen() {
        let mut seen = [0u32; 2];
        for operation in 0..200_000 {
            if is_turn() {
                seen[operation % 2] += 1;
            }
        }
        let all: u32 = seen.iter().sum();
        // 200,000 / 128 is 1,562; the deviation is 23.
        assert!((1_400..1_750).contains(&all), "{seen:?}");
        assert!(seen.iter().all(|count| *count > all / 4), "{seen:?}");
    }
}
