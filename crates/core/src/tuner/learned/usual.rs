//! The workload on the whole, which the runs will meet that outlive the present one.

use serde::{Deserialize, Serialize};

use super::cost::Seen;

/// Operations for which the first guess counts, and operations that the mean looks back on, about: a
/// day on which a store is used is not forgotten over a night in which it hardly is.
const GUESSED: f64 = 600_000.0;
const MEMORY: f64 = 30_000_000.0;

/// Where an older program does not tell of how many operations a mean is.
fn guessed() -> f64 {
    GUESSED
}

/// An operation, on average over everything that was seen.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Usual {
    /// Of so many operations.
    #[serde(default = "guessed")]
    operations: f64,
    pub gets: f64,
    pub scans: f64,
    /// Entries that scans return. Older programs do not tell.
    #[serde(default)]
    pub scanned: f64,
    pub writes: f64,
    /// Bytes of a write; 0 before any.
    pub entry: f64,
}

/// Half gets, and one operation of fifty a scan of ten entries: few stores are never scanned.
impl Default for Usual {
    fn default() -> Usual {
        Usual {
            operations: GUESSED,
            gets: 0.5,
            scans: 0.02,
            scanned: 0.2,
            writes: 0.48,
            entry: 0.0,
        }
    }
}

impl Usual {
    /// Operations like these.
    pub fn learn(&mut self, seen: &Seen) {
        self.operations = (self.operations + seen.operations).min(MEMORY);
        let weight = (seen.operations / self.operations).min(1.0);
        self.gets += weight * (seen.gets - self.gets);
        self.scans += weight * (seen.scans - self.scans);
        self.scanned += weight * (seen.scanned - self.scanned);
        self.writes += weight * (seen.writes - self.writes);
        if seen.writes > 0.0 {
            let entry = seen.written / seen.writes;
            let weight = if self.entry > 0.0 { weight } else { 1.0 };
            self.entry += weight * (entry - self.entry);
        }
    }

    /// Whether all numbers are such as this code makes, as those of a state file may not
    /// be.
    pub fn is_sound(&self) -> bool {
        let shares = [self.gets, self.scans, self.writes];
        let amounts = [self.scanned, self.entry, self.operations];
        let amount = |amount: &f64| amount.is_finite() && *amount >= 0.0;
        amounts.iter().all(amount) && shares.iter().all(|share| (0.0..=1.0).contains(share))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::observation::{Latency, Mission, OperationMix};

    /// Of so many operations, scans of so many entries, and writes of so many bytes for the others.
    fn seen(operations: f64, scans: f64, entries: f64, bytes: f64) -> Seen {
        let mission = Mission {
            operations: OperationMix {
                scans: (operations * scans) as u64,
                scan_entries: (operations * scans * entries) as u64,
                writes: (operations * (1.0 - scans)) as u64,
                ..OperationMix::default()
            },
            seek: Latency {
                mean: Duration::from_micros(100),
                ..Latency::default()
            },
            put: Latency {
                mean: Duration::from_micros(10),
                ..Latency::default()
            },
            user_write_bytes: (operations * (1.0 - scans) * bytes) as u64,
            duration: Duration::from_secs(1),
            ..Mission::default()
        };
        Seen::of(&mission).expect("timed")
    }

    #[test]
    fn what_is_always_seen_becomes_usual() {
        let mut usual = Usual::default();
        usual.learn(&seen(10_000.0, 0.0, 0.0, 100.0));
        assert!((0.49..0.5).contains(&usual.gets), "{usual:?}");
        for _ in 0..6_000 {
            usual.learn(&seen(10_000.0, 0.0, 0.0, 100.0));
        }
        assert!(usual.gets < 0.01 && usual.writes > 0.99, "{usual:?}");
        assert!((usual.entry - 100.0).abs() < 1e-9, "{usual:?}");
        assert!(usual.is_sound());
        for _ in 0..20_000 {
            usual.learn(&seen(10_000.0, 0.5, 80.0, 100.0));
        }
        assert!((usual.scanned - 40.0).abs() < 0.5, "{usual:?}");
        usual.scanned = f64::INFINITY;
        assert!(!usual.is_sound());
    }

    /// A busy second, and a thousand in which hardly anybody comes.
    #[test]
    fn operations_count_whenever_they_come() {
        let mut usual = Usual::default();
        for _ in 0..40 {
            usual.learn(&seen(100_000.0, 0.0, 0.0, 100.0));
        }
        for _ in 0..1_000 {
            usual.learn(&seen(10.0, 1.0, 10.0, 0.0));
        }
        // Of 4.61 million operations 12,000 of the guess and 10,000 others are scans.
        assert!(
            (usual.scans - 22_000.0 / 4_610_000.0).abs() < 1e-4,
            "{usual:?}"
        );
    }

    #[test]
    fn what_an_older_program_held_for_usual_tells_of_no_entries_of_scans() {
        let old = r#"{"missions":70,"gets":0.25,"scans":0.25,"writes":0.5,"entry":100.0}"#;
        let read: Usual = serde_json::from_str(old).expect(old);
        assert_eq!((read.scans, read.scanned), (0.25, 0.0));
        assert_eq!(read.operations, GUESSED);
        assert!(read.is_sound());
    }
}
