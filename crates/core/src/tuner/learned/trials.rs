//! Steps that the model does not ask for, now and then: what it has wrong shows.

use super::learning::Part;
use super::phase::WORSE;
use super::structure::Structure;
use super::{Learned, WORTH, Wish, search, wish};
use crate::layout::LogicalLevel;
use crate::shape::{RunLimit, RunLimits};
use crate::tuner::Question;

/// Missions without a wish of the model before a step is tried.
const CALM: u32 = 24;

/// Missions that a tried step lasts; fewer where it is clearly worse before.
const TRIAL: u32 = 12;

/// A step that is tried against the model.
#[derive(Clone, Debug)]
pub(super) struct Tried {
    /// The limits before.
    pub(super) back: RunLimits,
    level: LogicalLevel,
}

impl Learned {
    /// A step that the model does not ask for.
    pub(super) fn explore(
        &mut self,
        seen: &Question<'_>,
        structure: &Structure<'_>,
    ) -> Option<Wish> {
        let budget = self.exploration * self.asked as f64;
        let affordable = self.explored as f64 + f64::from(TRIAL) <= budget;
        if self.phase.held < CALM || !affordable || self.phase.mean(seen.limits).is_none() {
            return None;
        }
        let at = self.trials;
        self.trials += 1;
        let level = LogicalLevel((at / 2 % structure.levels as u64) as u16 + 1);
        // A limit shows itself only where something comes in.
        let written = seen
            .mission
            .user_write_bytes
            .saturating_mul(u64::from(TRIAL));
        if written < seen.shape.inflow(level) {
            return None;
        }
        let old = seen.limits.get(level).get();
        let new = if at.is_multiple_of(2) {
            old + 1
        } else {
            old.saturating_sub(1)
        };
        let limit = RunLimit::clamped(new.min(search::largest(seen.shape)));
        if limit.get() == old || self.phase.is_barred(level, limit) {
            return None;
        }
        let mut limits = seen.limits.clone();
        limits.set(level, limit);
        self.tried = Some(Tried {
            back: seen.limits.clone(),
            level,
        });
        wish(seen, limits, format!("a trial of {TRIAL} missions"))
    }

    /// Keeps a tried step if it was clearly better, and undoes it otherwise.
    pub(super) fn end_trial(&mut self, seen: &Question<'_>, tried: &Tried) -> Option<Wish> {
        let gone = seen.limits.get(tried.level) == tried.back.get(tried.level);
        let worse = self.learning.has(Part::Guardrails)
            && self.phase.clearly(&tried.back, seen.limits, WORSE);
        if !gone && !worse && self.phase.held < TRIAL {
            return None;
        }
        self.tried = None;
        if gone {
            // Somebody else has changed the limits, or pinned them.
            self.phase.held = 0;
            return None;
        }
        if self.phase.clearly(seen.limits, &tried.back, WORTH) {
            self.phase.bar(tried.level, tried.back.get(tried.level));
            return None;
        }
        let means = self
            .phase
            .mean(&tried.back)
            .zip(self.phase.mean(seen.limits));
        let why = match means {
            Some((before, now)) => format!(
                "the trial took {:.1} µs an operation, {:.1} µs before it",
                now * 1e6,
                before * 1e6
            ),
            None => "the trial could not be measured".into(),
        };
        self.phase.bar(tried.level, seen.limits.get(tried.level));
        wish(seen, tried.back.clone(), why)
    }
}
