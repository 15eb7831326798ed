//! Which workload it is, and when it is another one.

use super::super::chance::by_chance;
use crate::observation::OperationMix;

/// A change of this much in any share of the operations is another workload, unless it may
/// be by chance. It is under a tenth, for writes alone and nine writes in ten want different
/// limits: a read that waits for the device takes as long as many writes.
const OTHER: f64 = 0.05;

/// Operations that are looked at together, at the least: missions of fewer are summed up,
/// for of missions without number some are far off by chance.
const LOOK: f64 = 1_000.0;

/// Operations after which the shares of a workload are known.
const WELL_KNOWN: f64 = 10_000.0;

/// How many operations of each kind, as [`OperationMix::counts`] tells them.
type Counts = [f64; 5];

/// The workload that is learned under.
#[derive(Clone, Debug, Default)]
pub(super) struct Mix {
    /// Its operations, until it is well known.
    known: Counts,
    /// Those since the last look.
    since: Counts,
}

impl Mix {
    /// Takes up a mission. Whether there was a workload before and this is another one.
    pub fn see(&mut self, operations: &OperationMix) -> bool {
        let counts = operations.counts().map(|count| count as f64);
        add(&mut self.since, &counts);
        if total(&self.since) < LOOK {
            return false;
        }
        let now = std::mem::take(&mut self.since);
        let known = total(&self.known);
        if known > 0.0 && differ(&self.known, &now) {
            self.known = now;
            return true;
        }
        if known < WELL_KNOWN {
            add(&mut self.known, &now);
        }
        false
    }
}

/// Whether some share of the operations differs by more than it may by chance.
fn differ(one: &Counts, other: &Counts) -> bool {
    let (of_one, of_other) = (total(one), total(other));
    let chance = by_chance(of_one as u64) + by_chance(of_other as u64);
    let mut pairs = one.iter().zip(other);
    pairs.any(|(one, other)| (one / of_one - other / of_other).abs() > OTHER + chance)
}

fn add(sums: &mut Counts, counts: &Counts) {
    for (sum, count) in sums.iter_mut().zip(counts) {
        *sum += count;
    }
}

fn total(counts: &Counts) -> f64 {
    counts.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::*;

    /// So many operations, of which a share are gets and the others writes.
    fn reads(operations: u64, percent: u64) -> OperationMix {
        let gets_found = operations * percent / 100;
        OperationMix {
            gets_found,
            writes: operations - gets_found,
            ..OperationMix::default()
        }
    }

    #[test]
    fn writes_alone_and_nine_in_ten_are_two_workloads() {
        // Missions by their operations, and by their time in a slow store.
        for operations in [50_000, 1_000] {
            let mut mix = Mix::default();
            for _ in 0..10 {
                assert!(!mix.see(&reads(operations, 0)));
            }
            assert!(mix.see(&reads(operations, 10)), "{operations}");
            assert!(!mix.see(&reads(operations, 10)));
            assert!(!mix.see(&reads(operations, 13)), "nearly the same");
        }
    }

    #[test]
    fn every_kind_of_operation_counts() {
        let none = OperationMix::default;
        let kinds = [
            OperationMix {
                gets_absent: 50_000,
                ..none()
            },
            OperationMix {
                gets_found: 50_000,
                ..none()
            },
            OperationMix {
                scans: 50_000,
                ..none()
            },
            OperationMix {
                writes: 50_000,
                ..none()
            },
            OperationMix {
                deletes: 50_000,
                ..none()
            },
        ];
        let mut mix = Mix::default();
        for (at, kind) in kinds.iter().enumerate() {
            assert_eq!(mix.see(kind), at > 0, "{kind:?}");
            assert!(!mix.see(kind));
        }
    }

    /// As many reads as writes, in missions of sixteen operations, whose shares are off by
    /// a quarter now and then.
    #[test]
    fn missions_of_few_operations_are_no_other_workload() {
        let mut random = Random::new(7);
        let mut mix = Mix::default();
        let mut far = 0;
        for _ in 0..20_000 {
            let gets_found: u64 = (0..16).map(|_| random.below(2) as u64).sum();
            let operations = OperationMix {
                gets_found,
                writes: 16 - gets_found,
                ..OperationMix::default()
            };
            far += usize::from(gets_found.abs_diff(8) >= 4);
            assert!(!mix.see(&operations));
        }
        assert!(far > 500, "{far}");
        assert!(mix.see(&reads(50_000, 90)), "and another one is seen still");
    }

    #[test]
    fn a_first_mission_of_few_operations_is_part_of_its_workload() {
        let mut mix = Mix::default();
        assert!(!mix.see(&OperationMix::default()));
        assert!(!mix.see(&reads(10, 100)));
        for _ in 0..3 {
            assert!(!mix.see(&reads(50_000, 50)));
        }
    }
}
