//! Sums of the counters at one instant, and missions as their differences.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use lissom_core::Mission;
use lissom_core::observation::{Latency, LevelMission, OperationMix};

use super::counters::{Counters, LevelCounters, Shard};
use super::histogram::Counts;
use super::sample::EVERY;

/// Everything that one column family has counted so far.
#[derive(Clone, Default, Debug, PartialEq)]
pub(crate) struct Totals {
    pub(crate) operations: OperationMix,
    pub(crate) user_write_bytes: u64,
    get: Counts,
    put: Counts,
    /// Of all writes that were not held back.
    write_nanos: u64,
    seek: Counts,
    seek_entries: u64,
    levels: Vec<LevelMission>,
    flush_write_bytes: u64,
    compaction_write_bytes: u64,
    pub(crate) stall: Duration,
}

impl Totals {
    /// The sums now, and for how long writers were held back so far.
    pub(crate) fn of(counters: &Counters, stall: Duration) -> Totals {
        Totals {
            operations: operations(counters.shards()),
            // Next to the writes that it is of.
            write_nanos: sum(counters.shards(), |shard| &shard.write_nanos),
            user_write_bytes: sum(counters.shards(), |shard| &shard.user_write_bytes),
            get: counters.get.counts(),
            put: counters.put.counts(),
            seek: counters.seek.counts(),
            seek_entries: counters.seek_entries.load(Relaxed),
            levels: counters.levels.iter().map(level).collect(),
            flush_write_bytes: counters.flush_write_bytes.load(Relaxed),
            compaction_write_bytes: counters.compaction_write_bytes.load(Relaxed),
            stall,
        }
    }

    /// What happened since `earlier`.
    pub(crate) fn since(&self, earlier: &Totals, number: u64, duration: Duration) -> Mission {
        Mission {
            number,
            duration,
            operations: mix_since(&self.operations, &earlier.operations),
            get: self.get.since(&earlier.get).latency(),
            put: self.put_since(earlier),
            seek: self.seek.since(&earlier.seek).latency(),
            timed_scan_entries: Some(self.seek_entries.saturating_sub(earlier.seek_entries)),
            levels: self.levels_since(earlier),
            user_write_bytes: self
                .user_write_bytes
                .saturating_sub(earlier.user_write_bytes),
            flush_write_bytes: self
                .flush_write_bytes
                .saturating_sub(earlier.flush_write_bytes),
            compaction_write_bytes: self
                .compaction_write_bytes
                .saturating_sub(earlier.compaction_write_bytes),
            stall: self.stall.saturating_sub(earlier.stall),
            tuner_time: Duration::ZERO,
        }
    }

    /// Quantiles are those of calls, of a sample; the mean is that of an entry, of all, for
    /// entries are what is counted as writes. What was held back has its time in `stall`.
    /// Writes that bypass this crate have no time, and none of them counts.
    fn put_since(&self, earlier: &Totals) -> Latency {
        let operations = mix_since(&self.operations, &earlier.operations);
        let nanos = self.write_nanos.saturating_sub(earlier.write_nanos);
        let sample = self.put.since(&earlier.put).latency();
        let count = match (nanos, sample.count) {
            (0, 0) => 0,
            _ => operations.writes + operations.deletes,
        };
        Latency {
            count,
            mean: Duration::from_nanos(nanos.checked_div(count).unwrap_or(0)),
            ..sample
        }
    }

    /// Down to the deepest level that did anything.
    fn levels_since(&self, earlier: &Totals) -> Vec<LevelMission> {
        let none = LevelMission::default();
        let mut levels: Vec<LevelMission> = self
            .levels
            .iter()
            .enumerate()
            .map(|(at, now)| level_since(now, earlier.levels.get(at).unwrap_or(&none)))
            .collect();
        while levels.last() == Some(&none) {
            levels.pop();
        }
        levels
    }
}

/// Operations so far, cheaply: for asking whether a mission is over.
pub(crate) fn operations(shards: &[Shard]) -> OperationMix {
    OperationMix {
        gets_found: sum(shards, |shard| &shard.gets_found),
        gets_absent: sum(shards, |shard| &shard.gets_absent),
        scans: sum(shards, |shard| &shard.scans),
        scan_entries: sum(shards, |shard| &shard.scan_entries),
        writes: sum(shards, |shard| &shard.writes),
        deletes: sum(shards, |shard| &shard.deletes),
    }
}

