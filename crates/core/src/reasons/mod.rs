//! Why each level has its run limit: the last decision on it, and what it is judged by.
//!
//! The store keeps them beside the limits, for the beginning of a journal is rotated away.

mod recent;
#[cfg(test)]
mod tests;

pub use recent::{Recent, Took, measured};

use serde::{Deserialize, Serialize};

use crate::cost_model::AccessPattern;
use crate::journal::Moment;
use crate::layout::{Layout, LogicalLevel};
use crate::observation::Mission;
use crate::shape::{RunLimit, RunLimits};
use crate::tuner::Trial;

/// The reason of a limit that a tuner changed without one.
pub const NOT_GIVEN: &str = "the tuner gave no reason";

/// The last decision on a level's run limit.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Decided {
    /// The level.
    pub level: LogicalLevel,
    /// Its limit since.
    pub limit: RunLimit,
    /// Its limit before; absent where there was none, or nobody tells.
    pub before: Option<RunLimit>,
    /// When.
    pub at: Moment,
    /// Why, and what was expected, as the tuner said.
    pub why: String,
    /// The workload that it was decided for: that of the mission before.
    pub workload: Option<AccessPattern>,
    /// Seconds that an operation took on average in the missions before under that
    /// workload, where there were any.
    pub took_before: Option<f64>,
}

/// The decisions that lie in a change of limits: one for each level whose limit is not the
/// one before.
pub fn decided(
    before: impl Fn(LogicalLevel) -> Option<RunLimit>,
    limits: &RunLimits,
    at: Moment,
    recent: &Recent,
    why: impl Fn(LogicalLevel) -> String,
) -> Vec<Decided> {
    let workload = recent.workload();
    let took_before = workload.and_then(|workload| recent.took_under(&workload));
    let changed = |level: &LogicalLevel| before(*level) != Some(limits.get(*level));
    let decide = |level: LogicalLevel| Decided {
        level,
        limit: limits.get(level),
        before: before(level),
        at,
        why: why(level),
        workload,
        took_before,
    };
    let levels = Layout::V1.logical_levels();
    levels.filter(changed).map(decide).collect()
}

/// What a tuner says of a level whose limit it changes.
pub fn said(answer: &Trial, level: LogicalLevel) -> Option<String> {
    let change = answer.changes.iter().find(|change| change.level == level);
    change.map(|change| change.why.clone())
}

/// The last decision on each level, while limits change.
#[derive(Clone, Debug)]
pub struct Reasons {
    /// The limits that were decided last; none before the first.
    limits: Option<RunLimits>,
    decided: Vec<Decided>,
    recent: Recent,
    /// A tuner's answer that is followed.
    answer: Option<Trial>,
    /// Why limits come that no tuner chooses.
    other: Option<String>,
}

impl Reasons {
    /// Goes on with the limits and the decisions that were kept. Without limits all levels
    /// have theirs anew.
    pub fn new(limits: Option<RunLimits>, kept: Vec<Decided>) -> Reasons {
        Reasons {
            limits,
            decided: kept,
            recent: Recent::default(),
            answer: None,
            other: None,
        }
    }

    /// By level. A level has none while its limit is older than what was kept.
    pub fn decided(&self) -> &[Decided] {
        &self.decided
    }

    /// A mission has ended, and the tuner has answered. What it answers while the limits
    /// are pinned is no reason for any.
    pub fn hear(&mut self, mission: &Mission, answer: &Trial, pinned: bool) {
        self.recent.see(mission);
        self.answer = (!pinned).then(|| answer.clone());
    }

    /// Why limits come from now on that no tuner chooses.
    pub fn because(&mut self, why: Option<String>) {
        self.other = why;
    }

    /// These limits are decided. Returns the reason of those that no tuner gave one for,
    /// if limits of before changed so.
    pub fn take_up(&mut self, limits: &RunLimits, at: Moment) -> Option<String> {
        let answer = self.answer.take();
        if self.limits.as_ref() == Some(limits) {
            return None;
        }
        let answered = |level| obeyed(answer.as_ref()?, limits, level);
        let otherwise = self.otherwise(answer.as_ref(), limits);
        let before = |level| self.limits.as_ref().map(|before| before.get(level));
        let why = |level| answered(level).unwrap_or_else(|| otherwise.clone());
        let new = decided(before, limits, at, &self.recent, why);
        let told = self.limits.is_none() || new.iter().all(|it| answered(it.level).is_some());
        let is_new = |level: LogicalLevel| new.iter().any(|it| it.level == level);
        self.decided.retain(|old| !is_new(old.level));
        self.decided.extend(new);
        self.decided.sort_by_key(|it| it.level);
        self.limits = Some(limits.clone());
        (!told).then_some(otherwise)
    }

    fn otherwise(&self, answer: Option<&Trial>, limits: &RunLimits) -> String {
        match &self.other {
            Some(why) => why.clone(),
            None if answer.is_some_and(|answer| answer.limits == *limits) => NOT_GIVEN.into(),
            None => "no reason was told".into(),
        }
    }
}

/// The tuner's reason for a level that has the limit which it wants.
fn obeyed(answer: &Trial, limits: &RunLimits, level: LogicalLevel) -> Option<String> {
    let has_it = answer.limits.get(level) == limits.get(level);
    said(answer, level).filter(|_| has_it)
}
