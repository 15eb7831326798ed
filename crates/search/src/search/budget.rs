//! What things take, in seconds by the clock.

use super::halving::kept;
use super::points::REACHED;
use super::{Search, Setup, Stage, State, Trial};
use crate::error::{Result, SearchError};

/// How far apart trials are compared behind the last time point, as a share of a full
/// evaluation: as the paper's points (5.2.1).
const FURTHER: f64 = 0.2;

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

/// How trials go on from time point to time point.
struct Course<'a> {
    points: &'a [f64],
    workers: usize,
    /// Seconds of set-up of one that begins anew.
    set_up: f64,
    /// Whether all begin anew.
    restarts: bool,
}

impl Course<'_> {
    /// What halving takes by the clock, from trials that have all passed the point at
    /// `place` and of which `keep` run on, `anew` of them from their start, to the last
    /// point.
    fn to_the_last(&self, place: usize, keep: usize, anew: usize) -> f64 {
        let mut trials = keep;
        let mut anew = anew;
        let mut seconds = 0.0;
        for pair in self.points.windows(2).skip(place) {
            seconds += self.leg(trials, anew, (pair[0], pair[1]));
            trials = kept(trials);
            anew = 0;
        }
        seconds
    }

    /// What so many trials take from one point to the next, those that begin anew first.
    fn leg(&self, trials: usize, anew: usize, (from, to): (f64, f64)) -> f64 {
        let anew = if self.restarts {
            trials
        } else {
            anew.min(trials)
        };
        let turns = trials.div_ceil(self.workers);
        let long = anew.div_ceil(self.workers);
        long as f64 * (self.set_up + to) + (turns - long) as f64 * (to - from)
    }
}

impl Search {
    /// When trials must have ended: the budget without the reserve.
    pub(super) fn end(&self) -> f64 {
        self.setup.budget_seconds - self.setup.method.reserve_seconds
    }

    /// When the search ends though trials run: with the budget without the reserve, or, as long as
    /// nothing was measured that could be repeated, with all of it.
    pub fn deadline(&self) -> f64 {
        match self.has_readings() && self.points.is_some() {
            true => self.end(),
            false => self.setup.budget_seconds,
        }
    }

    /// Whether anything was measured.
    pub fn has_readings(&self) -> bool {
        self.trials.iter().any(|it| !it.readings.is_empty())
    }

    /// Whether so many more configurations, and then halving to the last point, fit
    /// into the time left.
    pub(super) fn affordable(&self, more: usize, elapsed: f64) -> bool {
        elapsed + self.to_the_end(more) <= self.end()
    }

    /// The most trials that the budget lets be alive at once, whatever is kept for repeats: but for
    /// the first one, none begins unless all that are alive can be halved to the last point.
    pub fn most_affordable(&self) -> usize {
        let method = &self.setup.method;
        let each = method.points.least_share() * REACHED;
        // The conversion saturates.
        let trials = (self.setup.budget_seconds * method.workers as f64 / each) as usize;
        trials.max(1)
    }

    /// Whether so many more fit in place of the worst ones, and then halving until two are left.
    pub(super) fn affordable_in_place(&self, more: usize, elapsed: f64) -> bool {
        let known = self.known_points();
        let trials = self.live().len() + more - self.replaced(more);
        let last = (1..known.len()).fold(trials, |trials, _| kept(trials));
        let points = [known, self.further_points(last)].concat();
        elapsed + self.to_the_end_of(&points, more, self.replaced(more)) <= self.end()
    }

    /// How many of the worst trials end where so many others take their places: as many as would
    /// be more than behind the method's own rounds, so that one that fails leaves its place to the
    /// next; all of them are of the worse half.
    pub(super) fn replaced(&self, others: usize) -> usize {
        let live = self.live().len();
        let too_many = (live + others).saturating_sub(self.most);
        too_many.min(others).min(live / 2)
    }

    /// Time points behind the last one until two of so many trials are left that have passed
    /// it, as far as trials may run; none where the budget need not be used up, or where
    /// trials are not halved.
    pub(super) fn further_points(&self, trials: usize) -> Vec<f64> {
        let method = &self.setup.method;
        let known = self.known_points();
        let Some(last) = known
            .last()
            .filter(|_| method.whole_budget && known.len() > 1)
        else {
            return Vec::new();
        };
        let step = method.points.longest() * FURTHER;
        let halvings = std::iter::successors(Some(trials), |it| Some(kept(*it)));
        halvings
            .take_while(|trials| kept(*trials) > 1)
            .zip(1..)
            .map(|(_, steps)| last + step * f64::from(steps))
            .take_while(|point| *point <= method.longest_run())
            .collect()
    }

    /// What trials, by their places, take from a time point that they have passed to the
    /// last.
    pub(super) fn going_on(&self, place: usize, keep: &[usize]) -> f64 {
        let trials = keep.iter().filter_map(|it| self.trials.get(*it));
        let anew = trials.filter(|it| self.begins_anew(it)).count();
        let points = self.known_points();
        self.course(&points).to_the_last(place, keep.len(), anew)
    }

