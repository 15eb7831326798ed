//! The trials of a recorded search, and who of them was run again.

use std::collections::BTreeSet;

use crate::search::{Cause, Decision, EarlierReading, Outcome, REACHED, TrialId};
use crate::space::Configuration;
use crate::verdict::{Contender, Repeated};

/// A trial of a recorded search.
pub(super) struct Tried {
    pub(super) trial: TrialId,
    pub(super) configuration: Configuration,
    pub(super) measured: Option<EarlierReading>,
    pub(super) failed: bool,
    pub(super) hung: bool,
}

impl Tried {
    /// Takes a report of a search with full evaluations of so many seconds.
    pub(super) fn take(&mut self, outcome: &Outcome, full: f64) {
        match outcome {
            Outcome::Measured {
                seconds, metrics, ..
            } => {
                if self.has_come_to(full) {
                    // How far it runs on behind that differs from search to search, and figures
                    // of different times are not compared.
                    return;
                }
                self.measured = Some(EarlierReading {
                    seconds: seconds.min(full),
                    metrics: metrics.clone(),
                });
            }
            Outcome::Failed {
                cause: Cause::Hang, ..
            } => self.hung = true,
            Outcome::Failed { .. } => self.failed = true,
            Outcome::Lost { .. } => {}
        }
    }

    fn has_come_to(&self, full: f64) -> bool {
        let measured = self.measured.as_ref();
        measured.is_some_and(|it| it.seconds >= full * REACHED)
    }
}

/// The contenders that may be believed, and which of them runs the `default` configuration. It is
/// one of its own where it is neither the best nor the runner-up, and may be believed if the search
/// measured it.
pub(super) fn contenders(
    best: TrialId,
    tried: &[Tried],
    default: &Configuration,
    repeated: &[Repeated],
) -> (BTreeSet<Contender>, Option<Contender>) {
    let own = tried.iter().find(|it| it.configuration == *default);
    let is_repeated = repeated.iter().any(|it| it.contender == Contender::Default);
    let runs_default = match own {
        _ if is_repeated => Some(Contender::Default),
        Some(own) if own.trial == best => Some(Contender::Best),
        Some(_) => Some(Contender::RunnerUp),
        None => None,
    };
    let mut measured = BTreeSet::from([Contender::Best, Contender::RunnerUp]);
    if own.is_some_and(|it| it.measured.is_some() && !it.failed && !it.hung) {
        measured.insert(Contender::Default);
    }
    (measured, runs_default)
}

/// Adds a trial when it is started for the first time.
pub(super) fn started(tried: &mut Vec<Tried>, decision: &Decision) {
    let Decision::Start {
        trial,
        configuration,
        ..
    } = decision
    else {
        return;
    };
    if tried.iter().all(|it| it.trial != *trial) {
        tried.push(Tried {
            trial: *trial,
            configuration: configuration.clone(),
            measured: None,
            failed: false,
            hung: false,
        });
    }
}
