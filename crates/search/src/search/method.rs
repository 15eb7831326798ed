//! How a search goes about it.

use serde::{Deserialize, Serialize};

use super::points::TimePoints;
use crate::error::{Result, SearchError};

/// More arms than this cannot be tried.
const MOST_ARMS: f64 = 10_000.0;

/// Settings of a search. The defaults are Dremel's where it gives them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Method {
    /// Quantile buckets of each feature, at least 1; arms are their combinations,
    /// 2^4 = 16 by default (Dremel, 4.4.1 and 5.1). With 1 there is one arm.
    ///
    /// Default: 2.
    pub buckets: usize,
    /// Features that are left out, by name, to see what they are worth (Dremel,
    /// figure 12). Without the heuristic one the first configuration of an arm is any.
    ///
    /// Default: none.
    pub without: Vec<String>,
    /// Configurations that are drawn to find the buckets and to fill the arms. The
    /// paper sorts all there are into arms, which a space of current size has too
    /// many of.
    ///
    /// Default: 4096.
    pub samples: usize,
    /// How the first configuration of an arm is chosen (Dremel, 4.6.1).
    ///
    /// Default: by the heuristic.
    pub first: Sampling,
    /// How its further ones are chosen (Dremel, 4.6.2 leaves it open).
    ///
    /// Default: at random (Dremel, 4.4.2).
    pub further: Sampling,
    /// Rounds of sampling by upper confidence bounds (R in Dremel, algorithm 2).
    ///
    /// Default: 3.
    pub rounds: u32,
    /// Whether the search goes on while the budget lasts, where Dremel ends after its rounds
    /// and its time points: with further rounds, and behind the last point, if there are
    /// several, with comparisons a fifth of a full evaluation apart, until two trials are left
    /// or one has run for [`Method::longest_run`].
    ///
    /// Default: true; of logs that do not have it, false.
    #[serde(default)]
    pub whole_budget: bool,
    /// Arms that get one more configuration in each round (K in Dremel, algorithm
    /// 2), at least 1.
    ///
    /// Default: 5.
    pub arms_per_round: usize,
    /// When trials are compared and the worse half is stopped.
    ///
    /// Default: three points within 100 s, the first when the first trial has
    /// settled, at the latest the 60, 80 and 100 s of Dremel, 5.2.1.
    pub points: TimePoints,
    /// Whether the default configuration is the first trial, if the rules allow it.
    /// It is compared like any other.
    ///
    /// Default: true.
    pub with_default: bool,
    /// Trials that may run at once, at least 1. Only the arithmetic of the budget
    /// knows; the search answers as often as it is asked.
    ///
    /// Default: 1.
    pub workers: usize,
    /// What a trial takes before its first measured second (making or copying data,
    /// opening), in seconds, until trials that began when another had been ready have
    /// reported it. What only the first ones do, as loading data for all, is no part of it.
    ///
    /// Default: 0.
    pub setup_seconds: f64,
    /// What is kept of the budget for repeats after the search, in seconds; see
    /// [`crate::verdict`].
    ///
    /// Default: 0.
    pub reserve_seconds: f64,
}

/// How a configuration is chosen from an arm.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sampling {
    /// The one with the smallest value of the space's heuristic feature.
    Heuristic,
    /// Any, all alike.
    Random,
    /// The best one of the arm with two of its settings drawn anew; any of an arm of which
    /// none was measured.
    Near,
}

impl Default for Method {
    fn default() -> Method {
        Method {
            buckets: 2,
            without: Vec::new(),
            samples: 4096,
            first: Sampling::Heuristic,
            further: Sampling::Random,
            rounds: 3,
            whole_budget: true,
            arms_per_round: 5,
            points: TimePoints::default(),
            with_default: true,
            workers: 1,
            setup_seconds: 0.0,
            reserve_seconds: 0.0,
        }
    }
}

impl Method {
    /// Dremel as it was published, which leaves what its rounds and its time points do not
    /// take of the budget.
    pub fn published() -> Method {
        Method {
            whole_budget: false,
            ..Method::default()
        }
    }

