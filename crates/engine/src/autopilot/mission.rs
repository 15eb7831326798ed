//! When a mission ends, and what it measured.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lissom_core::Mission;
use lissom_core::observation::OperationMix;
use rust_rocksdb::statistics::Ticker;

use super::shared::{Family, Shared};
use crate::statistics::Totals;

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
            baseline: totals(shared, family),
            ended: 0,
        }
    }

    /// Over after so many operations, or so much time with any operation.
    pub(super) fn is_over(&self, shared: &Shared, family: &Family, now: Instant) -> bool {
        let operations = mix(shared, family).total();
        let since = operations.saturating_sub(self.baseline.operations.total());
        let long = now.duration_since(self.begun) >= shared.settings.mission_time;
        since >= shared.settings.mission_operations || (long && since > 0)
    }

    /// Ends the mission and begins the next.
    pub(super) fn end(&mut self, shared: &Shared, family: &Family, now: Instant) -> Mission {
        let totals = totals(shared, family);
        self.ended += 1;
        let took = now.duration_since(self.begun);
        let mission = totals.since(&self.baseline, self.ended, took);
        self.begun = now;
        self.baseline = totals;
        mission
    }
}

/// All that a column family did since the autopilot began.
pub(super) fn since_begin(shared: &Shared, family: &Arc<Family>, missions: u64) -> Mission {
    let (begun, baseline) = &family.begun;
    totals(shared, family).since(baseline, missions, begun.elapsed())
}

/// Under attach operations are known for the whole database only, and only from
/// RocksDB's statistics; every column family is given the whole.
pub(super) fn totals(shared: &Shared, family: &Family) -> Totals {
    let mut totals = Totals::of(&family.counters, shared.stall_of(&family.counters));
    if shared.attached {
        totals.operations = mix(shared, family);
        totals.user_write_bytes = shared.ticker(Ticker::BytesWritten);
    }
    totals
}

fn mix(shared: &Shared, family: &Family) -> OperationMix {
    if !shared.attached {
        return family.counters.operations();
    }
    attached_mix(shared)
}

/// The operations of the whole database, by RocksDB's statistics.
pub(super) fn attached_mix(shared: &Shared) -> OperationMix {
    let found: u64 = [
        Ticker::MemtableHit,
        Ticker::GetHitL0,
        Ticker::GetHitL1,
        Ticker::GetHitL2AndUp,
    ]
    .into_iter()
    .map(|ticker| shared.ticker(ticker))
    .sum();
    OperationMix {
        gets_found: found,
        gets_absent: shared.ticker(Ticker::NumberKeysRead).saturating_sub(found),
        scans: shared.ticker(Ticker::NumberDbSeek),
        scan_entries: shared.ticker(Ticker::NumberDbNext),
        writes: shared.ticker(Ticker::NumberKeysWritten),
        deletes: 0,
    }
}

/// How long the planner thread sleeps at most; missions end on time to within
/// this.
pub(super) const TICK: Duration = Duration::from_millis(50);
