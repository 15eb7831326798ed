//! What speaks for a merge.

use super::due::{Due, Wanted};
use super::merge::Merge;
use super::{Asked, EARLY, Lost, writes};
use crate::layout::LogicalLevel;
use crate::tuner::learned::cost::Cost;
use crate::tuner::learned::structure::Structure;
use crate::tuner::{Change, Question};

/// A merge of a level under the present workload.
pub(super) struct Case {
    level: LogicalLevel,
    pub merge: Merge,
    /// Seconds that an operation loses by the runs that it would spare, on average.
    saved: f64,
    /// Seconds that the reads of a mission lose by them.
    pub rate: f64,
    /// Seconds that it is charged.
    price: f64,
    /// Missions that it takes.
    takes: f64,
}

impl Case {
    /// `None` before the model has seen anything.
    pub fn of(
        seen: &Question<'_>,
        cost: &Cost,
        structure: &Structure<'_>,
        level: LogicalLevel,
        merge: Merge,
    ) -> Option<Case> {
        let spared = |entries: f64| merge.spares(structure, entries);
        let (saved, byte) = cost.of_runs(level, merge.fewer, spared)?;
        let reads = seen.mission.operations.reads() as f64;
        let mission_seconds = seen.mission.duration.as_secs_f64();
        Some(Case {
            level,
            saved,
            rate: saved * (reads + writes(seen.mission)),
            price: merge.extra_bytes() * byte,
            takes: cost.compaction_seconds(merge.bytes()) / mission_seconds,
            merge,
        })
    }

    /// Whether what it spares in so many missions comes to its price.
    pub fn pays_within(&self, missions: f64) -> bool {
        self.rate > 0.0 && self.rate * self.merge.counts(missions, self.takes) >= self.price
    }

    /// Whether reads have lost enough for it, where so many missions are expected to follow.
    pub fn is_due(&self, lost: &Lost, follow: f64) -> bool {
        let part = if self.pays_within(follow) { EARLY } else { 1.0 };
        self.pays_within(f64::INFINITY) && lost.seconds >= part * lost.times() * self.price
    }

    pub fn due(&self, lost: &Lost) -> Due {
        Due {
            urgency: lost.seconds / (lost.times() * self.price).max(1e-12),
            is_under_way: lost.is_under_way(&self.merge),
            asked: Asked::of(&self.merge),
            wanted: self.wanted(lost),
            claim: self.claim(lost),
        }
    }

    fn wanted(&self, lost: &Lost) -> Wanted {
        let why = format!(
            "reads have lost {:.1} s by {:.0} runs too many, a merge is to save an operation \
             {:.1} µs and is charged {:.1} s",
            lost.seconds,
            self.merge.fewer,
            self.saved * 1e6,
            self.price
        );
        Wanted {
            change: Change {
                level: self.level,
                why,
            },
            goes_down: self.merge.goes_down(),
        }
    }

    /// Bytes of credit that it needs beside what its level has: a drain that comes anyway needs
    /// none, and what was begun goes on.
    fn claim(&self, lost: &Lost) -> Option<f64> {
        let is_free = self.merge.owed || lost.is_under_way(&self.merge);
        (!is_free).then(|| (self.merge.bytes() - lost.reserved(&self.merge)).max(0.0))
    }
}
