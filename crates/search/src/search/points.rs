//! When trials are compared (Dremel, 4.5.2).

use serde::{Deserialize, Serialize};

use super::measurement::Sample;
use crate::error::{Result, SearchError};

/// The latest first point, as a share of a full evaluation: 60 of 100 seconds in
/// the paper (5.2.1).
const LATEST_FIRST: f64 = 0.6;

/// A trial that has run this share of its time has reached it; clocks are not exact.
pub(crate) const REACHED: f64 = 0.99;

/// The least step by which a trial that has not settled goes on, as a share of a
/// full evaluation; more than [`REACHED`] leaves open.
const LEAST_STEP: f64 = 0.02;

/// A deviation of fewer samples says nothing.
const LEAST_SAMPLES: usize = 3;

/// The times, in seconds that a trial has run, at which trials are compared and the
/// worse half is stopped. The last one is a full evaluation.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimePoints {
    /// These, ascending.
    Fixed(Vec<f64>),
    /// The first when the first trial has settled: when the standard deviation of
    /// its throughput over the last `window` seconds has fallen under `fluctuation`
    /// of their mean, at the latest after 3/5 of `longest`. The others follow at
    /// even distances.
    Settled {
        /// Seconds over which the deviation is taken. No trial is compared earlier.
        window: f64,
        /// The deviation over the mean that counts as settled.
        fluctuation: f64,
        /// Seconds of a full evaluation.
        longest: f64,
        /// How many points, the last one included.
        count: usize,
    },
}

impl Default for TimePoints {
    /// Three points within 100 s, a window of 20 s and 10 %, which gives the
    /// paper's 60, 80 and 100 s where throughput settles late.
    fn default() -> TimePoints {
        TimePoints::settled_within(100.0)
    }
}

impl TimePoints {
    /// The default's proportions for another full evaluation, in seconds.
    pub fn settled_within(longest: f64) -> TimePoints {
        TimePoints::Settled {
            window: longest / 5.0,
            fluctuation: 0.1,
            longest,
            count: 3,
        }
    }

    /// Seconds of a full evaluation.
    pub fn longest(&self) -> f64 {
        match self {
            TimePoints::Fixed(points) => points.last().copied().unwrap_or(0.0),
            TimePoints::Settled { longest, .. } => *longest,
        }
    }

    /// The points if they are known before any trial.
    pub(super) fn fixed(&self) -> Option<Vec<f64>> {
        match self {
            TimePoints::Fixed(points) => Some(points.clone()),
            TimePoints::Settled { longest, count, .. } if *count == 1 => Some(vec![*longest]),
            TimePoints::Settled { .. } => None,
        }
    }

    /// The points when the first one is at its latest; for the arithmetic of the
    /// budget.
    pub(super) fn latest(&self) -> Vec<f64> {
        self.fixed()
            .unwrap_or_else(|| self.spread_from(self.latest_first()))
    }

    /// Seconds that each of many trials takes at the least, on average, where all come to the
    /// first point and at each point half of them run on. The earlier the first point is, the less.
    pub(super) fn least_share(&self) -> f64 {
        let earliest = self.fixed();
        let points = earliest.unwrap_or_else(|| self.spread_from(self.window()));
        let (mut each, mut share) = (points.first().copied().unwrap_or(0.0), 1.0);
        for pair in points.windows(2) {
            share /= 2.0;
            each += share * (pair[1] - pair[0]);
        }
        each
    }

    /// How long every trial may run before the points are known, and the step by
    /// which the first trial goes on until it has settled.
    pub(super) fn window(&self) -> f64 {
        match self {
            TimePoints::Fixed(points) => points.first().copied().unwrap_or(0.0),
            TimePoints::Settled { window, .. } => *window,
        }
    }

    fn latest_first(&self) -> f64 {
        (self.longest() * LATEST_FIRST).max(self.window())
    }

    /// How far a trial that has not settled goes on.
    pub(super) fn next_look(&self, reached: f64) -> f64 {
        let step = (self.window() / 2.0).max(self.longest() * LEAST_STEP);
        (reached + step).min(self.latest_first())
    }

    /// The points, if this trial's series has settled or has run long enough.
    pub(super) fn found(&self, reached: f64, series: &[Sample]) -> Option<Vec<f64>> {
        let enough = reached >= self.latest_first() * REACHED;
        (enough || self.are_settled(reached, series)).then(|| self.spread_from(reached))
    }

    /// Whether throughput has settled by then; what need not settle has.
    pub(super) fn are_settled(&self, reached: f64, series: &[Sample]) -> bool {
        match self {
            TimePoints::Fixed(_) => true,
            TimePoints::Settled {
                window,
                fluctuation,
                ..
            } => fluctuation_at(series, reached, *window).is_some_and(|seen| seen < *fluctuation),
        }
    }

    /// From the first point at even distances to the last.
    fn spread_from(&self, first: f64) -> Vec<f64> {
        match self {
            TimePoints::Fixed(points) => points.clone(),
            TimePoints::Settled { longest, count, .. } => {
                // A trial may run a little longer than it was told to.
                let first = first.min(*longest);
                let steps = count.saturating_sub(1).max(1) as f64;
                let step = (longest - first) / steps;
                (0..*count)
                    .map(|at| {
                        if at + 1 == *count {
                            *longest
                        } else {
                            first + step * at as f64
                        }
                    })
                    .collect()
            }
        }
    }

    /// Whether the points can be kept.
    ///
    /// # Errors
    /// What is wrong and what to choose.
    pub fn check(&self) -> Result<()> {
        match self {
            TimePoints::Fixed(points) => check_fixed(points),
            TimePoints::Settled {
                window,
                fluctuation,
                longest,
                count,
            } => check_settled(*window, *fluctuation, *longest, *count),
        }
    }
}

