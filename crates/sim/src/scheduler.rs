//! When to compact: the schedule is asked once per interval of virtual time.
//!
//! The first day begins with the run, at midnight. A schedule is asked as often as it
//! wishes, SILK every 10 ms: an hour of it is 360,000 steps more, a second or two.

use std::time::Duration;

use lissom_core::schedule::{
    Conditions, Debt, DebtBounds, FullLoad, Load, Order, Schedule, ScheduleKind, Seen,
};

use crate::scenario::Scenario;

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// An interval with a smaller share of it left is over.
const NOTHING: f64 = 1e-9;

/// A schedule, and what it was told last.
pub(crate) struct Scheduler {
    schedule: Box<dyn Schedule>,
    bounds: DebtBounds,
    conditions: Conditions,
    cores: f64,
    /// Seconds until the interval is over.
    left: f64,
    before: Counters,
}

impl Scheduler {
    /// `None` for `eager`, whose order is always the same: asking it would cost steps.
    pub(crate) fn of(scenario: &Scenario) -> Option<Scheduler> {
        if scenario.schedule == ScheduleKind::Eager {
            return None;
        }
        let (store, machine) = (&scenario.store, &scenario.machine);
        let device = store.device_bytes_per_second;
        let full = FullLoad::beside(store.workers, machine.cores as usize);
        let schedule = scenario.schedule.schedule_within(&store.debt_bounds, full);
        Some(Scheduler {
            left: schedule.interval().as_secs_f64(),
            schedule,
            bounds: store.debt_bounds,
            conditions: Conditions {
                device_bytes_per_second: device
                    .unwrap_or_else(|| machine.device_bytes_per_second()),
                compressed_share: 1.0,
                entry_bytes: store.entry_bytes,
                workers: store.workers,
                // Times of the simulator know nothing of priorities.
                merges_give_way: false,
            },
            cores: machine.cores,
            before: Counters::default(),
        })
    }

    /// Seconds until it is to be asked.
    pub(crate) fn left(&self) -> f64 {
        self.left
    }

    /// Time passes, no more than was left. Whether it is to be asked now.
    pub(crate) fn pass(&mut self, seconds: f64) -> bool {
        let interval = self.schedule.interval().as_secs_f64();
        self.left -= seconds;
        let over = self.left <= NOTHING * interval;
        if over {
            self.left = interval;
        }
        over
    }

    /// The order after an interval, within the bounds on debt.
    pub(crate) fn order(&mut self, now: Counters, debt: Debt) -> Order {
        let before = std::mem::replace(&mut self.before, now);
        let seen = Seen {
            load: now.load_since(&before, self.schedule.interval(), self.cores),
            conditions: self.conditions,
            debt,
        };
        debt.bounded(&self.bounds, self.schedule.order(&seen))
    }
}

/// Sums since the run began.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Counters {
    /// Virtual time, seconds.
    pub(crate) at: f64,
    pub(crate) gets: f64,
    pub(crate) scans: f64,
    pub(crate) writes: f64,
    /// Bytes of blocks that reads brought in.
    pub(crate) cached_bytes: f64,
    pub(crate) logged_bytes: f64,
    pub(crate) flushed_bytes: f64,
    /// Bytes that compactions read and wrote.
    pub(crate) compacted_bytes: f64,
    /// Of these, compactions into level 1.
    pub(crate) level1_compacted_bytes: f64,
    /// Bytes of L0 that compactions took.
    pub(crate) level0_merged_bytes: f64,
    /// Seconds that compactions took which ended, summed over workers.
    pub(crate) compacted_seconds: f64,
    /// Seconds of CPU that users took.
    pub(crate) user_cpu: f64,
}

impl Counters {
    /// What counters of whole operations and bytes show of an interval.
    fn load_since(&self, before: &Counters, interval: Duration, cores: f64) -> Load {
        let grown = |of: fn(&Counters) -> f64| (of(self) as u64).saturating_sub(of(before) as u64);
        let busy = (self.user_cpu - before.user_cpu) / (cores * interval.as_secs_f64());
        Load {
            at: duration(self.at),
            time_of_day: duration(self.at % DAY),
            clock: duration(self.at),
            interval,
            gets: grown(|it| it.gets),
            scans: grown(|it| it.scans),
            writes: grown(|it| it.writes),
            cached_bytes: grown(|it| it.cached_bytes),
            logged_bytes: grown(|it| it.logged_bytes),
            flushed_bytes: grown(|it| it.flushed_bytes),
            compacted_bytes: grown(|it| it.compacted_bytes),
            level1_compacted_bytes: grown(|it| it.level1_compacted_bytes),
            level0_merged_bytes: grown(|it| it.level0_merged_bytes),
            compacted_micros: grown(|it| it.compacted_seconds * 1e6),
            user_cpu: Some(busy.min(1.0)),
        }
    }
}

fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_what_the_counters_grew_by() {
        let before = Counters {
            at: 86_390.0,
            gets: 10.6,
            ..Counters::default()
        };
        let now = Counters {
            at: 86_410.0,
            gets: 12.5,
            cached_bytes: 4096.0,
            compacted_seconds: 1.5,
            user_cpu: 10.0,
            ..before
        };
        let load = now.load_since(&before, Duration::from_secs(20), 2.0);
        assert_eq!((load.gets, load.cached_bytes, load.writes), (2, 4096, 0));
        assert_eq!(load.time_of_day, Duration::from_secs(10));
        assert_eq!(load.user_cpu, Some(0.25));
        assert_eq!(load.compacted_micros, 1_500_000);
    }
}
