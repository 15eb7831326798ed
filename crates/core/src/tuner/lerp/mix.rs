//! Which workload it is, and when it is another one.

use super::super::chance::by_chance;
use super::agent::BATCH;
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

/// Missions of one workload before an agent learns anything from them alone: an experience lies
/// between two of them.
const ENOUGH: u32 = BATCH as u32 + 1;

/// Where more workloads in a row than this are shorter than [`ENOUGH`], they are one by turns: if
/// learning began anew with each of them, nothing would ever be learned. A load and what is done
/// behind it may be short, too.
const SHORT: u32 = 4;

/// How many operations of each kind, as [`OperationMix::counts`] tells them.
type Counts = [f64; 5];

/// The workload that is learned under.
#[derive(Clone, Debug, Default)]
pub(super) struct Mix {
    /// Its operations, until it is well known.
    known: Counts,
    /// Those since the last look.
    since: Counts,
    /// Its missions so far, but for those without operations.
    missions: u32,
    /// How many in a row before it were short.
    short: u32,
}

impl Mix {
    /// Takes up a mission. Whether there was a workload before, and this is another one that is to
    /// be learned by itself; of those that come by turns one is only once it has lasted.
    pub fn see(&mut self, operations: &OperationMix) -> bool {
        let counts = operations.counts().map(|count| count as f64);
        add(&mut self.since, &counts);
        let works = u32::from(total(&counts) > 0.0);
        self.missions = self.missions.saturating_add(works);
        if total(&self.since) < LOOK {
            return false;
        }
        let now = std::mem::take(&mut self.since);
        let known = total(&self.known);
        if known > 0.0 && differ(&self.known, &now) {
            self.known = now;
            return self.turn();
        }
        if known < WELL_KNOWN {
            add(&mut self.known, &now);
        }
        self.outlasts_turns()
    }

    /// Another workload has come. Whether it is to be learned by itself.
    fn turn(&mut self) -> bool {
        // The present mission, which is counted, is the new one's first.
        let was_short = self.missions <= ENOUGH;
        self.short = if was_short { self.short + 1 } else { 0 };
        self.missions = 1;
        !self.is_by_turns()
    }

    fn is_by_turns(&self) -> bool {
        self.short > SHORT
    }

    /// Whether turns have ended just now: there is enough of one to be learned by itself.
    fn outlasts_turns(&mut self) -> bool {
        let ended = self.is_by_turns() && self.missions >= ENOUGH;
        if ended {
            self.short = 0;
        }
        ended
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

    /// How often learning begins anew under turns of so many missions each.
    fn begins(mix: &mut Mix, turns: usize, missions: usize) -> usize {
        let reads_of = |at: usize| reads(50_000, [90, 10][at / missions % 2]);
        let all = (0..turns * missions).map(reads_of);
        all.filter(|operations| mix.see(operations)).count()
    }

    #[test]
    fn workloads_of_too_few_missions_are_one_by_turns_until_one_lasts() {
        for missions in [1, 2, 5, BATCH] {
            let mut mix = Mix::default();
            let first = begins(&mut mix, 20, missions);
            assert_eq!(first, SHORT as usize, "{missions}");
            assert_eq!(begins(&mut mix, 20, missions), 0, "{missions}");
            assert_eq!(begins(&mut mix, 1, 100), 1, "{missions}");
            let next = reads(50_000, 10);
            assert!(mix.see(&next), "{missions}");
        }
    }

    #[test]
    fn workloads_of_enough_missions_are_learned_one_by_one() {
        let mut mix = Mix::default();
        assert_eq!(begins(&mut mix, 40, BATCH + 1), 39);
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
