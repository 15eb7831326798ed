//! How many runs? A tuner is asked once after each mission.

mod allowance;
mod chance;
mod check;
mod fixed;
mod lazy_leveling;
mod learned;
mod lerp;
mod policy;
mod step;
mod thresholds;

pub use allowance::{Allowance, MAX_WRITE_AMPLIFICATION};
pub use fixed::Fixed;
pub use lazy_leveling::LazyLeveling;
pub use learned::{EXPLORATION, Learned, Learning, Part};
pub use lerp::Lerp;
pub use policy::{Policy, PolicyError};
pub use thresholds::Thresholds;

use serde::{Deserialize, Serialize};

use crate::layout::LogicalLevel;
use crate::observation::Mission;
use crate::shape::{RunLimits, Shape, Transition};
use crate::tree::Tree;

/// What a tuner sees.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The dimensions of the tree.
    pub shape: &'a Shape,
    /// The manifest.
    pub tree: &'a Tree,
    /// The limits in force.
    pub limits: &'a RunLimits,
    /// Levels whose merge the last answer asked for and the planner refused: too much of it would
    /// be merged at once, or nothing of it can be read.
    pub refused: &'a [LogicalLevel],
    /// The mission that has just ended.
    pub mission: &'a Mission,
}

impl Question<'_> {
    /// Whether limits that were asked for may wait for their levels, while others are in force.
    pub(crate) fn limits_may_wait(&self) -> bool {
        self.shape.transition == Transition::Lazy
    }

    /// The levels whose limit `limits` would change, with a reason for each.
    pub fn changes(&self, limits: &RunLimits, why: impl Fn(LogicalLevel) -> String) -> Vec<Change> {
        limits
            .differences(self.limits)
            .map(|level| Change {
                level,
                why: why(level),
            })
            .collect()
    }
}

/// The most of the missions' time by the clock that a tuner may take, on average; each column
/// family has a tuner of its own. RusKey's figure 13 tells of 0.57 %.
pub const SHARE: f64 = 0.005;

/// Seconds that a tuner may save up: what ten missions of a second earn by [`SHARE`].
pub const AHEAD: f64 = 0.05;

/// Identifies an answer of a tuner.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TrialId(pub u64);

/// An answer: limits for the next mission, and why.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Trial {
    /// Its name in the journal and in [`Tuner::tell`]; 0 where a tuner is asked no more.
    pub id: TrialId,
    /// The limits that should hold from now on.
    pub limits: RunLimits,
    /// One entry for each level whose limit the tuner changes.
    pub changes: Vec<Change>,
    /// Levels whose runs are to become one, whatever their limits are; when nothing more
    /// urgent is to do. A level that has one run keeps it.
    #[serde(default)]
    pub consolidate: Vec<Change>,
    /// Levels whose only run is to go into the next level; when nothing more urgent is to do.
    /// A full level, which is drained anyway, is drained at once, and does not crawl behind
    /// reads. One that has several runs and is not full keeps them, and so does the deepest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub push_down: Vec<Change>,
    /// Levels whose merge by `consolidate` or `push_down` ends with the pieces that run: what
    /// was merged stays so, the rest stays as it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub abandon: Vec<Change>,
    /// Levels whose merge would be in `consolidate` or `push_down` but for
    /// [`Allowance::max_write_amplification`]: each is told once. Nothing follows from it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<Change>,
}

impl Trial {
    /// Limits, and no level that is merged whatever they are.
    pub fn of_limits(id: TrialId, limits: RunLimits, changes: Vec<Change>) -> Trial {
        Trial {
            id,
            limits,
            changes,
            consolidate: Vec::new(),
            push_down: Vec::new(),
            abandon: Vec::new(),
            waits: Vec::new(),
        }
    }

    /// All that it says of merges, with reasons.
    pub fn merges(&self) -> impl Iterator<Item = &Change> {
        let wanted = self.consolidate.iter().chain(&self.push_down);
        wanted.chain(&self.abandon).chain(&self.waits)
    }

    /// What stands in the journal for a tuner that is asked no more: the limits stay.
    pub fn unanswered(limits: RunLimits) -> Trial {
        Trial::of_limits(TrialId(0), limits, Vec::new())
    }
}

/// What a policy without a model of costs says of a change, beside why it makes it.
const NOTHING_EXPECTED: &str = "nothing is expected of it, the policy reckons no costs";

/// A level for which something changes, and why.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Change {
    /// The level.
    pub level: LogicalLevel,
    /// A sentence without a full stop. Of a limit it also tells what is expected, or that
    /// nothing is.
    pub why: String,
}

/// Decides run limits.
///
/// A tuner is deterministic: the same questions give the same trials. The
/// checks in [`crate::testing::tuner_contract`] hold for every tuner.
pub trait Tuner: Send {
    /// The tuner's name, as arms and settings spell it.
    fn name(&self) -> String;

    /// Proposes limits. Exactly one [`Tuner::tell`] follows.
    ///
    /// An answer that [`Trial::check`] refuses is not obeyed, and the tuner is asked no
    /// more. A store lets missions last longer where answers take more than half a percent
    /// of their time.
    fn ask(&mut self, seen: &Question<'_>) -> Trial;

    /// What came of the trial: the mission that ran under it.
    fn tell(&mut self, trial: TrialId, outcome: &Mission);

    /// Gradient steps, or other updates of what it knows, so far; 0 for a tuner that
    /// does not learn.
    fn steps(&self) -> u64 {
        0
    }

    /// Answers so far for which it learned nothing though it could have, to keep to its
    /// share of the time; 0 for a tuner that has no such share.
    fn skipped(&self) -> u64 {
        0
    }

    /// What the tuner has learned, for the state file; `null` when nothing. Only
    /// questions, outcomes and [`Tuner::restore`] change it.
    fn state(&self) -> serde_json::Value {
        serde_json::Value::Null
    }

    /// Takes up what [`Tuner::state`] gave.
    ///
    /// # Errors
    /// A sentence when the value does not come from this kind of tuner; the
    /// tuner then goes on as if it were new.
    fn restore(&mut self, state: &serde_json::Value) -> Result<(), String> {
        if state.is_null() {
            Ok(())
        } else {
            Err(format!("the tuner {} keeps no state", self.name()))
        }
    }
}
