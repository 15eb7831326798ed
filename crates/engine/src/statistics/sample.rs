//! One operation in 128 is timed, and its reads counted level by level.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use lissom_core::PhysicalLevel;

use super::counters::Counters;
use crate::ffi::perf;

/// One in this many operations of a thread is sampled.
pub(crate) const EVERY: u64 = 128;

/// A sampled read that is under way.
pub(crate) struct Sample {
    begun: Instant,
    perf: Option<perf::Sample>,
}

thread_local! {
    static TICK: Cell<u64> = const { Cell::new(0) };
    static COUNTS: RefCell<perf::Counts> = RefCell::new(perf::Counts::default());
}

/// Whether it is this operation's turn.
#[inline]
pub(crate) fn is_turn() -> bool {
    TICK.with(|tick| {
        tick.set(tick.get().wrapping_add(1));
        tick.get().is_multiple_of(EVERY)
    })
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
