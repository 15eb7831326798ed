//! What operations took, told so that missions can be compared.

use std::time::Duration;

use crate::cost_model::AccessPattern;
use crate::observation::{Mission, RARE};

/// Kinds that take a smaller share of the time may go untimed as rare ones may: the few gets beside
/// slow scans. Were they twice as slow as they were last, all would be told as so much faster than
/// it is.
const LITTLE: f64 = 0.05;

/// The time of a scan of everything stands for none that returned fewer entries by more than this.
const ALIKE: f64 = 10.0;

/// The time of each kind of operation when it was last told.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    get: Duration,
    seek: Duration,
    put: Duration,
    /// Entries of a scan that took that time.
    scanned: f64,
}

impl Times {
    /// The mission, its rare kinds of which none was timed told as they were last, and those that
    /// took little by that.
    pub fn complete(&mut self, mission: &Mission) -> Mission {
        let mut whole = mission.clone();
        let operations = counts(mission);
        let total: f64 = operations.iter().sum();
        let kinds = mission.kinds().into_iter();
        let timed: f64 = kinds.map(|(count, it)| count * it.mean.as_secs_f64()).sum();
        let told = [&mut whole.get, &mut whole.seek, &mut whole.put];
        let last = [&mut self.get, &mut self.seek, &mut self.put];
        let mix = &mission.operations;
        let is_of_more = self.scanned * mix.scans as f64 > ALIKE * mix.scan_entries as f64;
        let last = last.into_iter().zip([false, is_of_more, false]);
        for ((latency, (last, is_of_more)), count) in told.into_iter().zip(last).zip(operations) {
            let is_little = count <= RARE * total || count * last.as_secs_f64() <= LITTLE * timed;
            if latency.mean > Duration::ZERO {
                *last = latency.mean;
            } else if is_little && !is_of_more {
                // It stands for one that was timed.
                (latency.mean, latency.count) = (*last, 1);
            }
        }
        if mission.seek.mean > Duration::ZERO {
            self.scanned = entries_of_timed(mission);
        } else {
            // It goes with the entries that it is of, whatever this one's scans returned.
            whole.timed_scan_entries = Some(self.scanned.round() as u64);
        }
        whole
    }
}

/// Entries of a scan whose time is told: one in many is timed, and a scan of everything that was
/// not has as many as all others. 0 where none was timed.
pub(super) fn entries_of_timed(mission: &Mission) -> f64 {
    if mission.seek.mean.is_zero() {
        return 0.0;
    }
    let all = (mission.operations.scan_entries, mission.operations.scans);
    let timed = mission
        .timed_scan_entries
        .map(|it| (it, mission.seek.count));
    let (entries, scans) = timed.filter(|(_, scans)| *scans > 0).unwrap_or(all);
    entries as f64 / scans.max(1) as f64
}

/// Gets, scans and writes.
fn counts(mission: &Mission) -> [f64; 3] {
    mission.kinds().map(|(count, _)| count)
}

/// Seconds that users waited for their operations, stalls included: `None` when a kind
/// that is not rare has operations of which none was timed.
pub(super) fn waited(mission: &Mission) -> Option<f64> {
    of_counts(mission, counts(mission))
}

/// Relative standard error of what users waited: one operation in many is timed, and
/// times of one kind are taken to spread as widely as they are long. Kinds that do not tell
/// how many were timed count as exact.
pub(super) fn error(mission: &Mission) -> f64 {
    let (mut all, mut square) = (0.0, 0.0);
    for (count, kind) in mission.kinds() {
        let time = count * kind.mean.as_secs_f64();
        all += time;
        if kind.count > 0 {
            square += time * time / kind.count as f64;
        }
    }
    if all > 0.0 { square.sqrt() / all } else { 0.0 }
}

/// Seconds that a write was held back, on average.
fn held_back(mission: &Mission) -> f64 {
    let [_, _, writes] = counts(mission);
    mission.stall.as_secs_f64() / writes.max(1.0)
}

/// Seconds of an operation, stalls included, if the operations were mixed like this.
/// Two missions that differ in their mix alone cost the same.
pub(super) fn took(mission: &Mission, pattern: &AccessPattern) -> Option<f64> {
    let [absent, found, scans, writes, deletes] = pattern.shares();
    of_counts(mission, [absent + found, scans, writes + deletes])
}