    /// Random search (Bergstra and Bengio, JMLR 2012): configurations drawn from
    /// the whole space, each run to the end, as many as the budget allows.
    pub fn random_search(seconds: f64) -> Method {
        Method {
            buckets: 1,
            first: Sampling::Random,
            rounds: u32::MAX,
            whole_budget: false,
            arms_per_round: 1,
            points: TimePoints::Fixed(vec![seconds]),
            ..Method::default()
        }
    }

    /// The longest that a trial may run, in seconds without set-up: a full evaluation, or twice
    /// as long where the whole budget is used and trials are halved.
    pub fn longest_run(&self) -> f64 {
        let full = self.points.longest();
        let runs_on = self.whole_budget && self.points.latest().len() > 1;
        if runs_on { 2.0 * full } else { full }
    }

    /// Whether every setting is in its range; `features` are those of the space.
    ///
    /// # Errors
    /// The first that is not, and what to choose.
    pub fn check(&self, features: &[&str]) -> Result<()> {
        at_least_one("buckets", self.buckets)?;
        at_least_one("samples", self.samples)?;
        at_least_one("arms_per_round", self.arms_per_round)?;
        at_least_one("workers", self.workers)?;
        seconds("setup_seconds", self.setup_seconds)?;
        seconds("reserve_seconds", self.reserve_seconds)?;
        self.points.check()?;
        for name in &self.without {
            if !features.contains(&name.as_str()) {
                return Err(SearchError::new(format!(
                    "the feature {name} cannot be left out, since there is none of that name: \
                     the features are {}",
                    features.join(", ")
                )));
            }
        }
        let used = features.iter().filter(|name| self.uses(name)).count();
        let arms = (self.buckets as f64).powf(used as f64);
        if arms > MOST_ARMS {
            return Err(SearchError::new(format!(
                "{} buckets of {used} features are {arms} arms: choose fewer buckets, or leave \
                 features out",
                self.buckets
            )));
        }
        Ok(())
    }

    /// Whether a feature counts.
    pub(super) fn uses(&self, feature: &str) -> bool {
        self.without.iter().all(|name| name != feature)
    }
}

fn at_least_one(name: &str, value: usize) -> Result<()> {
    if value == 0 {
        return Err(SearchError::new(format!("{name} is 0: choose at least 1")));
    }
    Ok(())
}

fn seconds(name: &str, value: f64) -> Result<()> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(SearchError::new(format!(
        "{name} is {value}: choose seconds, at least 0"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_the_papers_but_for_the_budget() {
        let method = Method::default();
        method.check(&["a", "b", "c", "d"]).expect("legal");
        assert_eq!(
            (method.buckets, method.rounds, method.arms_per_round),
            (2, 3, 5)
        );
        let read: Method = serde_json::from_str("{}").expect("all defaults");
        assert_eq!(
            read,
            Method::published(),
            "as logs before there was a choice"
        );
    }

    #[test]
    fn each_mistake_names_the_setting() {
        let says = |change: fn(&mut Method), sentence: &str| {
            let mut method = Method::default();
            change(&mut method);
            let error = method.check(&["a", "b"]).expect_err(sentence).to_string();
            assert!(error.contains(sentence), "{error}");
        };
        says(|it| it.buckets = 0, "buckets is 0: choose at least 1");
        says(|it| it.workers = 0, "workers is 0");
        says(|it| it.setup_seconds = f64::NAN, "setup_seconds is NaN");
        says(
            |it| it.buckets = 101,
            "101 buckets of 2 features are 10201 arms",
        );
        says(
            |it| it.without = vec!["x".to_owned()],
            "the features are a, b",
        );
        says(
            |it| it.points = TimePoints::Fixed(Vec::new()),
            "no time point",
        );
    }

    #[test]
    fn random_search_is_a_method() {
        Method::random_search(60.0).check(&["a"]).expect("legal");
        assert!(Method::random_search(0.0).check(&["a"]).is_err());
    }
}