    fn course<'a>(&self, points: &'a [f64]) -> Course<'a> {
        Course {
            points,
            workers: self.setup.method.workers,
            set_up: self.setup_estimate(),
            restarts: self.restarts,
        }
    }

    /// Whether a trial that does not run begins anew when it does.
    fn begins_anew(&self, trial: &Trial) -> bool {
        let restarts = self.restarts && !self.goes_on_at_once(trial.id);
        restarts || trial.state == State::Lost
    }

    /// What a live trial takes until it has run so long. Time that it has run already
    /// without a report is counted as still to come.
    pub(super) fn seconds_to(&self, trial: &Trial, until: f64) -> f64 {
        let runs = matches!(trial.state, State::Running(_));
        let from_start = if runs {
            trial.is_new
        } else {
            self.begins_anew(trial)
        };
        if trial.has_reached(until) {
            0.0
        } else if from_start {
            self.setup_estimate() + until
        } else {
            until - trial.reached()
        }
    }

    fn known_points(&self) -> Vec<f64> {
        let found = self.points.clone();
        found.unwrap_or_else(|| self.setup.method.points.latest())
    }

    /// What everything that is live and `more` configurations take to the last point. Those
    /// that were lost behind the first point are taken for better ones, which costs most.
    fn to_the_end(&self, more: usize) -> f64 {
        self.to_the_end_of(&self.known_points(), more, 0)
    }

    /// To the last of these points, where some of the trials end before they are compared.
    fn to_the_end_of(&self, points: &[f64], more: usize, replaced: usize) -> f64 {
        let first = points.first().copied().unwrap_or(0.0);
        let live: Vec<&Trial> = self.trials.iter().filter(|it| it.is_live()).collect();
        let to_first: f64 = live.iter().map(|it| self.seconds_to(it, first)).sum();
        let new = more as f64 * (first + self.setup_estimate());
        let lost = live.iter().filter(|it| it.state == State::Lost);
        let anew = lost.filter(|it| it.has_reached(first)).count();
        let trials = kept(live.len() + more - replaced);
        let workers = self.setup.method.workers;
        (to_first + new) / workers as f64 + self.course(points).to_the_last(0, trials, anew)
    }

    /// What an attempt takes before its first operation, in seconds: the median of those
    /// attempts that began when a trial had been ready before, or as expected
    /// ([`Method::setup_seconds`](super::Method::setup_seconds)) until one of them has reported.
    /// Those before them may have loaded what all trials share, or waited for who did, which
    /// none need do again; and so may those that begin when all others were lost.
    pub fn setup_estimate(&self) -> f64 {
        let typical = self.trials.iter().flat_map(|it| &it.typical_set_ups);
        median(typical.copied().collect()).unwrap_or(self.setup.method.setup_seconds)
    }

    /// Attempts that [`Search::setup_estimate`] goes by; with 0 it is only expected.
    pub fn typical_set_ups(&self) -> usize {
        let trials = self.trials.iter();
        trials.map(|it| it.typical_set_ups.len()).sum()
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
            Stage::Halving(place) => self.going_on(place.saturating_sub(1), &self.live()),
            Stage::Sampling(_) if self.setup.method.whole_budget => left,
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

/// The median, of an even number of values the mean of the middle two; `None` of no value.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = *values.get(values.len().saturating_sub(1) / 2)?;
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTS: [f64; 3] = [60.0, 80.0, 100.0];

    /// Trials that wait with their data.
    fn waiting(workers: usize) -> Course<'static> {
        Course {
            points: &POINTS,
            workers,
            set_up: 7.0,
            restarts: false,
        }
    }

    #[test]
    fn the_papers_arithmetic() {
        // 16 arms: 60 s each, then 8 for 20 s, then 4 for 20 s: 1,200 s (5.2.2).
        let one = waiting(1);
        let sixteen = 16.0 * 60.0 + one.to_the_last(0, kept(16), 0);
        assert_eq!(sixteen, 1_200.0);
        // 31 make 16 and 8, where the paper counts 15.5 and 7.75: 2,325 s.
        let all = 31.0 * 60.0 + one.to_the_last(0, kept(31), 0);
        assert_eq!(all, 2_340.0);
        assert_eq!(one.to_the_last(1, 4, 0), 80.0);
        assert_eq!(one.to_the_last(2, 4, 0), 0.0);
        let three = waiting(3).to_the_last(0, 8, 0);
        assert_eq!(three, 3.0 * 20.0 + 2.0 * 20.0);
    }

    #[test]
    fn what_begins_anew_pays_its_set_up_and_all_its_time() {
        let restarting = Course {
            restarts: true,
            ..waiting(1)
        };
        assert_eq!(restarting.to_the_last(0, 4, 0), 4.0 * 87.0 + 2.0 * 107.0);
        // Those that were lost do so once; then they wait like the others.
        let one = waiting(1);
        assert_eq!(one.to_the_last(0, 4, 1), 87.0 + 3.0 * 20.0 + 2.0 * 20.0);
        assert_eq!(one.to_the_last(0, 4, 9), 4.0 * 87.0 + 2.0 * 20.0);
        assert_eq!(waiting(2).to_the_last(1, 3, 1), 107.0 + 20.0);
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
