//! What is chosen: size ratio, filters, run limits.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{ModelError, System};
use crate::layout::{Layout, LogicalLevel};
use crate::shape::{RunLimit, RunLimits};

/// How many runs the levels may hold (the published pi, and more).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunPolicy {
    /// One run in each level.
    Leveling,
    /// T - 1 runs in each level: a T-th one makes the level full, so it never
    /// rests there.
    Tiering,
    /// T - 1 runs in each level, one in the largest (Dostoevsky).
    LazyLeveling,
    /// A limit for each level. One above T - 1 counts as T - 1.
    Limits(RunLimits),
}

impl RunPolicy {
    /// Runs in a level (K_i) of a tree with this many levels and this size
    /// ratio.
    pub fn runs(&self, level: usize, levels: usize, size_ratio: f64) -> f64 {
        let many = (size_ratio - 1.0).max(1.0);
        match self {
            RunPolicy::Leveling => 1.0,
            RunPolicy::Tiering => many,
            RunPolicy::LazyLeveling if level < levels => many,
            RunPolicy::LazyLeveling => 1.0,
            RunPolicy::Limits(limits) => {
                let level = LogicalLevel(u16::try_from(level).unwrap_or(u16::MAX));
                f64::from(limits.get(level).get()).min(many)
            }
        }
    }
}

impl fmt::Display for RunPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunPolicy::Leveling => f.write_str("leveling"),
            RunPolicy::Tiering => f.write_str("tiering"),
            RunPolicy::LazyLeveling => f.write_str("lazy leveling"),
            RunPolicy::Limits(limits) => write!(f, "run limits {limits}"),
        }
    }
}

/// A choice of all that is free (Phi).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Tuning {
    /// Capacity of a level over that of the level above (T), 2 to 100. The
    /// model takes fractions, the tree whole numbers.
    pub size_ratio: f64,
    /// Filter bits per entry, as a mean over all entries (m_filt / N). What
    /// they leave of the memory is the write buffer.
    pub filter_bits_per_entry: f64,
    /// Run limits.
    pub policy: RunPolicy,
}

impl Tuning {
    /// Size ratios that can be chosen.
    pub const SIZE_RATIOS: (f64, f64) = (2.0, 100.0);

    /// Whether a system can be tuned so.
    pub(super) fn check(&self, system: &System) -> Result<(), ModelError> {
        let (least, most) = Self::SIZE_RATIOS;
        if !(least..=most).contains(&self.size_ratio) {
            return Err(ModelError::new(format!(
                "a size ratio of {} is not possible: choose one from {least} to {most}",
                self.size_ratio
            )));
        }
        // A bound that was computed may come back a rounding error larger.
        let bits = self.filter_bits_per_entry;
        let most = system.most_filter_bits();
        if !(bits >= 0.0 && bits <= most * (1.0 + 1e-12)) {
            return Err(ModelError::new(format!(
                "{bits} filter bits per entry leave no write buffer in the memory: choose from 0 to {most:.3}"
            )));
        }
        Ok(())
    }

    /// The limits that make this tuning of a tree with so many levels, or why
    /// the tree cannot hold it and the tuning is for the model only.
    ///
    /// # Errors
    /// A sentence: the size ratio is no whole number, there are more levels
    /// than the layout has, or more runs in one.
    pub fn run_limits(&self, levels: usize) -> Result<RunLimits, ModelError> {
        let layout = Layout::V1;
        if self.size_ratio.fract() != 0.0 {
            return Err(ModelError::new(format!(
                "the tree takes whole size ratios, not {:.2}",
                self.size_ratio
            )));
        }
        if levels > usize::from(layout.levels) {
            return Err(ModelError::new(format!(
                "{levels} levels are more than the {} that the tree has",
                layout.levels
            )));
        }
        let many = RunLimit::new(self.size_ratio as u16);
        match &self.policy {
            RunPolicy::Leveling => Ok(RunLimits::uniform(RunLimit::ONE)),
            RunPolicy::Limits(limits) => Ok(limits.clone()),
            RunPolicy::Tiering | RunPolicy::LazyLeveling => {
                let many = many.map_err(|error| ModelError::new(error.to_string()))?;
                let mut limits = RunLimits::uniform(many);
                if self.policy == RunPolicy::LazyLeveling {
                    limits.set(LogicalLevel(levels as u16), RunLimit::ONE);
                }
                Ok(limits)
            }
        }
    }
}

impl fmt::Display for Tuning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "size ratio {}, {:.1} filter bits per entry, {}",
            Ratio(self.size_ratio),
            self.filter_bits_per_entry,
            self.policy
        )
    }
}

/// A size ratio: whole if it is, else with one digit.
pub(crate) struct Ratio(pub f64);

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.fract() == 0.0 {
            write!(f, "{}", self.0)
        } else {
            write!(f, "{:.1}", self.0)
        }
    }
}
