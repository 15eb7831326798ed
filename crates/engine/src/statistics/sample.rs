//! One operation in 128, on average, is timed, and its reads counted level by level.
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
                add_levels(counters, counts);
            });
        }
    }
}

fn add_levels(counters: &Counters, counts: &perf::Counts) {
    for row in &counts.levels {
        let physical = u16::try_from(row.level).map_or(PhysicalLevel(u16::MAX), PhysicalLevel);
        let level = counters.level(physical);
        let add = |counter: &AtomicU64, value: u64| {
            if value > 0 {
                counter.fetch_add(value, Relaxed);
            }
        };
        add(&level.read_ios, row.block_cache_miss_count);
        add(&level.filter_useful, row.bloom_filter_useful);
        add(&level.filter_positive, row.bloom_filter_full_positive);
        add(
            &level.filter_true_positive,
            row.bloom_filter_full_true_positive,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
