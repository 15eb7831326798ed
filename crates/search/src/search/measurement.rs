//! What came of letting a trial run.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::TrialId;
use crate::error::{Result, SearchError};
use crate::objective::Metrics;

/// The report on a trial.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Measurement {
    /// The trial.
    pub trial: TrialId,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of letting a trial run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "result")]
pub enum Outcome {
    /// It ran as long as it was told to, and can go on.
    Measured {
        /// Seconds that it has run since it was started, without pauses and without
        /// what came before its first operation.
        seconds: f64,
        /// Seconds that it took before its first operation (data, opening); 0 when
        /// it had run before.
        setup_seconds: f64,
        /// Over all the seconds that it has run (Dremel compares averages from the
        /// start, 3.2).
        metrics: Metrics,
        /// Throughput since the last report, a sample about each second; it decides
        /// when trials have settled, and may be empty.
        series: Vec<Sample>,
        /// What the program told to know about its configuration, as an option that it does
        /// not take as it was given.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notes: Vec<String>,
    },
    /// The configuration is bad: a bad sample, not the end.
    Failed {
        /// In which way.
        cause: Cause,
        /// What the program or the system said.
        detail: String,
    },
    /// The trial is gone through no fault of its own: the machine or the search was
    /// interrupted. It is started again if it is still wanted.
    Lost {
        /// What happened.
        why: String,
    },
}

/// Throughput over one second.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// The end of that second, on the trial's own clock of running seconds.
    pub second: f64,
    /// Operations in it.
    pub throughput: f64,
}

/// In which way a configuration is bad.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// It ended by itself, with an error or a signal.
    Crash,
    /// It passed its deadline.
    Hang,
    /// The database did not open.
    CannotOpen,
    /// It exceeded its memory limit.
    OutOfMemory,
    /// It reported no metric, not the ones asked for, or no numbers.
    NoMetric,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::Crash => "it crashed",
            Cause::Hang => "it hung",
            Cause::CannotOpen => "it did not open",
            Cause::OutOfMemory => "it ran out of memory",
            Cause::NoMetric => "it reported no usable metric",
        })
    }
}

impl Measurement {
    /// Whether all times and samples are numbers, which a log can hold.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> Result<()> {
        let Outcome::Measured {
            seconds,
            setup_seconds,
            series,
            ..
        } = &self.outcome
        else {
            return Ok(());
        };
        let times = [("seconds", *seconds), ("setup_seconds", *setup_seconds)];
        let throughputs = series
            .iter()
            .map(|it| ("a sample's throughput", it.throughput));
        let ends = series.iter().map(|it| ("a sample's second", it.second));
        let mut all = times.into_iter().chain(throughputs).chain(ends);
        match all.find(|(_, value)| !(value.is_finite() && *value >= 0.0)) {
            None => Ok(()),
            Some((what, value)) => Err(SearchError::new(format!(
                "the measurement of {} gives {value} as {what}: give a number of at least 0",
                self.trial
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_a_measurement() {
        let metrics = "{\"throughput\": 123.456}";
        let measured = Measurement {
            trial: TrialId(3),
            outcome: Outcome::Measured {
                seconds: 60.1,
                setup_seconds: 0.5,
                metrics: serde_json::from_str(metrics).expect("metrics"),
                series: vec![Sample {
                    second: 1.0,
                    throughput: 99.9,
                }],
                notes: vec!["one buffer less is used".to_owned()],
            },
        };
        let failed = Measurement {
            trial: TrialId(4),
            outcome: Outcome::Failed {
                cause: Cause::CannotOpen,
                detail: "db has more levels than options.num_levels".to_owned(),
            },
        };
        for measurement in [measured, failed] {
            assert_eq!(measurement.check(), Ok(()));
            let text = serde_json::to_string(&measurement).expect("plain data");
            let read: Measurement = serde_json::from_str(&text).expect(&text);
            assert_eq!(read, measurement);
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        let measurement = Measurement {
            trial: TrialId(3),
            outcome: Outcome::Measured {
                seconds: f64::NAN,
                setup_seconds: 0.0,
                metrics: Metrics::default(),
                series: Vec::new(),
                notes: Vec::new(),
            },
        };
        let error = measurement.check().expect_err("no number").to_string();
        assert!(error.contains("trial 3 gives NaN as seconds"), "{error}");
    }
}
