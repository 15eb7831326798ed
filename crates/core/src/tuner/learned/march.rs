//! The way to the limits that the model finds best, and the way back from those that
//! proved worse.

use super::bars::TERM;
use super::change::Told;
use super::cost::Expected;
use super::learning::Part;
use super::structure::Structure;
use super::{Learned, WORTH, Wish, search, wish};
use crate::layout::{Layout, LogicalLevel};
use crate::shape::RunLimits;
use crate::tuner::Question;

/// What a march must promise, relative, that begins before the limits were measured.
const PROMISE: f64 = 0.1;

/// What is left of a march must promise, relative, to be gone on with.
const GOING_ON: f64 = 0.005;

/// Missions after which the model is held to know what operations take.
const KNOWING: u64 = 30;

/// The model's way to other limits.
#[derive(Clone, Debug)]
pub(super) struct March {
    pub end: RunLimits,
    pub goes_on: bool,
    /// The level that marches, where levels march one by one.
    level: Option<LogicalLevel>,
}

/// What else speaks for limits or against them, where something does: what the runs of each will
/// meet later costs so much beside what operations take now. In the order in which these were told.
pub(super) fn beside(later: &[f64]) -> String {
    if later.windows(2).all(|pair| pair[0] == pair[1]) {
        return String::new();
    }
    let told: Vec<String> = later.iter().map(|it| format!("{:+.1}", it * 1e6)).collect();
    let [others @ .., last] = &told[..] else {
        return String::new();
    };
    format!(
        "; what the runs will meet later counts as {} and {last} µs beside",
        others.join(", ")
    )
}

impl Learned {
    /// Limits that were better than the present ones.
    pub(super) fn go_back(
        &mut self,
        seen: &Question<'_>,
        structure: &Structure<'_>,
    ) -> Option<Wish> {
        if !self.learning.has(Part::Guardrails) {
            return None;
        }
        let later = |limits: &RunLimits| self.cost.later(structure, limits);
        let (limits, best, now) = self.phase.better(seen.limits, later)?;
        let why = format!(
            "operations took, with merges evened out, {:.1} µs under the limits before, which are \
             expected again, and {:.1} µs under these{}",
            best * 1e6,
            now * 1e6,
            beside(&[&limits, seen.limits].map(later))
        );
        self.turn_back(seen, &limits);
        wish(seen, limits, why)
    }

    /// The way from these limits to the present ones was wrong.
    pub(super) fn turn_back(&mut self, seen: &Question<'_>, limits: &RunLimits) {
        self.halt();
        self.phase.bars.lift(limits);
        self.blame(limits, seen.limits);
    }

    /// Ends the march, and tells whether one was going on.
    fn halt(&mut self) -> bool {
        let march = self.march.as_mut();
        march.is_some_and(|march| std::mem::take(&mut march.goes_on))
    }

    /// Notes which limits made it worse: those of the level that changed. Where several
    /// did nobody knows which, so they march one by one for as long as a bar stands.
    fn blame(&mut self, good: &RunLimits, bad: &RunLimits) {
        let changed: Vec<LogicalLevel> = good.differences(bad).collect();
        let separable = self.learning.has(Part::Levels) && self.learning.has(Part::Blame);
        if separable && changed.len() > 1 && self.phase.one_by_one == 0 {
            self.phase.one_by_one = TERM;
            return;
        }
        for level in changed {
            let (good, bad) = (good.get(level), bad.get(level));
            self.phase.bars.bar_way(level, good, bad);
        }
    }

    /// Whether a march may begin before the present limits were measured: with a change
    /// of the workload, when the model knows what operations take. A way that is taken
    /// later has the measurements before it.
    fn may_hurry(&self) -> bool {
        self.learning.has(Part::Haste)
            && self.learned >= KNOWING
            && self.phase.has_held_from_the_start()
    }

    /// One step per level towards what the model finds best.
    pub(super) fn follow_model(
        &mut self,
        seen: &Question<'_>,
        structure: &Structure<'_>,
    ) -> Option<Wish> {
        let guarded = self.learning.has(Part::Guardrails);
        let marched = self.halt();
        let unmeasured = guarded && !marched && self.phase.mean(seen.limits).is_none();
        if unmeasured && !self.may_hurry() {
            return None;
        }
        let cost = |limits: &RunLimits| self.cost.under(structure, limits);
        let now = cost(seen.limits)?;
        let (best, least) = self.best(seen, structure, marched)?;
        let worth = match (unmeasured, marched) {
            (true, _) => PROMISE,
            (false, false) => WORTH,
            (false, true) => GOING_ON,
        };
        if guarded && least > now * (1.0 - worth) {
            return None;
        }
        let limits = self.towards(seen, structure, &best);
        let expected = |limits: &RunLimits| self.cost.expected(structure, limits);
        let (step, there, here) = (expected(&limits)?, expected(&best)?, expected(seen.limits)?);
        let why = format!(
            "the model expects {:.1} µs an operation after this step and {:.1} µs at the \
             march's end, {best}; {:.1} µs at {}{}",
            step.takes * 1e6,
            there.takes * 1e6,
            here.takes * 1e6,
            seen.limits,
            beside(&[step, there, here].map(Expected::later))
        );
        let step = wish(seen, limits, why);
        let level = best.differences(seen.limits).next();
        if unmeasured && step.is_some() {
            self.leave(seen, Told { there, here });
        }
        self.march = Some(March {
            goes_on: step.is_some(),
            level,
            end: best,
        });
        step
    }

    /// What the model finds best, and its cost.
    fn best(
        &self,
        seen: &Question<'_>,
        structure: &Structure<'_>,
        marched: bool,
    ) -> Option<(RunLimits, f64)> {
        let cost = |limits: &RunLimits| {
            if self.is_blind_bet(seen, structure, limits) {
                return Some(f64::INFINITY);
            }
            self.cost.under(structure, limits)
        };
        let bars = &self.phase.bars;
        if !self.learning.has(Part::Levels) {
            search::best_alike(seen, bars, cost)
        } else if self.phase.one_by_one > 0 {
            let march = self.march.as_ref().filter(|_| marched);
            let marcher = march.and_then(|march| march.level);
            search::best_of_one(seen, structure.levels, marcher, bars, cost)
        } else {
            search::best(seen, structure.levels, bars, cost)
        }
    }

    /// The limits after the next step of a march.
    fn towards(
        &self,
        seen: &Question<'_>,
        structure: &Structure<'_>,
        best: &RunLimits,
    ) -> RunLimits {
        if !self.learning.has(Part::Guardrails) {
            return best.clone();
        }
        // Limits that all levels share are spelled as one.
        let levels = if self.learning.has(Part::Levels) {
            structure.levels
        } else {
            usize::from(Layout::V1.levels)
        };
        let largest = search::largest(seen.shape);
        let mut limits = seen.limits.clone();
        for level in Layout::V1.logical_levels().take(levels) {
            let (from, to) = (seen.limits.get(level), best.get(level));
            limits.set(
                level,
                search::step(&self.phase.bars, level, from, to, largest),
            );
        }
        limits
    }
}
