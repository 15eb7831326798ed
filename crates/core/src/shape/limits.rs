//! Run limits: how many runs each level may hold.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::layout::{Layout, LogicalLevel};

/// The most runs that a policy wants in a level (K_i): 1 is leveling, the size
/// ratio is tiering. Always at least 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "u16", into = "u16")]
pub struct RunLimit(u16);

impl RunLimit {
    /// One run: leveling.
    pub const ONE: RunLimit = RunLimit(1);

    /// A run limit.
    ///
    /// # Errors
    /// 0 is no limit, and a layout holds no more than
    /// [`Layout::max_run_limit`] runs.
    pub fn new(runs: u16) -> Result<RunLimit, IllegalLimit> {
        let max = Layout::V1.max_run_limit();
        if (1..=max).contains(&runs) {
            Ok(RunLimit(runs))
        } else {
            Err(IllegalLimit { runs, max })
        }
    }

    /// The limit nearest to `runs` that the layout can hold.
    pub fn clamped(runs: u16) -> RunLimit {
        RunLimit(runs.clamp(1, Layout::V1.max_run_limit()))
    }

    /// The number of runs.
    pub fn get(self) -> u16 {
        self.0
    }
}

impl fmt::Display for RunLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A run limit outside the layout's bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IllegalLimit {
    /// What was asked for.
    pub runs: u16,
    /// The most that the layout holds.
    pub max: u16,
}

impl fmt::Display for IllegalLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let IllegalLimit { runs, max } = self;
        write!(
            f,
            "a run limit of {runs} cannot be held: choose one from 1 to {max}"
        )
    }
}

impl std::error::Error for IllegalLimit {}

impl TryFrom<u16> for RunLimit {
    type Error = IllegalLimit;

    fn try_from(runs: u16) -> Result<Self, IllegalLimit> {
        RunLimit::new(runs)
    }
}

impl From<RunLimit> for u16 {
    fn from(limit: RunLimit) -> u16 {
        limit.0
    }
}

/// A run limit for every logical level.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RunLimits {
    /// Limits of levels 1, 2, ...
    pub levels: Vec<RunLimit>,
    /// The limit of all deeper levels.
    pub deeper: RunLimit,
}

impl RunLimits {
    /// The same limit everywhere.
    pub fn uniform(limit: RunLimit) -> RunLimits {
        RunLimits {
            levels: Vec::new(),
            deeper: limit,
        }
    }

    /// The limit of a level.
    pub fn get(&self, level: LogicalLevel) -> RunLimit {
        self.levels
            .get(usize::from(level.0).wrapping_sub(1))
            .copied()
            .unwrap_or(self.deeper)
    }

    /// Sets the limit of one level and leaves the others as they are.
    pub fn set(&mut self, level: LogicalLevel, limit: RunLimit) {
        let at = usize::from(level.0).saturating_sub(1);
        if self.levels.len() <= at {
            self.levels.resize(at + 1, self.deeper);
        }
        self.levels[at] = limit;
    }

    /// The levels whose limits differ, shallowest first. The same limits can be spelled in
    /// several ways, so this is what tells them apart, not `==`.
    pub fn differences<'a>(
        &'a self,
        other: &'a RunLimits,
    ) -> impl Iterator<Item = LogicalLevel> + 'a {
        Layout::V1
            .logical_levels()
            .filter(|level| self.get(*level) != other.get(*level))
    }

    /// Whether both mean the same limits, however they are spelled.
    pub fn is_same(&self, other: &RunLimits) -> bool {
        self.differences(other).next().is_none()
    }
}

/// Comma-separated limits of levels 1, 2, ...; the last one holds for all
/// deeper levels.
impl fmt::Display for RunLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for limit in &self.levels {
            write!(f, "{limit},")?;
        }
        write!(f, "{}", self.deeper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_outside_the_layout_are_refused_with_the_bounds() {
        assert!(RunLimit::new(0).is_err());
        let error = RunLimit::new(13).expect_err("above the bound");
        assert_eq!(
            error.to_string(),
            "a run limit of 13 cannot be held: choose one from 1 to 12"
        );
        assert!(serde_json::from_str::<RunLimit>("0").is_err());
    }

    #[test]
    fn setting_a_deep_limit_leaves_the_others() {
        let mut limits = RunLimits::uniform(RunLimit::clamped(4));
        limits.set(LogicalLevel(3), RunLimit::ONE);
        assert_eq!(limits.to_string(), "4,4,1,4");
    }

    #[test]
    fn two_spellings_are_the_same_limits() {
        let uniform = RunLimits::uniform(RunLimit::clamped(4));
        let mut long = uniform.clone();
        long.set(LogicalLevel(3), RunLimit::clamped(4));
        assert!(uniform != long && uniform.is_same(&long));
        long.set(LogicalLevel(3), RunLimit::ONE);
        assert!(!uniform.is_same(&long));
        let differ: Vec<LogicalLevel> = long.differences(&uniform).collect();
        assert_eq!(differ, [LogicalLevel(3)]);
    }
}
