//! What has come of a run limit since it was decided.

use lissom_core::cost_model::AccessPattern;
use lissom_core::journal::Moment;
use lissom_core::reasons::{Decided, Took};

/// How a decision is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// By the state file. What the journal tells up to its moment came before it.
    Kept,
    /// By the journal, with its reason.
    Told,
    /// By the journal, which has not told its reason yet.
    Untold,
    /// Not at all: the limit was met in the journal as one of before.
    Gone,
}

/// A decision, and what has come of it.
pub(super) struct Followed {
    pub decided: Decided,
    pub source: Source,
    pub since: Took,
    /// Missions under another workload.
    pub elsewhere: usize,
}

impl Followed {
    pub fn new(decided: Decided, source: Source) -> Followed {
        Followed {
            decided,
            source,
            since: Took::default(),
            elsewhere: 0,
        }
    }

    /// Whether what happened then came before the decision.
    pub fn is_after(&self, then: Moment) -> bool {
        self.source == Source::Kept && self.decided.at >= then
    }

    /// A mission of a workload has ended under it.
    pub fn see(&mut self, workload: &AccessPattern, took: Took) {
        let decided_for = self.decided.workload.get_or_insert(*workload);
        if decided_for.is_like(workload) {
            self.since.add(took);
        } else {
            self.elsewhere += 1;
        }
    }

    /// Whether all that came of it stands in a journal that is read from a moment on.
    pub fn is_whole(&self, read_from: Option<Moment>) -> bool {
        match self.source {
            Source::Kept => read_from.is_some_and(|from| from <= self.decided.at),
            Source::Told | Source::Untold => true,
            Source::Gone => false,
        }
    }
}