fn check_fixed(points: &[f64]) -> Result<()> {
    let Some(first) = points.first() else {
        return Err(SearchError::new(
            "there is no time point: choose at least one, the seconds of a full evaluation",
        ));
    };
    let ascending = points.windows(2).all(|pair| pair[0] < pair[1]);
    let finite = points.iter().all(|point| point.is_finite());
    if *first > 0.0 && ascending && finite {
        return Ok(());
    }
    Err(SearchError::new(format!(
        "the time points {points:?} do not ascend from above 0: write seconds, each larger than \
         the one before"
    )))
}

fn check_settled(window: f64, fluctuation: f64, longest: f64, count: usize) -> Result<()> {
    if !(longest.is_finite() && longest > 0.0) {
        return Err(SearchError::new(format!(
            "a full evaluation of {longest} s cannot be: choose seconds above 0"
        )));
    }
    if !(window > 0.0 && window < longest) {
        return Err(SearchError::new(format!(
            "a window of {window} s does not fit a full evaluation of {longest} s: choose \
             seconds above 0 and below it"
        )));
    }
    if !(fluctuation.is_finite() && fluctuation > 0.0) {
        return Err(SearchError::new(format!(
            "a fluctuation of {fluctuation} cannot be: choose a share above 0, such as 0.1"
        )));
    }
    if count == 0 {
        return Err(SearchError::new(
            "there is no time point: choose a count of at least 1",
        ));
    }
    Ok(())
}

/// The standard deviation over the mean of the samples of the last `window`
/// seconds before `now`; `None` of fewer than three, or without throughput.
pub fn fluctuation_at(series: &[Sample], now: f64, window: f64) -> Option<f64> {
    let within = series
        .iter()
        .filter(|it| it.second > now - window && it.second <= now);
    let values: Vec<f64> = within.map(|it| it.throughput).collect();
    if values.len() < LEAST_SAMPLES {
        return None;
    }
    let mean = mean(&values);
    (mean > 0.0).then(|| deviation(&values) / mean)
}

/// The mean; 0 of no values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The sample standard deviation; 0 of fewer than two values.
pub(crate) fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares = values.iter().map(|value| (value - mean).powi(2));
    let degrees = values.len().saturating_sub(1).max(1);
    (squares.sum::<f64>() / degrees as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sample each second, of a throughput that falls to 100 by `decay`.
    fn falling(seconds: u32, decay: f64) -> Vec<Sample> {
        let seconds = 1..=seconds;
        seconds
            .map(|second| Sample {
                second: f64::from(second),
                throughput: 100.0 + 400.0 * (-f64::from(second) / decay).exp(),
            })
            .collect()
    }

    #[test]
    fn a_trial_settles_when_its_window_is_calm() {
        let points = TimePoints::default();
        assert_eq!(points.found(20.0, &falling(20, 10.0)), None);
        // Over (20, 40] the throughput falls from 149 to 107, a deviation of 10.4 %;
        // over (30, 50] from 118 to 103, one of 4.3 %.
        assert_eq!(points.found(40.0, &falling(40, 10.0)), None);
        assert_eq!(
            points.found(50.0, &falling(50, 10.0)),
            Some(vec![50.0, 75.0, 100.0])
        );
    }

    #[test]
    fn one_that_never_settles_gets_the_papers_points() {
        let points = TimePoints::default();
        let waves = |second: u32| Sample {
            second: f64::from(second),
            throughput: f64::from(second % 2) * 100.0,
        };
        let series: Vec<Sample> = (1..=60).map(waves).collect();
        assert_eq!(points.found(50.0, &series), None);
        assert_eq!(points.next_look(50.0), 60.0);
        assert_eq!(points.next_look(55.0), 60.0);
        assert_eq!(points.found(60.0, &series), Some(vec![60.0, 80.0, 100.0]));
        assert!(!points.are_settled(60.0, &series), "and this can be told");
        assert_eq!(points.latest(), [60.0, 80.0, 100.0]);
        assert_eq!(points.found(60.0, &[]), Some(vec![60.0, 80.0, 100.0]));
        assert!(points.found(59.8, &[]).is_some(), "clocks are not exact");
    }

    #[test]
    fn the_least_share_is_that_of_the_earliest_points() {
        // 20 s, and half of 40 s, and a quarter of 40 s.
        assert_eq!(TimePoints::default().least_share(), 50.0);
        let points = TimePoints::Fixed(vec![60.0, 80.0, 100.0]);
        assert_eq!(points.least_share(), 75.0);
        assert_eq!(TimePoints::Fixed(vec![100.0]).least_share(), 100.0);
    }

    #[test]
    fn deviations_by_hand() {
        assert_eq!(mean(&[]), 0.0);
        assert_eq!(deviation(&[5.0]), 0.0);
        assert!((deviation(&[2.0, 4.0, 6.0]) - 2.0).abs() < 1e-12);
        assert_eq!(fluctuation_at(&falling(2, 1.0), 2.0, 20.0), None);
    }

    #[test]
    fn points_are_checked() {
        for (points, says) in [
            (TimePoints::Fixed(vec![]), "no time point"),
            (TimePoints::Fixed(vec![2.0, 2.0]), "do not ascend"),
            (TimePoints::Fixed(vec![0.0, 2.0]), "do not ascend"),
            (TimePoints::settled_within(0.0), "full evaluation of 0 s"),
            (
                TimePoints::settled_within(f64::NAN),
                "full evaluation of NaN s",
            ),
        ] {
            let error = points.check().expect_err(says).to_string();
            assert!(error.contains(says), "{error}");
        }
        assert_eq!(TimePoints::Fixed(vec![1.0, 2.0]).check(), Ok(()));
    }
}
