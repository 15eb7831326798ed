//! The workload on the whole, which the runs will meet that outlive the present one.

use serde::{Deserialize, Serialize};

/// Missions for which the first guess counts, and missions that the mean looks back on, about.
const GUESSED: u32 = 60;
const MEMORY: u32 = 300;

/// An operation, on average over everything that was seen.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Usual {
    missions: u32,
    pub gets: f64,
    pub scans: f64,
    /// Entries that scans return. Older programs do not tell.
    #[serde(default)]
    pub scanned: f64,
    pub writes: f64,
    /// Bytes of a write; 0 before any.
    pub entry: f64,
}

/// Half gets, and a tenth scans of ten entries: few stores are never scanned.
impl Default for Usual {
    fn default() -> Usual {
        Usual {
            missions: GUESSED,
            gets: 0.5,
            scans: 0.1,
            scanned: 1.0,
            writes: 0.4,
            entry: 0.0,
        }
    }
}

impl Usual {
    /// A mission with these shares of the operations, and so many entries that scans
    /// returned and bytes written for an operation.
    pub fn learn(&mut self, gets: f64, scans: f64, scanned: f64, writes: f64, written: f64) {
        self.missions = self.missions.saturating_add(1).min(MEMORY);
        let weight = 1.0 / f64::from(self.missions.max(1));
        self.gets += weight * (gets - self.gets);
        self.scans += weight * (scans - self.scans);
        self.scanned += weight * (scanned - self.scanned);
        self.writes += weight * (writes - self.writes);
        if writes > 0.0 {
            let entry = written / writes;
            let weight = if self.entry > 0.0 { weight } else { 1.0 };
            self.entry += weight * (entry - self.entry);
        }
    }

    /// Whether all numbers are such as this code makes, as those of a state file may not
    /// be.
    pub fn is_sound(&self) -> bool {
        let shares = [self.gets, self.scans, self.writes];
        let amounts = [self.scanned, self.entry];
        let amount = |amount: &f64| amount.is_finite() && *amount >= 0.0;
        amounts.iter().all(amount) && shares.iter().all(|share| (0.0..=1.0).contains(share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_always_seen_becomes_usual() {
        let mut usual = Usual::default();
        usual.learn(0.0, 0.0, 0.0, 1.0, 100.0);
        assert!((0.49..0.5).contains(&usual.gets), "{usual:?}");
        for _ in 0..2_000 {
            usual.learn(0.0, 0.0, 0.0, 1.0, 100.0);
        }
        assert!(usual.gets < 0.01 && usual.writes > 0.99, "{usual:?}");
        assert!((usual.entry - 100.0).abs() < 1e-9, "{usual:?}");
        assert!(usual.is_sound());
        for _ in 0..2_000 {
            usual.learn(0.0, 0.5, 40.0, 0.5, 50.0);
        }
        assert!((usual.scanned - 40.0).abs() < 0.5, "{usual:?}");
        usual.scanned = f64::INFINITY;
        assert!(!usual.is_sound());
    }

    #[test]
    fn what_an_older_program_held_for_usual_tells_of_no_entries_of_scans() {
        let old = r#"{"missions":70,"gets":0.25,"scans":0.25,"writes":0.5,"entry":100.0}"#;
        let read: Usual = serde_json::from_str(old).expect(old);
        assert_eq!((read.scans, read.scanned), (0.25, 0.0));
        assert!(read.is_sound());
    }
}
