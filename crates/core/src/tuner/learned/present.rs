//! Which workload it is, and when it is another one.

use super::super::chance::by_chance;
use crate::cost_model::AccessPattern;
use crate::observation::Mission;

/// Missions in a row that show another workload, before it is believed.
pub(super) const OTHER: u32 = 2;

/// Operations after which a workload is known.
const WELL_KNOWN: u64 = 10_000;

/// Operations that are looked at together, where missions have fewer: of twenty, chance may tell
/// anything.
const TOGETHER: u64 = 1_000;

/// Missions that the means look back on.
const LATELY: u32 = 24;

/// Where a larger share of the missions differs from the one before, they are one workload
/// by turns: reads with a burst of writes every few seconds, or workloads that change
/// sooner than anything can be learned of them.
const BY_TURNS: f64 = 0.25;

/// Missions alike after which turns have ended.
const CALM: u32 = 12;

/// What a mission tells of the workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    /// It is the same, or did nothing.
    Same,
    /// It looks like another one, which is not believed yet.
    Unsure,
    /// It is another one.
    Other,
}

/// The workload of late.
#[derive(Clone, Debug, Default)]
pub(super) struct Present {
    /// What it asks for, once one was seen.
    pub pattern: Option<AccessPattern>,
    /// Operations that this is of.
    known: u64,
    /// Missions in a row that look like another one.
    pub other: u32,
    /// It is the mean of missions that differ from each other.
    by_turns: bool,
    lately: Lately,
    gathered: Gathered,
}

/// Missions in a row that could each be of the workload.
#[derive(Clone, Copy, Debug, Default)]
struct Gathered {
    mean: AccessPattern,
    operations: u64,
}

impl Gathered {
    /// With one more mission; all of them once they are enough, and then it begins anew. One that is
    /// enough by itself has been looked at.
    fn with(&mut self, now: &AccessPattern, operations: u64) -> Option<Gathered> {
        if operations >= TOGETHER {
            *self = Gathered::default();
            return None;
        }
        self.operations = self.operations.saturating_add(operations);
        let weight = operations as f64 / self.operations.max(1) as f64;
        self.mean = self.mean.towards(now, weight);
        (self.operations >= TOGETHER).then(|| std::mem::take(self))
    }
}

/// The last missions.
#[derive(Clone, Debug, Default)]
struct Lately {
    missions: u32,
    mean: AccessPattern,
    /// The share of missions that differ from the one before.
    jumps: f64,
    /// Missions since one did.
    calm: u32,
    /// The last one, with its operations.
    last: Option<(AccessPattern, u64)>,
}

impl Lately {
    fn see(&mut self, now: &AccessPattern, operations: u64) {
        let jumped = self
            .last
            .is_some_and(|(last, known)| differ(&last, now, known, operations));
        self.missions = (self.missions + 1).min(LATELY);
        self.mean = self.mean.towards(now, 1.0 / f64::from(self.missions));
        let jump = f64::from(u8::from(jumped));
        self.jumps += (jump - self.jumps) / f64::from(LATELY);
        self.calm = if jumped { 0 } else { self.calm + 1 };
        self.last = Some((*now, operations));
    }
}

/// Whether so many operations each are of different workloads, and not so by chance.
fn differ(one: &AccessPattern, other: &AccessPattern, of_one: u64, of_other: u64) -> bool {
    let share = AccessPattern::ALIKE + by_chance(of_one) + by_chance(of_other);
    one.distance_from(other) > share
        || scan_otherwise(one, other, of_one, of_other)
        || reads_are_rarer(one, other, of_one, of_other)
}

/// Whether scans return so many times as many entries, more than chance may explain.
/// Entries of a scan are taken to spread as widely as they are many: the deviation of a
/// mean of n is one in sqrt(n) then, and twice that of a share.
fn scan_otherwise(one: &AccessPattern, other: &AccessPattern, of_one: u64, of_other: u64) -> bool {
    let chance = |it: &AccessPattern, of: u64| 2.0 * by_chance((it.scans() * of as f64) as u64);
    let by = AccessPattern::LONGER * (1.0 + chance(one, of_one) + chance(other, of_other));
    one.longer(other) >= by
}

/// Whether one reads, or writes, so many times as rarely, more than chance may explain: a count of n
/// deviates by sqrt(n).
fn reads_are_rarer(one: &AccessPattern, other: &AccessPattern, of_one: u64, of_other: u64) -> bool {
    let (times, least) = one.rarer(other);
    let chance = |of: u64| 2.0 * by_chance((least * of as f64) as u64);
    times >= AccessPattern::RARER * (1.0 + chance(of_one) + chance(of_other))
}

