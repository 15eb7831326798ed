//! Workloads that were seen, and the limits that served them.

use serde::{Deserialize, Serialize};

use crate::cost_model::Workload;
use crate::observation::Mission;
use crate::shape::RunLimits;

/// Shares of gets of absent keys, of present keys, of scans and of writes.
pub(super) type Shares = [f64; 4];

/// A workload whose shares all lie this near is the same.
pub(super) const SAME: f64 = 0.1;

/// The oldest is forgotten.
const MOST: usize = 32;

/// Limits that served a workload well.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Remembered {
    shares: Shares,
    limits: RunLimits,
}

/// Workloads, the one of late last.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Memory(Vec<Remembered>);

/// The mission's shares; `None` without operations.
pub(super) fn shares(mission: &Mission) -> Option<Shares> {
    Workload::of_mission(&mission.operations).map(|workload| workload.shares())
}

/// The largest difference of a share.
pub(super) fn distance(a: &Shares, b: &Shares) -> f64 {
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f64::max)
}

impl Memory {
    /// Remembers what served a workload, in place of what did before.
    pub fn keep(&mut self, shares: Shares, limits: &RunLimits) {
        self.0.retain(|old| distance(&old.shares, &shares) > SAME);
        if self.0.len() >= MOST {
            self.0.remove(0);
        }
        self.0.push(Remembered {
            shares,
            limits: limits.clone(),
        });
    }

    /// What served the nearest workload that is the same.
    pub fn find(&self, shares: &Shares) -> Option<&RunLimits> {
        let near = self
            .0
            .iter()
            .filter(|old| distance(&old.shares, shares) <= SAME);
        near.min_by(|a, b| distance(&a.shares, shares).total_cmp(&distance(&b.shares, shares)))
            .map(|found| &found.limits)
    }

    /// Whether all numbers are shares, as those of a state file may not be.
    pub fn is_sound(&self) -> bool {
        let shares = self.0.iter().flat_map(|old| old.shares);
        self.0.len() <= MOST && shares.into_iter().all(|share| (0.0..=1.0).contains(&share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::RunLimit;

    fn limits(limit: u16) -> RunLimits {
        RunLimits::uniform(RunLimit::clamped(limit))
    }

    #[test]
    fn the_nearest_of_the_same_is_found() {
        let mut memory = Memory::default();
        memory.keep([0.0, 0.5, 0.0, 0.5], &limits(4));
        memory.keep([0.0, 0.9, 0.0, 0.1], &limits(1));
        assert_eq!(memory.find(&[0.0, 0.55, 0.0, 0.45]), Some(&limits(4)));
        assert_eq!(memory.find(&[0.0, 0.1, 0.0, 0.9]), None);
        memory.keep([0.0, 0.48, 0.0, 0.52], &limits(6));
        assert_eq!(memory.find(&[0.0, 0.5, 0.0, 0.5]), Some(&limits(6)));
        assert_eq!(memory.0.len(), 2);
    }

    #[test]
    fn the_oldest_is_forgotten() {
        let mut memory = Memory::default();
        for at in 0..11u16 {
            for other in 0..11u16 {
                let (a, b) = (f64::from(at) / 10.0, f64::from(other) / 10.0);
                memory.keep([a, b, 0.0, 0.0], &limits(at + 1));
            }
        }
        assert!(memory.0.len() <= MOST && memory.is_sound());
        assert_eq!(memory.find(&[1.0, 1.0, 0.0, 0.0]), Some(&limits(11)));
    }
}
