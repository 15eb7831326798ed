//! What should happen next, and why.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::space::Configuration;

/// Identifies a trial of a search; counts from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TrialId(pub u64);

impl fmt::Display for TrialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "trial {}", self.0)
    }
}

/// What should happen next.
///
/// A trial that has run as long as it was told to waits: it keeps its data, does no
/// work that others would notice, and either goes on or is stopped later. Whether
/// its process sleeps or is closed meanwhile is the runner's choice.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "decision")]
pub enum Decision {
    /// Run this configuration until it has run for so long, then report. A trial
    /// that was lost is started again under its old id.
    Start {
        /// The trial.
        trial: TrialId,
        /// What to run.
        configuration: Configuration,
        /// Seconds of running after which to report.
        until: f64,
        /// A sentence without a full stop.
        reason: String,
    },
    /// Let a trial that waits run on, then report.
    Continue {
        /// The trial.
        trial: TrialId,
        /// Seconds of running, since its start, after which to report.
        until: f64,
        /// A sentence without a full stop.
        reason: String,
    },
    /// End a trial; it is not needed any more. No report need follow.
    Stop {
        /// The trial.
        trial: TrialId,
        /// A sentence without a full stop.
        reason: String,
    },
    /// Nothing before a running trial reports. Asking changes nothing.
    Wait {
        /// A sentence without a full stop.
        reason: String,
    },
    /// The search has ended. Asking again gives the same.
    Done {
        /// The best trial; absent when none could be measured.
        best: Option<TrialId>,
        /// A sentence without a full stop.
        reason: String,
    },
}

impl Decision {
    /// The trial that it is about, if one.
    pub fn trial(&self) -> Option<TrialId> {
        match self {
            Decision::Start { trial, .. }
            | Decision::Continue { trial, .. }
            | Decision::Stop { trial, .. } => Some(*trial),
            Decision::Wait { .. } | Decision::Done { .. } => None,
        }
    }

    /// Why.
    pub fn reason(&self) -> &str {
        match self {
            Decision::Start { reason, .. }
            | Decision::Continue { reason, .. }
            | Decision::Stop { reason, .. }
            | Decision::Wait { reason }
            | Decision::Done { reason, .. } => reason,
        }
    }

    /// The same decision for no reason, to compare by.
    pub(crate) fn without_reason(&self) -> Decision {
        let mut decision = self.clone();
        match &mut decision {
            Decision::Start { reason, .. }
            | Decision::Continue { reason, .. }
            | Decision::Stop { reason, .. }
            | Decision::Wait { reason }
            | Decision::Done { reason, .. } => reason.clear(),
        }
        decision
    }
}

/// A sentence without a full stop.
impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = self.reason();
        match self {
            Decision::Start { trial, until, .. } => {
                write!(f, "start {trial} and run it until {until:.0} s: {reason}")
            }
            Decision::Continue { trial, until, .. } => {
                write!(f, "let {trial} run on until {until:.0} s: {reason}")
            }
            Decision::Stop { trial, .. } => write!(f, "stop {trial}: {reason}"),
            Decision::Wait { .. } => write!(f, "wait: {reason}"),
            Decision::Done { best: None, .. } => write!(f, "done without a result: {reason}"),
            Decision::Done {
                best: Some(best), ..
            } => write!(f, "done, the best is {best}: {reason}"),
        }
    }
}
