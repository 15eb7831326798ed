//! Configurations near the best one of an arm.

use super::{ArmId, Search};
use crate::objective::{Ranking, Standing};
use crate::space::{Configuration, Point};

/// Settings that are drawn anew.
const CHANGED: usize = 2;
/// Draws after which there seems to be no other configuration of the arm so near.
const MOST_DRAWS: usize = 500;

impl Search {
    /// The best configuration of an arm with some settings drawn anew, one of the same arm
    /// that is legal and was not tried; `None` if none was drawn, or if no trial of the arm was
    /// measured.
    pub(super) fn near_the_best_of(&mut self, arm: ArmId) -> Option<Point> {
        let best = self.space.point(self.best_of(arm)?).ok()?;
        for _ in 0..MOST_DRAWS {
            let point = self.space.varied(&best, CHANGED, &mut self.random);
            if self.is_new_in(arm, &point) {
                return Some(point);
            }
        }
        None
    }

    /// The configuration that did best in an arm at the first time point.
    fn best_of(&self, arm: ArmId) -> Option<&Configuration> {
        let of_arm = self.trials.iter().filter(|it| it.arm == Some(arm));
        let measured = of_arm.filter(|it| !it.has_failed());
        let (trials, standings): (Vec<_>, Vec<Standing>) = measured
            .filter_map(|it| Some((it, self.standing_at_first(it)?)))
            .unzip();
        let first = *Ranking::of(&standings).order.first()?;
        trials.get(first).map(|it| &it.configuration)
    }

    fn is_new_in(&self, arm: ArmId, point: &Point) -> bool {
        if self.tried.contains(point) || self.space.first_broken(point).is_some() {
            return false;
        }
        let values = self.space.feature_values_of(point);
        values.is_ok_and(|values| self.arms.find(&values) == Some(arm))
    }
}
