//! The load of an interval, from counters.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use lissom_core::observation::OperationMix;
use lissom_core::schedule::{Conditions, Load};
use rust_rocksdb::statistics::Ticker;

use super::super::mission;
use super::super::shared::Shared;
use super::processors::{self, Processors};
use crate::statistics::sample::EVERY;

/// Bytes that a tree must hold before their compression is believed.
const ENOUGH: u64 = 1 << 20;

/// The processors are looked at no more often: their times come in ticks of 10 ms.
const PROCESSORS_EVERY: Duration = Duration::from_millis(100);

/// Seconds of a day.
const DAY: u64 = 86_400;

/// Counters at one instant.
#[derive(Clone, Copy, Default)]
struct Sums {
    operations: OperationMix,
    cached_bytes: u64,
    logged_bytes: u64,
    flushed_bytes: u64,
    compacted_bytes: u64,
    level1_compacted_bytes: u64,
    level0_merged_bytes: u64,
    compacted_micros: u64,
    tree_bytes: u64,
    tree_entries: u64,
}

pub(super) struct Meter {
    begun: Instant,
    last: Instant,
    sums: Sums,
    /// Absent where the schedule does not ask for them.
    processors: Option<ProcessorWatch>,
}

impl Meter {
    /// One that also looks at the processors where they are asked for at some interval.
    pub(super) fn new(shared: &Shared, now: Instant, of_processors: Option<Duration>) -> Meter {
        Meter {
            begun: now,
            last: now,
            sums: Sums::of(shared),
            processors: of_processors.map(|interval| ProcessorWatch::new(now, interval)),
        }
    }

    /// What happened since it was last read, and what the data is like. Column
    /// families that were dropped meanwhile take their counts with them.
    pub(super) fn read(&mut self, shared: &Shared, now: Instant) -> (Load, Conditions) {
        let sums = Sums::of(shared);
        let before = std::mem::replace(&mut self.sums, sums);
        let clock = clock();
        let load = Load {
            at: now.duration_since(self.begun),
            time_of_day: Duration::from_secs(clock.as_secs() % DAY),
            clock,
            interval: now.duration_since(self.last),
            gets: grown(&sums, &before, |sums| {
                sums.operations.gets_found + sums.operations.gets_absent
            }),
            scans: grown(&sums, &before, |sums| sums.operations.scans),
            writes: grown(&sums, &before, |sums| {
                sums.operations.writes + sums.operations.deletes
            }),
            cached_bytes: grown(&sums, &before, |sums| sums.cached_bytes),
            logged_bytes: grown(&sums, &before, |sums| sums.logged_bytes),
            flushed_bytes: grown(&sums, &before, |sums| sums.flushed_bytes),
            compacted_bytes: grown(&sums, &before, |sums| sums.compacted_bytes),
            level1_compacted_bytes: grown(&sums, &before, |sums| sums.level1_compacted_bytes),
            level0_merged_bytes: grown(&sums, &before, |sums| sums.level0_merged_bytes),
            compacted_micros: grown(&sums, &before, |sums| sums.compacted_micros),
            user_cpu: self.processors.as_mut().and_then(|it| it.user_cpu(now)),
        };
        self.last = now;
        (load, sums.conditions())
    }
}

/// The processors, looked at now and then.
struct ProcessorWatch {
    available: usize,
    last: Option<Processors>,
    at: Instant,
    every: Duration,
    user_cpu: Option<f64>,
}

impl ProcessorWatch {
    /// One that a schedule asks at such intervals.
    fn new(now: Instant, interval: Duration) -> ProcessorWatch {
        let available = processors::available();
        ProcessorWatch {
            available,
            last: Processors::now(available),
            at: now,
            every: look_every(interval),
            user_cpu: None,
        }
    }

    /// The users' share between the last two looks.
    fn user_cpu(&mut self, now: Instant) -> Option<f64> {
        if now.duration_since(self.at) >= self.every {
            self.at = now;
            let before = std::mem::replace(&mut self.last, Processors::now(self.available));
            let both = self.last.as_ref().zip(before.as_ref());
            self.user_cpu = both.and_then(|(now, before)| now.user_share_since(before));
        }
        self.user_cpu
    }
}

/// At least how long lies between two looks at the processors: short enough for one in each
/// interval, since a figure of two would tell late that a load has fallen.
fn look_every(interval: Duration) -> Duration {
    (interval / 2).max(PROCESSORS_EVERY)
}

fn grown(now: &Sums, before: &Sums, of: impl Fn(&Sums) -> u64) -> u64 {
    of(now).saturating_sub(of(before))
}

/// Time since 1970. A clock before that tells no hour worth knowing.
fn clock() -> Duration {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default()
}

impl Sums {
    fn of(shared: &Shared) -> Sums {
        let mut sums = Sums::default();
        for family in shared.families.read().values() {
            let counters = &family.counters;
            sums.flushed_bytes += counters.flush_write_bytes.load(Relaxed);
            sums.compacted_bytes += counters.compaction_read_bytes.load(Relaxed)
                + counters.compaction_write_bytes.load(Relaxed);
            sums.level1_compacted_bytes += counters.level1_compacted_bytes.load(Relaxed);
            sums.level0_merged_bytes += counters.level0_merged_bytes.load(Relaxed);
            let micros = counters
                .levels
                .iter()
                .map(|level| level.compaction_micros.load(Relaxed));
            sums.compacted_micros += micros.sum::<u64>();
            let view = family.view.lock();
            let runs: u64 = view.tree.runs.iter().map(|run| run.bytes).sum();
            sums.tree_bytes += view.tree.level0_bytes + runs;
            sums.tree_entries += view.entries;
            drop(view);
            if shared.attached {
                continue;
            }
            sums.operations += &counters.operations();
            sums.logged_bytes += counters.user_write_bytes();
            let blocks: u64 = counters
                .levels
                .iter()
                .map(|level| level.read_ios.load(Relaxed))
                .sum();
            sums.cached_bytes += blocks * EVERY * family.hooks.settings.block_size;
        }
        if shared.attached {
            sums.operations = mission::attached_mix(shared);
            sums.logged_bytes = shared.ticker(Ticker::BytesWritten);
            sums.cached_bytes = shared.ticker(Ticker::BlockCacheDataBytesInsert);
        }
        sums
    }

    fn conditions(&self) -> Conditions {
        let writes = self.operations.writes + self.operations.deletes;
        let stored = self.tree_bytes as f64 / self.tree_entries.max(1) as f64;
        let written = self.logged_bytes as f64 / writes.max(1) as f64;
        let believed = writes > 0 && self.tree_bytes >= ENOUGH && written > 0.0;
        Conditions {
            compressed_share: if believed {
                (stored / written).clamp(0.05, 1.0)
            } else {
                1.0
            },
            entry_bytes: if written > 0.0 { written } else { stored },
            ..Conditions::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processors_are_looked_at_in_each_interval_that_is_longer_than_their_ticks() {
        let milliseconds = |interval| look_every(Duration::from_millis(interval)).as_millis();
        for interval in [200, 250, 1_000, 60_000] {
            assert!(milliseconds(interval) < u128::from(interval), "{interval}");
        }
        assert_eq!([1, 100, 150].map(milliseconds), [100; 3]);
    }
}
