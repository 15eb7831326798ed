//! Successive halving (Dremel, 4.5.1): at each time point the worse half is stopped
//! and the better half runs on; where the whole budget is used, also behind the last point.

use super::{Search, Stage};
use crate::objective::{Ranking, Standing};

/// How many of so many trials run on; of an odd number the larger half.
pub(super) fn kept(trials: usize) -> usize {
    trials.div_ceil(2)
}

impl Search {
    /// Compares the live trials at a time point, counted from 0, which all have
    /// passed.
    pub(super) fn halve(&mut self, place: usize, elapsed: f64) {
        let live = self.live_by_rank(self.point(Some(place)));
        if live.is_empty() {
            return self.finish("no trial is left");
        }
        let is_last = self.point(Some(place + 1)).is_none();
        if is_last && !self.add_point(live.len()) {
            return self.finish("all time points are passed");
        }
        let wanted = kept(live.len());
        // Nobody runs on behind the last point to be compared with nobody.
        let least = if is_last { 2 } else { 1 };
        let room = (least..=wanted)
            .rev()
            .find(|keep| elapsed + self.going_on(place, &live[..*keep]) <= self.end());
        let Some(keep) = room else {
            if is_last {
                self.drop_last_point();
            }
            return self.finish("the time left does not reach the next time point");
        };
        for (rank, trial) in live.iter().enumerate().skip(keep) {
            let reason = format!(
                "it is {} of {} after {:.0} s",
                rank + 1,
                live.len(),
                self.point(Some(place)).unwrap_or(0.0)
            );
            self.stop(*trial, &reason);
        }
        self.stage = Stage::Halving(place + 1);
    }

    /// Adds a time point behind the last one, where so many trials have passed that and the
    /// whole budget is used; false if there is none to add.
    fn add_point(&mut self, trials: usize) -> bool {
        let further = self.further_points(trials).first().copied();
        let (Some(point), Some(points)) = (further, &mut self.points) else {
            return false;
        };
        points.push(point);
        true
    }

    /// Takes back a point that nobody will reach.
    fn drop_last_point(&mut self) {
        if let Some(points) = &mut self.points {
            points.pop();
        }
    }

    /// Places of the live trials, in the order of their start.
    pub(super) fn live(&self) -> Vec<usize> {
        let trials = self.trials.iter().enumerate();
        trials
            .filter(|(_, trial)| trial.is_live())
            .map(|(place, _)| place)
            .collect()
    }

    /// Places of the live trials, the best at a time point first.
    pub(super) fn live_by_rank(&self, point: Option<f64>) -> Vec<usize> {
        let live = self.live();
        let standings: Vec<Standing> = live
            .iter()
            .map(|place| {
                point
                    .and_then(|seconds| self.standing_at(&self.trials[*place], seconds))
                    .unwrap_or(Standing::Failed)
            })
            .collect();
        let order = Ranking::of(&standings).order;
        order.into_iter().map(|rank| live[rank]).collect()
    }
}
