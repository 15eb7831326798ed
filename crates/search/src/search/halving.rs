//! Successive halving (Dremel, 4.5.1): at each time point the worse half is stopped
//! and the better half runs on.

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
        let points = self.points.clone().unwrap_or_default();
        let live = self.live_by_rank(self.point(Some(place)));
        if live.is_empty() {
            return self.finish("no trial is left");
        }
        if place + 1 >= points.len() {
            return self.finish("all time points are passed");
        }
        let wanted = kept(live.len());
        let room = (1..=wanted)
            .rev()
            .find(|keep| elapsed + self.going_on(place, &live[..*keep]) <= self.end());
        let Some(keep) = room else {
            return self.finish("the time left does not reach the next time point");
        };
        for (rank, trial) in live.iter().enumerate().skip(keep) {
            let reason = format!(
                "it is {} of {} after {:.0} s",
                rank + 1,
                live.len(),
                points.get(place).copied().unwrap_or(0.0)
            );
            self.stop(*trial, &reason);
        }
        self.stage = Stage::Halving(place + 1);
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
