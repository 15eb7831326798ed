//! What things take, in seconds by the clock.

use super::halving::kept;
use super::points::mean;
use super::{Search, Setup, Stage};
use crate::error::{Result, SearchError};

/// Whether the budget has room for one trial.
///
/// # Errors
/// It has not; how much it takes.
pub(super) fn check(setup: &Setup) -> Result<()> {
    let method = &setup.method;
    let budget = setup.budget_seconds;
    if !(budget.is_finite() && budget > 0.0) {
        return Err(SearchError::new(format!(
            "a budget of {budget} s cannot be: give seconds above 0"
        )));
    }
    let (longest, set_up) = (method.points.longest(), method.setup_seconds);
    let needed = longest + set_up + method.reserve_seconds;
    if budget < needed {
        return Err(SearchError::new(format!(
            "a budget of {budget:.0} s is too short for one trial: {longest:.0} s to evaluate, \
             {set_up:.0} s to set up and {:.0} s kept for repeats make {needed:.0} s; give that \
             much, or evaluate more shortly",
            method.reserve_seconds
        )));
    }
    Ok(())
}

/// What halving takes by the clock, from `trials` that have all passed the point at
/// `place` and of which `keep` run on, to the last point.
fn going_on(points: &[f64], place: usize, keep: usize, workers: usize) -> f64 {
    let mut trials = keep;
    let mut seconds = 0.0;
    for pair in points.windows(2).skip(place) {
        seconds += trials.div_ceil(workers) as f64 * (pair[1] - pair[0]);
        trials = kept(trials);
    }
    seconds
}

impl Search {
    /// When trials must have ended: the budget without the reserve.
    pub(super) fn end(&self) -> f64 {
        self.setup.budget_seconds - self.setup.method.reserve_seconds
    }

    /// Whether so many more configurations, and then halving to the last point, fit
    /// into the time left.
    pub(super) fn affordable(&self, more: usize, elapsed: f64) -> bool {
        elapsed + self.to_the_end(more) <= self.end()
    }

    /// What `keep` trials take from a time point that they have passed to the last.
    pub(super) fn going_on(&self, place: usize, keep: usize) -> f64 {
        let points = self.known_points();
        going_on(&points, place, keep, self.setup.method.workers)
    }

    fn known_points(&self) -> Vec<f64> {
        let found = self.points.clone();
        found.unwrap_or_else(|| self.setup.method.points.latest())
    }

    /// What everything that is live and `more` configurations take to the last
    /// point. Time that running trials have run already is counted as still to come.
    fn to_the_end(&self, more: usize) -> f64 {
        let points = self.known_points();
        let first = points.first().copied().unwrap_or(0.0);
        let live = self.trials.iter().filter(|it| it.is_live());
        let reached: Vec<f64> = live.map(|it| it.reached()).collect();
        let to_first: f64 = reached.iter().map(|it| (first - it).max(0.0)).sum();
        let new = more as f64 * (first + self.setup_estimate());
        let workers = self.setup.method.workers;
        let trials = kept(reached.len() + more);
        (to_first + new) / workers as f64 + going_on(&points, 0, trials, workers)
    }

    /// What a trial takes before its first operation, in seconds: as reported, or as
    /// expected. The first trial may have done what the others need not do again, so it
    /// counts only as long as it is alone.
    pub fn setup_estimate(&self) -> f64 {
        let measured = self.trials.iter().filter(|it| !it.readings.is_empty());
        let seconds: Vec<f64> = measured.map(|it| it.setup_seconds).collect();
        match seconds.as_slice() {
            [] => self.setup.method.setup_seconds,
            [only] => *only,
            [_, others @ ..] => mean(others),
        }
    }

    /// Keeps so many seconds of the budget for repeats from here on, whatever the method
    /// says. What trials take before they run is known only when they have.
    pub fn reserve(&mut self, seconds: f64) {
        let most = self.setup.budget_seconds;
        self.setup.method.reserve_seconds = seconds.clamp(0.0, most);
    }

    /// Seconds that are still to come by the clock, at most what the budget leaves:
    /// what is live, planned and left of the rounds. An estimate.
    pub(super) fn seconds_left(&self, elapsed: f64) -> f64 {
        let left = (self.end() - elapsed).max(0.0);
        let estimate = match &self.stage {
            Stage::Finished(_) => 0.0,
            Stage::Halving(place) => {
                let live = self.trials.iter().filter(|it| it.is_live()).count();
                self.going_on(place.saturating_sub(1), live)
            }
            Stage::Sampling(round) => {
                let method = &self.setup.method;
                let rounds = method.rounds.saturating_sub(*round) as usize;
                let planned = rounds.saturating_mul(method.arms_per_round);
                // More trials than this do not fit into any budget.
                self.to_the_end(self.queue.len() + planned.min(1_000_000))
            }
        };
        estimate.min(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_arithmetic() {
        // 16 arms: 60 s each, then 8 for 20 s, then 4 for 20 s: 1,200 s (5.2.2).
        let points = [60.0, 80.0, 100.0];
        let sixteen = 16.0 * 60.0 + going_on(&points, 0, kept(16), 1);
        assert_eq!(sixteen, 1_200.0);
        // 31 make 16 and 8, where the paper counts 15.5 and 7.75: 2,325 s.
        let all = 31.0 * 60.0 + going_on(&points, 0, kept(31), 1);
        assert_eq!(all, 2_340.0);
        assert_eq!(going_on(&points, 1, 4, 1), 80.0);
        assert_eq!(going_on(&points, 2, 4, 1), 0.0);
        assert_eq!(going_on(&points, 0, 8, 3), 3.0 * 20.0 + 2.0 * 20.0);
    }

    #[test]
    fn a_budget_for_no_trial_is_a_sentence() {
        let says = |budget: f64, sentence: &str| {
            let mut setup = Setup::new(crate::objective::Objective::Throughput, budget);
            setup.method.setup_seconds = 5.0;
            setup.method.reserve_seconds = 90.0;
            let error = check(&setup).expect_err(sentence).to_string();
            assert!(error.contains(sentence), "{error}");
        };
        says(
            60.0,
            "too short for one trial: 100 s to evaluate, 5 s to set up and 90 s kept",
        );
        says(f64::NAN, "a budget of NaN s cannot be");
    }
}
