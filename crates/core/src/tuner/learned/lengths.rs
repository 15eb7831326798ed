//! How long workloads last.

use serde::{Deserialize, Serialize};

/// Workloads that the mean looks back on, about.
const MEMORY: u32 = 8;

/// The lengths of workloads that are over.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Lengths {
    seen: u32,
    /// Missions, on average.
    mean: f64,
}

impl Lengths {
    /// A workload is over that lasted so many missions.
    pub fn learn(&mut self, missions: u64) {
        self.seen = self.seen.saturating_add(1);
        let weight = 1.0 / f64::from(self.seen.min(MEMORY));
        self.mean += weight * (missions as f64 - self.mean);
    }

    /// Missions that a workload will still last which has lasted so many: the rest of
    /// the mean; beyond it as many again, since what has lasted long lasts on. `None`
    /// before a workload was over.
    pub fn left(&self, missions: u64) -> Option<f64> {
        let lasted = missions as f64;
        let left = self.mean - lasted;
        (self.seen > 0).then_some(if left > 0.0 { left } else { lasted })
    }

    /// Missions that a workload will last in all which has lasted so many.
    pub fn whole(&self, missions: u64) -> f64 {
        self.mean.max(missions as f64)
    }

    /// Whether all numbers are such as this code makes.
    pub fn is_sound(&self) -> bool {
        self.mean.is_finite() && self.mean >= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workloads_last_as_those_before_and_then_as_long_again() {
        let mut lengths = Lengths::default();
        assert_eq!(lengths.left(5), None);
        lengths.learn(10);
        lengths.learn(30);
        assert_eq!(lengths.left(5), Some(15.0));
        assert_eq!(lengths.left(50), Some(50.0));
        assert_eq!((lengths.whole(5), lengths.whole(50)), (20.0, 50.0));
    }
}
