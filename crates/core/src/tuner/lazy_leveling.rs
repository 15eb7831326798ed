//! Lazy leveling (Dostoevsky): many runs above, one run in the largest level.

use super::{NOTHING_EXPECTED, Question, Trial, TrialId, Tuner};
use crate::observation::Mission;
use crate::shape::{RunLimit, RunLimits};

/// As many runs as the size ratio in every level but the deepest, which holds
/// one. Follows the tree as it gets deeper.
#[derive(Clone, Debug, Default)]
pub struct LazyLeveling {
    asked: u64,
}

impl LazyLeveling {
    /// The limits for a tree with these dimensions and this depth.
    pub fn limits(seen: &Question<'_>) -> RunLimits {
        let many = RunLimit::clamped(seen.shape.size_ratio.try_into().unwrap_or(u16::MAX));
        let mut limits = RunLimits::uniform(many);
        if let Some(deepest) = seen.tree.deepest_occupied(&seen.shape.layout) {
            limits.set(deepest, RunLimit::ONE);
        }
        limits
    }
}

impl Tuner for LazyLeveling {
    fn name(&self) -> String {
        "lazy-leveling".into()
    }

    fn ask(&mut self, seen: &Question<'_>) -> Trial {
        self.asked += 1;
        let limits = Self::limits(seen);
        let changes = seen.changes(&limits, |level| {
            let why = match limits.get(level) {
                RunLimit::ONE => "the largest level keeps one run",
                _ => "it is above the largest level",
            };
            format!("{why}; {NOTHING_EXPECTED}")
        });
        Trial::of_limits(TrialId(self.asked), limits, changes)
    }

    fn tell(&mut self, _trial: TrialId, _outcome: &Mission) {}
}
