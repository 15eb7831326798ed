//! Workloads that were seen, and the limits that served them.
//!
//! What a tree holds counts too: with much more or less data its levels are others, and
//! limits for one tree are none for the other.

use serde::{Deserialize, Serialize};

use super::phase::Bar;
use crate::cost_model::{Workload, distance};
use crate::layout::Layout;
use crate::observation::Mission;
use crate::shape::RunLimits;

/// Shares of gets of absent keys, of present keys, of scans and of writes.
pub(super) type Shares = [f64; 4];

/// A workload whose shares all lie this near is the same.
pub(super) const SAME: f64 = 0.1;

/// Data of which neither is so many times the other is the same.
const SAME_DATA: f64 = 3.0;

/// The oldest is forgotten.
const MOST: usize = 32;

/// Limits that served a workload well.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Remembered {
    shares: Shares,
    /// Bytes in the tree; 0 in what older programs have learned, which fits any.
    #[serde(default)]
    data: f64,
    pub limits: RunLimits,
    /// Limits that proved wrong under it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bars: Vec<Bar>,
}

impl Remembered {
    fn is_same(&self, shares: &Shares, data: f64) -> bool {
        let unknown = self.data <= 0.0;
        let like = self.data <= SAME_DATA * data && data <= SAME_DATA * self.data;
        (unknown || like) && distance(&self.shares, shares) <= SAME
    }

    /// Whether all numbers can be, as those of a state file may not.
    fn is_sound(&self) -> bool {
        let shares = self.shares.iter().all(|share| (0.0..=1.0).contains(share));
        let most = usize::from(Layout::V1.levels) * usize::from(Layout::V1.max_run_limit());
        shares && self.data.is_finite() && self.data >= 0.0 && self.bars.len() <= most
    }
}

/// Workloads, the one of late last.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Memory(Vec<Remembered>);

/// The mission's shares; `None` without operations.
pub(super) fn shares(mission: &Mission) -> Option<Shares> {
    Workload::of_mission(&mission.operations).map(|workload| workload.shares())
}

impl Memory {
    /// Remembers what served a workload, in place of what did before.
    pub fn keep(&mut self, shares: Shares, data: f64, limits: &RunLimits, bars: Vec<Bar>) {
        self.0.retain(|old| !old.is_same(&shares, data));
        if self.0.len() >= MOST {
            self.0.remove(0);
        }
        self.0.push(Remembered {
            shares,
            data,
            limits: limits.clone(),
            bars,
        });
    }

    /// What served the nearest workload that is the same.
    pub fn find(&self, shares: &Shares, data: f64) -> Option<&Remembered> {
        let near = self.0.iter().filter(|old| old.is_same(shares, data));
        near.min_by(|a, b| distance(&a.shares, shares).total_cmp(&distance(&b.shares, shares)))
    }

    /// Whether all can be so, as what a state file holds may not.
    pub fn is_sound(&self) -> bool {
        self.0.len() <= MOST && self.0.iter().all(Remembered::is_sound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::RunLimit;

    fn limits(limit: u16) -> RunLimits {
        RunLimits::uniform(RunLimit::clamped(limit))
    }

    fn found(memory: &Memory, shares: Shares, data: f64) -> Option<&RunLimits> {
        memory.find(&shares, data).map(|it| &it.limits)
    }

    #[test]
    fn the_nearest_of_the_same_is_found() {
        let mut memory = Memory::default();
        memory.keep([0.0, 0.5, 0.0, 0.5], 1e9, &limits(4), Vec::new());
        memory.keep([0.0, 0.9, 0.0, 0.1], 1e9, &limits(1), Vec::new());
        let find = |memory: &Memory, reads: f64| {
            let found = found(memory, [0.0, reads, 0.0, 1.0 - reads], 1e9);
            found.cloned()
        };
        assert_eq!(find(&memory, 0.55), Some(limits(4)));
        assert_eq!(find(&memory, 0.1), None);
        memory.keep([0.0, 0.48, 0.0, 0.52], 1e9, &limits(6), Vec::new());
        assert_eq!(find(&memory, 0.5), Some(limits(6)));
        assert_eq!(memory.0.len(), 2);
    }

    #[test]
    fn what_served_a_smaller_tree_is_not_taken_for_a_large_one() {
        let shares = [0.0, 0.5, 0.0, 0.5];
        let mut memory = Memory::default();
        memory.keep(shares, 1e9, &limits(4), Vec::new());
        assert_eq!(found(&memory, shares, 2e9), Some(&limits(4)));
        assert_eq!(found(&memory, shares, 1e10), None);
        memory.keep(shares, 1e10, &limits(7), Vec::new());
        assert_eq!(found(&memory, shares, 1e9), Some(&limits(4)));
        assert_eq!(found(&memory, shares, 1e10), Some(&limits(7)));
    }

    #[test]
    fn what_was_learned_without_the_size_of_the_data_fits_any_until_it_is_learned_anew() {
        let shares = [0.0, 0.5, 0.0, 0.5];
        let old = serde_json::json!([{"shares": shares, "limits": limits(4)}]);
        let mut memory: Memory = serde_json::from_value(old).expect("an older state");
        assert!(memory.is_sound());
        assert_eq!(found(&memory, shares, 1e12), Some(&limits(4)));
        memory.keep(shares, 1e12, &limits(7), Vec::new());
        assert_eq!(found(&memory, shares, 1e6), None);
    }

    #[test]
    fn the_oldest_is_forgotten() {
        let mut memory = Memory::default();
        for at in 0..11u16 {
            for other in 0..11u16 {
                let (a, b) = (f64::from(at) / 10.0, f64::from(other) / 10.0);
                memory.keep([a, b, 0.0, 0.0], 1e9, &limits(at + 1), Vec::new());
            }
        }
        assert!(memory.0.len() <= MOST && memory.is_sound());
        assert_eq!(found(&memory, [1.0, 1.0, 0.0, 0.0], 1e9), Some(&limits(11)));
    }
}
