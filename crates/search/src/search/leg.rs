//! What runs from one time point to the next, and what the end of the time leaves of it.

use serde::{Deserialize, Serialize};

use super::{Search, TrialId};

/// Trials that run on together.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Leg {
    trials: Vec<TrialId>,
    /// The point that they run to.
    until: f64,
}

/// What the end of the time has cut off.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct CutOff {
    /// Trials that were to run on, since they were the better ones.
    pub trials: usize,
    /// Those of them that did not come so far; at least 1.
    pub short: usize,
    /// Seconds of running until which they were to run.
    pub until: f64,
}

impl Search {
    /// What runs to a time point, counted from 0.
    pub(super) fn leg_to(&self, place: usize) -> Option<Leg> {
        let until = self.point(Some(place))?;
        let live = self.trials.iter().filter(|it| it.is_live());
        let trials = live.map(|it| it.id).collect();
        Some(Leg { trials, until })
    }

    /// What the end of the time has cut off after trials were compared; `None` if nothing
    /// was, or before the end.
    pub fn cut_off(&self) -> Option<CutOff> {
        let leg = self.last_leg.as_ref()?;
        let trials = leg.trials.iter().filter_map(|it| self.trial(*it));
        let short = trials.filter(|it| !it.has_reached(leg.until)).count();
        (short > 0).then_some(CutOff {
            trials: leg.trials.len(),
            short,
            until: leg.until,
        })
    }
}
