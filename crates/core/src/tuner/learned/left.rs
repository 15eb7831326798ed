//! The way back to limits that were left before they were measured.

use super::change::Told;
use super::learning::Part;
use super::march::beside;
use super::structure::Structure;
use super::times::took;
use super::{Learned, Wish};
use crate::shape::RunLimits;
use crate::tuner::Question;

impl Learned {
    /// Notes that the present limits are left unmeasured, as by a march that begins with a
    /// change of the workload, or for limits that are remembered.
    pub(super) fn leave(&mut self, seen: &Question<'_>, told: Told) {
        if !self.learning.has(Part::Guardrails) {
            return;
        }
        let pattern = self.present.pattern;
        let measured = pattern.and_then(|pattern| took(seen.mission, &pattern));
        let cost = told.here.takes.max(measured.unwrap_or(0.0));
        self.phase.leave(seen.limits, cost, told.there.takes);
    }

    /// Limits that were left unmeasured, where the ones gone to have proved worse.
    ///
    /// These are measured; of the others there is what the model foretold of them when they
    /// were left, and the one mission then. Its word of today is none, but for what comes
    /// later: by then it has laid what goes wrong under the new limits to what both have in
    /// common. The higher of the two counts, so that a model that errs everywhere and a device
    /// that is slow anyway call nobody back. It counts as a single mission, whose error is as
    /// wide as a model's. And what came as it was foretold is no reason: it was chosen knowing
    /// that. A device that gets slow on the way may mislead all the same, once: then the limits
    /// that were left are measured, and so is the way back from them.
    pub(super) fn regret(
        &mut self,
        seen: &Question<'_>,
        structure: &Structure<'_>,
    ) -> Option<Wish> {
        // What is held by hand was not gone to.
        let imposed = self.imposed.as_ref();
        if imposed.is_some_and(|imposed| imposed.is_same(seen.limits)) {
            return None;
        }
        let cost = &self.cost;
        let later = |limits: &RunLimits| cost.later(structure, limits);
        let (limits, [left, now, promised]) = self.phase.regret(seen.limits, later)?;
        let beside = beside(&[seen.limits, &limits].map(later));
        self.turn_back(seen, &limits);
        self.way_back(
            seen,
            limits,
            format!(
                "operations took {:.1} µs, with merges evened out, where the model had expected \
                 {:.1} µs; {:.1} µs are expected under the limits before, which were left unmeasured{beside}",
                now * 1e6,
                promised * 1e6,
                left * 1e6
            ),
        )
    }
}