fn sum(shards: &[Shard], counter: impl Fn(&Shard) -> &AtomicU64) -> u64 {
    shards
        .iter()
        .map(|shard| counter(shard).load(Relaxed))
        .sum()
}

fn level(counters: &LevelCounters) -> LevelMission {
    LevelMission {
        compaction_read_bytes: counters.compaction_read_bytes.load(Relaxed),
        compaction_write_bytes: counters.compaction_write_bytes.load(Relaxed),
        for_reads_write_bytes: counters.for_reads_write_bytes.load(Relaxed),
        compaction_time: Duration::from_micros(counters.compaction_micros.load(Relaxed)),
        read_ios: counters.read_ios.load(Relaxed) * EVERY,
        read_bytes: counters.read_bytes.load(Relaxed) * EVERY,
        filter_useful: counters.filter_useful.load(Relaxed) * EVERY,
        filter_positive: counters.filter_positive.load(Relaxed) * EVERY,
        filter_true_positive: counters.filter_true_positive.load(Relaxed) * EVERY,
    }
}

fn level_since(now: &LevelMission, then: &LevelMission) -> LevelMission {
    LevelMission {
        compaction_read_bytes: now.compaction_read_bytes - then.compaction_read_bytes,
        compaction_write_bytes: now.compaction_write_bytes - then.compaction_write_bytes,
        for_reads_write_bytes: now.for_reads_write_bytes - then.for_reads_write_bytes,
        compaction_time: now.compaction_time - then.compaction_time,
        read_ios: now.read_ios - then.read_ios,
        read_bytes: now.read_bytes - then.read_bytes,
        filter_useful: now.filter_useful - then.filter_useful,
        filter_positive: now.filter_positive - then.filter_positive,
        filter_true_positive: now.filter_true_positive - then.filter_true_positive,
    }
}

fn mix_since(now: &OperationMix, then: &OperationMix) -> OperationMix {
    OperationMix {
        gets_found: now.gets_found.saturating_sub(then.gets_found),
        gets_absent: now.gets_absent.saturating_sub(then.gets_absent),
        scans: now.scans.saturating_sub(then.scans),
        scan_entries: now.scan_entries.saturating_sub(then.scan_entries),
        writes: now.writes.saturating_sub(then.writes),
        deletes: now.deletes.saturating_sub(then.deletes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lissom_core::LogicalLevel;

    /// By the level that was merged, down to the deepest that did anything.
    #[test]
    fn a_mission_tells_what_was_merged_for_the_reads_sake_in_it() {
        let counters = Counters::default();
        counters.count_for_reads(LogicalLevel(1), 1_000);
        let before = Totals::of(&counters, Duration::ZERO);
        counters.count_for_reads(LogicalLevel(2), 300);
        let totals = Totals::of(&counters, Duration::ZERO);
        let mission = totals.since(&before, 1, Duration::from_secs(1));
        let levels = mission.levels.iter();
        let told: Vec<u64> = levels.map(|level| level.for_reads_write_bytes).collect();
        assert_eq!(told, [0, 300]);
    }

    #[test]
    fn the_mean_of_a_batch_is_that_of_its_entries() {
        let counters = Counters::default();
        let before = Totals::of(&counters, Duration::ZERO);
        for _ in 0..10 {
            let took = Duration::from_micros(1_000);
            counters.put.record(took);
            counters.count_writes(100, 0, 100_000, took);
        }
        let totals = Totals::of(&counters, Duration::ZERO);
        let put = totals.since(&before, 1, Duration::from_secs(1)).put;
        assert_eq!((put.mean, put.count), (Duration::from_micros(10), 1_000));
        assert!(put.p50 >= Duration::from_micros(1_000), "{put:?}");
    }

    /// One write of a hundred was held back for 300 ms, and is the one that was sampled.
    #[test]
    fn the_mean_of_writes_is_that_of_those_that_were_not_held_back() {
        let counters = Counters::default();
        let before = Totals::of(&counters, Duration::ZERO);
        let wait = Duration::from_millis(300);
        for _ in 0..99 {
            counters.count_writes(1, 0, 100, Duration::from_micros(10));
        }
        counters.count_writes(0, 1, 10, Duration::ZERO);
        counters.put.record(wait);
        let totals = Totals::of(&counters, wait);
        let mission = totals.since(&before, 1, Duration::from_secs(1));
        assert_eq!(mission.put.mean, Duration::from_nanos(9_900));
        assert!(mission.put.count == 100 && mission.stall == wait);
        assert!(mission.put.p99 >= wait / 2, "{:?}", mission.put);
    }
}
