//! What limits promise: each level by what its runs will meet as long as they live.

use super::super::fit::{Terms, dot};
use super::super::structure::{Shaped, Structure};
use super::seen::Seen;
use super::{Cost, FALSE, PASSED, SCAN_READS, Scan, compactions};
use crate::shape::RunLimits;

/// Runs are there at most so many times as many operations as under the present workload.
const MOST_LONGER: f64 = 100.0;

/// Seconds of an operation under limits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::tuner::learned) struct Expected {
    /// As limits are chosen by it: what their runs will meet as long as they live.
    pub counts: f64,
    /// What missions of the present workload will show of it.
    pub takes: f64,
}

impl Expected {
    /// What the runs will meet later costs so much more than what they meet now.
    pub fn later(self) -> f64 {
        self.counts - self.takes
    }
}

impl Cost {
    /// Seconds of an operation under these limits, once they have taken effect.
    /// `None` before anything was seen.
    pub fn under(&self, structure: &Structure<'_>, limits: &RunLimits) -> Option<f64> {
        self.seconds(structure, limits, self.hedges)
    }

    /// The same, and how much of it operations will take while the present workload lasts.
    pub fn expected(&self, structure: &Structure<'_>, limits: &RunLimits) -> Option<Expected> {
        Some(Expected {
            counts: self.under(structure, limits)?,
            takes: self.seconds(structure, limits, false)?,
        })
    }

    /// What the runs under limits will meet later costs an operation so much more than what they
    /// meet now, which is all that missions show; 0 before anything was seen.
    pub fn later(&self, structure: &Structure<'_>, limits: &RunLimits) -> f64 {
        let expected = self.expected(structure, limits);
        expected.map_or(0.0, Expected::later)
    }

    fn seconds(&self, structure: &Structure<'_>, limits: &RunLimits, hedged: bool) -> Option<f64> {
        let seen = self.seen?;
        let shaped = structure.under(limits);
        let met = self.foretold(&seen, structure, &shaped, hedged);
        let time = dot(&met, &self.constants());
        let compaction = seen.written * shaped.rewrites * self.rewrites * self.byte;
        Some(time.max(seen.clients * compaction / self.workers))
    }

    /// What an operation will meet on average: each level by what its runs will see, or by the
    /// present alone.
    pub(super) fn foretold(
        &self,
        seen: &Seen,
        structure: &Structure<'_>,
        shaped: &Shaped,
        hedged: bool,
    ) -> Terms {
        let trigger = f64::from(structure.shape().level0_file_num_compaction_trigger);
        let in_level0 = Scan {
            reads: structure.reads_of_level0(trigger / 2.0, seen.entries_of_scan()),
            passed: structure.passed_in_level0(),
        };
        let mut met = self.terms(seen, &[], trigger / 2.0, in_level0, 0.0);
        for (at, (runs, rewritten)) in shaped.runs.iter().zip(&shaped.rewritten).enumerate() {
            let later = if hedged {
                self.met_later(seen, structure, at)
            } else {
                *seen
            };
            let compaction = later.written * rewritten * self.rewrites * self.byte;
            met[FALSE] += later.gets * runs * self.asking(at);
            let reads = structure.reads_in(shaped, at, later.entries_of_scan());
            met[SCAN_READS] += later.scans * reads;
            met[PASSED] += later.scanned * structure.passed_in(shaped, at);
            for (at, amount) in compactions(seen, compaction) {
                met[at] += amount;
            }
        }
        met
    }

    /// The share of the operations that the runs of a level will see which are usual ones.
    ///
    /// Runs are there until so many bytes have come in. Those that outlive the present
    /// workload wait for the rest at the usual rate: after a load for many operations.
    fn usual_share(&self, seen: &Seen, structure: &Structure<'_>, at: usize) -> f64 {
        let comes_in = seen.written * seen.operations * self.stored();
        let life = structure.life(at) / comes_in.max(1.0);
        let outlive = life / (life + self.lasts.max(1.0));
        let usual = self.usual.writes * self.usual.entry;
        let longer = if usual > 0.0 {
            (seen.written / usual).clamp(1.0 / MOST_LONGER, MOST_LONGER)
        } else {
            1.0
        };
        outlive * longer / (outlive * longer + 1.0 - outlive)
    }

    /// An operation as the runs of a level will see it: the present workload while it
    /// lasts, and what is usual for as much of their life as it may not.
    fn met_later(&self, seen: &Seen, structure: &Structure<'_>, at: usize) -> Seen {
        let share = self.usual_share(seen, structure, at);
        let mix = |now: f64, usual: f64| now + share * (usual - now);
        Seen {
            gets: mix(seen.gets, self.usual.gets),
            scans: mix(seen.scans, self.usual.scans),
            scanned: mix(seen.scanned, self.usual.scanned),
            written: mix(seen.written, self.usual.writes * self.usual.entry),
            ..*seen
        }
    }
}
