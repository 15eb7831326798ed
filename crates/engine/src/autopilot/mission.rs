//! When a mission ends, and what it measured.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use lissom_core::Mission;
use lissom_core::observation::OperationMix;
use rust_rocksdb::statistics::Ticker;

use super::shared::{Family, Shared};
use crate::statistics::Totals;
use crate::statistics::counters::Counters;

/// The mission that runs.
pub(super) struct Clock {
    begun: Instant,
    baseline: Totals,
    ended: u64,
}

impl Clock {
    pub(super) fn new(shared: &Shared, family: &Family, now: Instant) -> Clock {
        Clock {
            begun: now,
            baseline: totals(shared, &family.counters),
            ended: 0,
        }
    }

    /// Over after so many operations, or so much time with any operation.
    pub(super) fn is_over(&self, shared: &Shared, family: &Family, now: Instant) -> bool {
        let operations = mix(shared, &family.counters).total();
        let since = operations.saturating_sub(self.baseline.operations.total());
        let long = self.lasted(now) >= shared.settings.mission_time;
        since >= shared.settings.mission_operations || (long && since > 0)
    }

    pub(super) fn lasted(&self, now: Instant) -> Duration {
        now.duration_since(self.begun)
    }

    /// Ends the mission and begins the next.
    pub(super) fn end(&mut self, shared: &Shared, family: &Family, now: Instant) -> Mission {
        let totals = totals(shared, &family.counters);
        self.ended += 1;
        let mission = totals.since(&self.baseline, self.ended, self.lasted(now));
        self.begun = now;
        self.baseline = totals;
        mission
    }
}

/// All that a column family did since the autopilot began.
pub(super) fn since_begin(shared: &Shared, family: &Arc<Family>, missions: u64) -> Mission {
    let (begun, baseline) = &family.begun;
    totals(shared, &family.counters).since(baseline, missions, begun.elapsed())
}

/// Under attach operations and bytes are known for the whole database only, and only
/// from RocksDB's statistics. Every column family is given all operations; the bytes it
/// is given while it is the only one, or its write amplification would be a false number.
pub(super) fn totals(shared: &Shared, counters: &Counters) -> Totals {
    let mut totals = Totals::of(counters, shared.stall_of(counters));
    if shared.attached {
        totals.operations = attached_mix(shared);
        totals.user_write_bytes = match shared.several.load(Relaxed) {
            true => 0,
            false => shared.written(),
        };
    }
    totals
}

fn mix(shared: &Shared, counters: &Counters) -> OperationMix {
    match shared.attached {
        true => attached_mix(shared),
        false => counters.operations(),
    }
}

/// The operations of the whole database, by RocksDB's statistics. A MultiGet counts its
/// hits by the same tickers as a get, and its keys by one of its own.
pub(super) fn attached_mix(shared: &Shared) -> OperationMix {
    let sum = |tickers: &[Ticker]| -> u64 { tickers.iter().map(|it| shared.ticker(*it)).sum() };
    let found = sum(&[
        Ticker::MemtableHit,
        Ticker::GetHitL0,
        Ticker::GetHitL1,
        Ticker::GetHitL2AndUp,
    ]);
    let gets = sum(&[Ticker::NumberKeysRead, Ticker::NumberMultigetKeysRead]);
    OperationMix {
        gets_found: found,
        gets_absent: gets.saturating_sub(found),
        scans: shared.ticker(Ticker::NumberDbSeek),
        scan_entries: shared.ticker(Ticker::NumberDbNext),
        writes: shared.ticker(Ticker::NumberKeysWritten),
        deletes: 0,
    }
}