impl Present {
    /// Takes up a mission.
    pub fn see(&mut self, mission: &Mission) -> Turn {
        let Some(now) = AccessPattern::of_mission(&mission.operations) else {
            return self.standing();
        };
        let operations = mission.operations.total();
        self.lately.see(&now, operations);
        let Some(before) = self.pattern else {
            return self.begin(now, operations);
        };
        if self.by_turns {
            return self.go_on_by_turns(&before, now, operations);
        }
        if self.lately.jumps > BY_TURNS {
            self.by_turns = true;
            return self.begin(self.lately.mean, self.known);
        }
        if differ(&before, &now, self.known, operations) {
            self.other += 1;
            self.gathered = Gathered::default();
        } else {
            self.other = 0;
            self.know_better(&before, &now, operations);
            let known = self.pattern.unwrap_or(before);
            if let Some(all) = self.gathered.with(&now, operations)
                && differ(&known, &all.mean, self.known, all.operations)
            {
                return self.begin(all.mean, all.operations);
            }
        }
        if self.other >= OTHER {
            return self.begin(now, operations);
        }
        self.standing()
    }

    /// Whether the last mission was one of this workload.
    pub fn is_sure(&self) -> bool {
        self.other == 0
    }

    fn standing(&self) -> Turn {
        if self.is_sure() {
            Turn::Same
        } else {
            Turn::Unsure
        }
    }

    fn begin(&mut self, pattern: AccessPattern, operations: u64) -> Turn {
        (self.pattern, self.known, self.other) = (Some(pattern), operations, 0);
        self.gathered = Gathered::default();
        Turn::Other
    }

    /// Turns end with missions alike, and are others where their mean has moved.
    fn go_on_by_turns(
        &mut self,
        before: &AccessPattern,
        now: AccessPattern,
        operations: u64,
    ) -> Turn {
        let mean = self.lately.mean;
        if self.lately.calm >= CALM {
            self.by_turns = false;
            self.lately.jumps = 0.0;
            self.begin(now, operations)
        } else if differ(before, &mean, self.known, operations) {
            self.begin(mean, self.known)
        } else {
            Turn::Same
        }
    }

