//! Rounds of sampling by upper confidence bounds (Dremel, 4.6.2 and algorithm 2).

use std::collections::BTreeMap;

use super::bounds::{Bound, bounds};
use super::{ArmId, Origin, Sampling, Search, Trial};
use crate::objective::{Ranking, Standing, judge};
use crate::space::Point;

impl Search {
    /// Adds a configuration to each of the arms of the highest bounds, as many as
    /// the budget has room for; false if there is none to add.
    pub(super) fn plan_round(&mut self, round: u32, elapsed: f64) -> bool {
        let wanted = self.setup.method.arms_per_round.min(self.arms.count());
        let is_extra = round > self.setup.method.rounds;
        let room = (1..=wanted).rev().find(|more| {
            if is_extra {
                self.affordable_in_place(*more, elapsed)
            } else {
                self.affordable(*more, elapsed)
            }
        });
        let Some(room) = room else {
            if !is_extra {
                self.notes.push(format!(
                    "round {round} and later ones were left out, since the budget has no room for \
                     them"
                ));
            }
            return false;
        };
        for bound in self.bounds() {
            if self.queue.len() == room {
                break;
            }
            self.plan_one_more(round, &bound);
        }
        if is_extra {
            self.replace_worst(self.queue.len());
        }
        !self.queue.is_empty()
    }

    /// Stops the worst for so many others, so that no more trials are alive than the method has
    /// planned for.
    fn replace_worst(&mut self, others: usize) {
        let first = self.points.as_ref().and_then(|it| it.first().copied());
        let live = self.live_by_rank(first);
        let replaced = self.replaced(others);
        for (rank, place) in live.iter().enumerate().skip(live.len() - replaced) {
            let reason = format!(
                "it is {} of {} after {:.0} s, and others take its place",
                rank + 1,
                live.len(),
                first.unwrap_or(0.0)
            );
            self.stop(*place, &reason);
        }
    }

    /// One more configuration of an arm, if there is one that was not tried.
    fn pick_further(&mut self, arm: ArmId) -> Option<Point> {
        let sampling = self.setup.method.further;
        let near = match sampling {
            Sampling::Near => self.near_the_best_of(arm),
            Sampling::Heuristic | Sampling::Random => None,
        };
        near.or_else(|| {
            let tried = &self.tried;
            self.arms.pick(arm, sampling, tried, &mut self.random)
        })
    }

    fn plan_one_more(&mut self, round: u32, bound: &Bound) {
        let Some(point) = self.pick_further(bound.arm) else {
            return;
        };
        let reason = format!(
            "{} is promising: mean {:.4}, deviation {:.4}, samples {} ({})",
            bound.arm,
            bound.mean,
            bound.deviation,
            bound.samples,
            self.arms.describe(bound.arm)
        );
        self.plan(Some(bound.arm), point, Origin::Round(round), reason);
    }

    /// The arms with a trial that counts, the highest upper bound first, judged at
    /// the first time point. Scores are those of [`Ranking`].
    pub fn bounds(&self) -> Vec<Bound> {
        let mut arms = Vec::new();
        let mut standings = Vec::new();
        for trial in &self.trials {
            if let (Some(arm), Some(standing)) = (trial.arm, self.standing_at_first(trial)) {
                arms.push(arm);
                standings.push(standing);
            }
        }
        let scores = Ranking::of(&standings).scores;
        let mut by_arm: BTreeMap<ArmId, Vec<f64>> = BTreeMap::new();
        for (arm, score) in arms.into_iter().zip(scores) {
            by_arm.entry(arm).or_default().push(score);
        }
        bounds(&by_arm)
    }

    /// How a trial stood at the first time point; `None` before it came there.
    pub(super) fn standing_at_first(&self, trial: &Trial) -> Option<Standing> {
        if trial.has_failed() {
            return Some(Standing::Failed);
        }
        let first = self.points.as_ref()?.first()?;
        self.standing_at(trial, *first)
    }

    /// How a trial stood after so many seconds; `None` before it ran so long.
    pub(super) fn standing_at(&self, trial: &Trial, seconds: f64) -> Option<Standing> {
        let reading = trial.reading_at(seconds)?;
        let setup = &self.setup;
        judge(&setup.objective, &setup.constraints, &reading.metrics).ok()
    }
}
