//! Steps that the model does not ask for, now and then: what it has wrong shows.

use super::learning::Part;
use super::march::beside;
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

/// Trials that may be saved up: whoever reads for a day, when there is nothing to try, is owed no
/// evening of trials.
const SAVED: f64 = 2.0;

/// A step that is tried against the model.
#[derive(Clone, Debug)]
pub(super) struct Tried {
    /// The limits before.
    pub(super) back: RunLimits,
    level: LogicalLevel,
}

impl Learned {
    /// A mission earns its share of a trial.
    pub(super) fn save_up(&mut self) {
        self.spare = (self.spare + self.exploration).min(SAVED * f64::from(TRIAL));
    }

    /// A step that the model does not ask for.
    pub(super) fn explore(
        &mut self,
        seen: &Question<'_>,
        structure: &Structure<'_>,
    ) -> Option<Wish> {
        let affordable = self.spare >= f64::from(TRIAL);
        let now = self.phase.mean(seen.limits)?;
        // What waits for its level holds for no span that could be measured.
        if self.phase.held < CALM || !affordable || seen.limits_may_wait() {
            return None;
        }
        let at = self.trials;
        self.trials = self.trials.wrapping_add(1);
        let level = LogicalLevel((at / 2 % structure.levels as u64) as u16 + 1);
        // A limit shows itself only where something comes in, and missions differ.
        let comes_in = seen.mission.user_write_bytes as f64 * self.cost.stored();
        if f64::from(TRIAL) * comes_in < 1.5 * seen.shape.inflow(level) as f64 {
            return None;
        }
        // Larger ones are one tree with the largest.
        let largest = search::largest(seen.shape);
        let old = seen.limits.get(level).get().min(largest);
        let new = if at.is_multiple_of(2) {
            old + 1
        } else {
            old.saturating_sub(1)
        };
        let limit = RunLimit::clamped(new.min(largest));
        if limit.get() == old || self.phase.bars.stop_trials(level, limit) {
            return None;
        }
        let mut limits = seen.limits.clone();
        limits.set(level, limit);
        if self.is_blind_bet(seen, structure, &limits) {
            return None;
        }
        let expected = self.cost.expected(structure, &limits)?;
        let later = [seen.limits, &limits].map(|it| self.cost.later(structure, it));
        self.tried = Some(Tried {
            back: seen.limits.clone(),
            level,
        });
        let why = format!(
            "a trial of {TRIAL} missions: operations take {:.1} µs now, with merges evened out, \
             and the model expects {:.1} µs{}",
            now * 1e6,
            expected.takes * 1e6,
            beside(&later)
        );
        wish(seen, limits, why)
    }

    /// Keeps a tried step if it was clearly better, and undoes it otherwise.
    pub(super) fn end_trial(
        &mut self,
        seen: &Question<'_>,
        structure: &Structure<'_>,
        tried: &Tried,
    ) -> Option<Wish> {
        let gone = seen.limits.get(tried.level) == tried.back.get(tried.level);
        let (phase, cost) = (&self.phase, &self.cost);
        let later = |limits: &RunLimits| cost.later(structure, limits);
        let worse = self.learning.has(Part::Guardrails)
            && phase.clearly(&tried.back, seen.limits, WORSE, later);
        if !gone && !worse && self.phase.held < TRIAL {
            return None;
        }
        self.tried = None;
        if gone {
            // Somebody else has changed the limits, or pinned them.
            self.phase.held = 0;
            return None;
        }
        let better = phase.clearly(seen.limits, &tried.back, WORTH, later);
        let bars = &mut self.phase.bars;
        if better {
            bars.lift(seen.limits);
            bars.bar(tried.level, tried.back.get(tried.level));
            return None;
        }
        let limit = seen.limits.get(tried.level);
        if worse {
            self.phase.bars.bar(tried.level, limit);
        } else if self.phase.have_shown(seen.limits, &tried.back) {
            self.phase.bars.bar_trials(tried.level, limit);
        }
        let why = self.why_it_ends(seen, structure, tried);
        self.way_back(seen, tried.back.clone(), why)
    }

    fn why_it_ends(&self, seen: &Question<'_>, structure: &Structure<'_>, tried: &Tried) -> String {
        let before = self.phase.mean(&tried.back);
        let foretold = self.cost.expected(structure, &tried.back);
        let expected = before.or_else(|| foretold.map(|it| it.takes));
        let without = expected.map_or(String::new(), |again| {
            format!("; {:.1} µs are expected without it", again * 1e6)
        });
        match self.phase.mean(seen.limits) {
            Some(now) => {
                let later = [seen.limits, &tried.back].map(|it| self.cost.later(structure, it));
                format!(
                    "the trial took {:.1} µs an operation, with merges evened out{without}{}",
                    now * 1e6,
                    beside(&later)
                )
            }
            None => format!("the trial could not be measured{without}"),
        }
    }
}