    /// A workload that was seen for few operations alone is the mean of all that were like
    /// it.
    fn know_better(&mut self, before: &AccessPattern, now: &AccessPattern, operations: u64) {
        if self.known >= WELL_KNOWN {
            return;
        }
        let known = self.known.saturating_add(operations);
        let weight = operations as f64 / known.max(1) as f64;
        (self.pattern, self.known) = (Some(before.towards(now, weight)), known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::OperationMix;

    /// Missions of so many percent of reads, and what each told.
    fn turns(present: &mut Present, reads: impl IntoIterator<Item = u64>) -> Vec<Turn> {
        let see = |percent: u64| {
            present.see(&Mission {
                operations: OperationMix {
                    gets_found: percent * 1_000,
                    writes: (100 - percent) * 1_000,
                    ..OperationMix::default()
                },
                ..Mission::default()
            })
        };
        reads.into_iter().map(see).collect()
    }

    fn others(turns: &[Turn]) -> usize {
        turns.iter().filter(|turn| **turn == Turn::Other).count()
    }

    #[test]
    fn another_workload_is_believed_after_two_missions() {
        let mut present = Present::default();
        let told = turns(&mut present, [90, 90, 10, 90, 10, 10, 10]);
        use Turn::{Other, Same, Unsure};
        assert_eq!(told, [Other, Same, Unsure, Same, Unsure, Other, Same]);
        assert_eq!(present.see(&Mission::default()), Same, "nothing was done");
    }

    #[test]
    fn reads_after_a_load_are_another_workload_however_few() {
        use Turn::{Other, Same, Unsure};
        let after_load = |reads: u64| turns(&mut Present::default(), [0, 0, reads, reads, reads]);
        assert_eq!(after_load(4), [Other, Same, Unsure, Other, Same]);
        assert_eq!(after_load(1), [Other, Same, Same, Same, Same]);
        // Three of fifty may be as many as there always were.
        let few = |reads: u64| OperationMix {
            gets_found: reads,
            writes: 50 - reads,
            ..OperationMix::default()
        };
        assert_eq!(others(&told(&[few(0), few(3), few(3)])), 1);
    }

    /// What missions of these operations told.
    fn told(missions: &[OperationMix]) -> Vec<Turn> {
        let mut present = Present::default();
        let see = |operations: &OperationMix| {
            present.see(&Mission {
                operations: *operations,
                ..Mission::default()
            })
        };
        missions.iter().map(see).collect()
    }

    /// Twenty operations, of which now sixteen are reads instead of ten.
    #[test]
    fn many_small_missions_tell_what_none_of_them_can() {
        let mix = |reads: u64| OperationMix {
            gets_found: reads,
            writes: 20 - reads,
            ..OperationMix::default()
        };
        let mut missions = vec![mix(10); 100];
        missions.extend([mix(16); 150]);
        let seen = told(&missions);
        assert_eq!(others(&seen[1..100]), 0);
        assert_eq!(seen.iter().filter(|it| **it == Turn::Unsure).count(), 0);
        assert_eq!(others(&seen[100..]), 1);
    }

    #[test]
    fn deletes_in_place_of_writes_are_another_workload() {
        let mix = |writes: u64, deletes: u64| OperationMix {
            gets_found: 5_000,
            writes,
            deletes,
            ..OperationMix::default()
        };
        let (writes, deletes) = (mix(5_000, 0), mix(1_000, 4_000));
        use Turn::{Other, Same, Unsure};
        let seen = told(&[writes, writes, deletes, deletes, deletes]);
        assert_eq!(seen, [Other, Same, Unsure, Other, Same]);
    }

    #[test]
    fn scans_of_three_times_as_many_entries_are_another_workload() {
        let mix = |scans: u64, entries: u64| OperationMix {
            gets_found: 10_000 - scans,
            scans,
            scan_entries: scans * entries,
            ..OperationMix::default()
        };
        let second = |scans: u64, before: u64, after: u64| {
            let (before, after) = (mix(scans, before), mix(scans, after));
            told(&[before, before, after, after])[3]
        };
        assert_eq!(second(5_000, 10, 40), Turn::Other);
        assert_eq!(second(5_000, 40, 10), Turn::Other);
        assert_eq!(second(5_000, 10, 25), Turn::Same);
        assert_eq!(second(900, 10, 40), Turn::Same, "they are rare");
        assert_eq!(second(5_000, 10, 0), Turn::Same, "nobody counted them");
        // Sixteen scans tell little of how long they are.
        let few = mix(5_000, 10);
        let many = OperationMix {
            gets_found: 16,
            scans: 16,
            scan_entries: 16 * 40,
            ..OperationMix::default()
        };
        assert_eq!(told(&[few, few, many, many])[3], Turn::Same);
    }

    /// Every second mission, every third, and workloads of two and of three missions each.
    #[test]
    fn what_comes_by_turns_is_one_workload() {
        let three = [90, 90, 90, 10, 10, 10];
        for pattern in [&[90, 10][..], &[90, 90, 10], &[90, 90, 10, 10], &three] {
            let mut present = Present::default();
            let missions = || pattern.iter().copied().cycle();
            turns(&mut present, missions().take(120));
            assert!(present.by_turns, "{pattern:?}");
            let mean = pattern.iter().sum::<u64>() as f64 / pattern.len() as f64 / 100.0;
            let share = present.pattern.expect("seen").shares()[1];
            assert!((share - mean).abs() < 0.1, "{pattern:?}: {share} {mean}");
            let later = turns(&mut present, missions().take(600));
            assert_eq!(others(&later), 0, "{pattern:?}");
        }
    }

    #[test]
    fn turns_end_with_the_last_of_them() {
        let mut present = Present::default();
        turns(&mut present, [90, 10].into_iter().cycle().take(120));
        let told = turns(&mut present, [90; 100]);
        assert!(!present.by_turns);
        assert_eq!(others(&told[20..]), 0, "{told:?}");
        assert!((present.pattern.expect("seen").shares()[1] - 0.9).abs() < 1e-9);
    }

    /// Sessions of five missions and more are learned one by one.
    #[test]
    fn sessions_are_no_turns() {
        let mut present = Present::default();
        let sessions = (0..40).flat_map(|at| [if at % 2 == 0 { 90 } else { 10 }; 5]);
        let told = turns(&mut present, sessions);
        assert_eq!(others(&told), 40);
        assert!(!present.by_turns);
    }
}