fn of_counts(mission: &Mission, counts: [f64; 3]) -> Option<f64> {
    let total: f64 = counts.iter().sum();
    let mut means = mission.kinds().map(|(_, it)| it.mean.as_secs_f64());
    // Counted, not sampled: the mean of writes is without it.
    means[2] += held_back(mission);
    let mut sum = 0.0;
    for (count, mean) in counts.into_iter().zip(means) {
        if count > RARE * total && mean <= 0.0 {
            return None;
        }
        sum += count * mean;
    }
    (sum > 0.0).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::{Latency, OperationMix};

    fn mission(gets: u64, get: u64, writes: u64, put: u64) -> Mission {
        let latency = |micros| Latency {
            mean: Duration::from_micros(micros),
            ..Latency::default()
        };
        Mission {
            operations: OperationMix {
                gets_found: gets,
                writes,
                ..OperationMix::default()
            },
            get: latency(get),
            put: latency(put),
            ..Mission::default()
        }
    }

    #[test]
    fn a_few_writes_of_which_none_was_timed_do_not_hide_the_gets() {
        let mut times = Times::default();
        let unknown = times.complete(&mission(990, 100, 10, 0));
        assert_eq!(waited(&unknown), Some(990.0 * 100e-6));
        times.complete(&mission(990, 100, 10, 20));
        let known = times.complete(&mission(990, 100, 10, 0));
        assert_eq!(known.put.mean, Duration::from_micros(20));
        let half = times.complete(&mission(500, 100, 500, 0));
        assert_eq!(waited(&half), None, "half of the operations are unknown");
    }

    /// A get takes a tenth of a scan.
    #[test]
    fn a_tenth_of_the_operations_of_which_none_was_timed_does_not_hide_scans() {
        let scanning = |gets: u64, get: u64| {
            let mut seen = mission(gets, get, 0, 0);
            seen.operations.scans = 1_000;
            seen.seek.mean = Duration::from_micros(700);
            seen
        };
        let mut times = Times::default();
        assert_eq!(
            waited(&times.complete(&scanning(100, 0))),
            None,
            "never told"
        );
        times.complete(&scanning(100, 70));
        let told = waited(&times.complete(&scanning(100, 0))).expect("they take little");
        assert!((told - 0.707).abs() < 1e-9, "{told}");
        assert_eq!(
            waited(&times.complete(&scanning(1_000, 0))),
            None,
            "a tenth of the time"
        );
    }

    #[test]
    fn a_scan_of_everything_that_nobody_timed_leaves_the_others_what_they_are() {
        let scanning = |timed: u64, entries: u64| {
            let mut seen = mission(10_000, 100, 0, 0);
            (seen.operations.scans, seen.operations.scan_entries) = (100, entries);
            seen.seek = Latency {
                count: timed,
                mean: Duration::from_micros(if timed > 0 { 700 } else { 0 }),
                ..Latency::default()
            };
            seen.timed_scan_entries = Some(timed * 10);
            seen
        };
        let mut times = Times::default();
        assert_eq!(entries_of_timed(&times.complete(&scanning(0, 1_000))), 0.0);
        for (timed, entries) in [(2, 1_000), (1, 100_000_000), (0, 1_000), (0, 100_000_000)] {
            let told = times.complete(&scanning(timed, entries));
            assert_eq!(told.seek.mean, Duration::from_micros(700));
            assert_eq!(entries_of_timed(&told), 10.0, "{timed} timed, {entries}");
        }
        // One of them was timed, and stands for itself.
        let mut whole = scanning(1, 100_000_000);
        (whole.seek.mean, whole.timed_scan_entries) = (Duration::from_secs(40), Some(100_000_000));
        assert_eq!(entries_of_timed(&times.complete(&whole)), 1e8);
        let told = times.complete(&scanning(0, 1_000));
        assert_eq!(
            (told.seek.mean, entries_of_timed(&told)),
            (Duration::ZERO, 0.0)
        );
        assert_eq!(entries_of_timed(&times.complete(&scanning(1, 1_000))), 10.0);
        // A journal that does not tell it.
        let mut old = scanning(2, 5_000);
        old.timed_scan_entries = None;
        assert_eq!(entries_of_timed(&old), 50.0);
    }

    #[test]
    fn stalls_count_as_they_are_told_however_few_writes_were_timed() {
        let mut held_back = mission(500, 100, 500, 20);
        held_back.stall = Duration::from_millis(300);
        let free = waited(&mission(500, 100, 500, 20)).expect("timed");
        let all = waited(&held_back).expect("timed");
        assert!((all - free - 0.3).abs() < 1e-9, "{all} {free}");
        let half = AccessPattern::new([0.0, 0.5, 0.0, 0.25, 0.25], 0.0);
        let took = took(&held_back, &half).expect("timed");
        assert!((took - all / 1_000.0).abs() < 1e-12, "{took}");
        // Every write that was timed was held back.
        held_back.put.mean = Duration::ZERO;
        let all = waited(&held_back).expect("timed");
        assert!((all - 0.05 - 0.3).abs() < 1e-9, "{all}");
    }

    #[test]
    fn the_error_is_that_of_the_kinds_that_take_long() {
        let mut told = mission(500, 100, 500, 10);
        assert_eq!(error(&told), 0.0, "nobody tells how many were timed");
        (told.get.count, told.put.count) = (4, 4);
        // 50 ms within a half, and 5 ms.
        let expected = (0.025f64.powi(2) + 0.0025f64.powi(2)).sqrt() / 0.055;
        assert!((error(&told) - expected).abs() < 1e-9);
        told.get.count = 400;
        assert!(error(&told) < 0.07);
        assert_eq!(error(&Mission::default()), 0.0);
    }

    #[test]
    fn another_mix_alone_costs_the_same() {
        let writes = AccessPattern::new([0.0, 0.1, 0.0, 0.9, 0.0], 0.0);
        let (some, more) = (mission(10, 100, 90, 10), mission(18, 100, 82, 10));
        let (some, more) = (took(&some, &writes), took(&more, &writes));
        assert_eq!(some, more);
        assert!((some.expect("timed") - 19e-6).abs() < 1e-12);
    }
}
