//! How the learner begins, and what of it is left out, for comparisons.

use std::collections::BTreeSet;
use std::fmt;

use crate::shape::{RunLimit, RunLimits};

/// A part of the learner that a comparison may leave out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Part {
    /// A limit of its own for each level. Without it all levels have the same.
    Levels,
    /// Constants that are about right before anything was seen. Without them every
    /// operation is believed to take the same.
    Prior,
    /// Steps of one, a pause to measure between them, and the way back from limits
    /// that proved worse. Without them the model's best is taken at once.
    Guardrails,
    /// Merging levels for the reads' sake.
    Consolidation,
    /// Steps against the model.
    Trials,
    /// Limits that served a workload when it was last seen.
    Memory,
    /// Costs learned over some missions at once. Without it each mission stands for
    /// itself, though a compaction counts in the mission in which it ends.
    Windows,
    /// Costs compared by their spread. Without it a difference of 5 % is one, however
    /// much missions differ.
    Spread,
    /// A march that begins with a change of the workload, where the model has learned
    /// and promises much. Without it the limits before are measured first, always.
    Haste,
    /// Merges for the reads' sake paid in advance where workloads are known to last.
    Foresight,
    /// Limits chosen for what the runs will meet in their life, as far as they outlive
    /// the present workload. Without it the present alone counts in every level.
    Hedge,
    /// Levels that march one by one after they proved wrong together. Without it each
    /// of them is held for wrong.
    Blame,
}

impl Part {
    /// All parts.
    pub const ALL: [Part; 12] = [
        Part::Levels,
        Part::Prior,
        Part::Guardrails,
        Part::Consolidation,
        Part::Trials,
        Part::Memory,
        Part::Windows,
        Part::Spread,
        Part::Haste,
        Part::Foresight,
        Part::Hedge,
        Part::Blame,
    ];

    /// Its name in policies.
    pub fn name(self) -> &'static str {
        match self {
            Part::Levels => "levels",
            Part::Prior => "prior",
            Part::Guardrails => "guardrails",
            Part::Consolidation => "consolidation",
            Part::Trials => "trials",
            Part::Memory => "memory",
            Part::Windows => "windows",
            Part::Spread => "spread",
            Part::Haste => "haste",
            Part::Foresight => "foresight",
            Part::Hedge => "hedge",
            Part::Blame => "blame",
        }
    }
}

/// How the store's own learner begins, and what it does without.
///
/// Spelled `learned`, `learned-from-4,4,1` (its first limits, as in `fixed-4,4,1`),
/// `learned-without-memory`, `learned-from-4-without-memory+trials`.
#[derive(Clone, PartialEq, Debug)]
pub struct Learning {
    /// The limits before the first mission. Default: 1 everywhere.
    pub start: RunLimits,
    /// Parts that are left out. Default: none.
    pub without: BTreeSet<Part>,
}

impl Default for Learning {
    fn default() -> Learning {
        Learning {
            start: RunLimits::uniform(RunLimit::ONE),
            without: BTreeSet::new(),
        }
    }
}

impl Learning {
    /// The learner with all its parts, which begins with these limits.
    pub fn from_limits(start: RunLimits) -> Learning {
        Learning {
            start,
            ..Learning::default()
        }
    }

    /// Whether a part is there.
    pub fn has(&self, part: Part) -> bool {
        !self.without.contains(&part)
    }

    /// Reads what follows `learned` in a policy's name.
    ///
    /// # Errors
    /// What of it cannot be read.
    pub(crate) fn parse(
        text: &str,
        limits: impl Fn(&str) -> Result<RunLimits, String>,
    ) -> Result<Learning, String> {
        let (from, without) = match text.split_once("-without-") {
            Some((from, without)) => (from, Some(without)),
            None => (text, None),
        };
        let mut learning = Learning::default();
        if let Some(start) = from.strip_prefix("-from-") {
            learning.start = limits(start)?;
        } else if !from.is_empty() {
            return Err(format!("{from:?} is neither -from- nor -without-"));
        }
        for name in without.into_iter().flat_map(|names| names.split('+')) {
            let part = Part::ALL.into_iter().find(|part| part.name() == name);
            let part = part.ok_or_else(|| {
                let names: Vec<_> = Part::ALL.iter().map(|part| part.name()).collect();
                format!("{name:?} is no part of the learner: {}", names.join(", "))
            })?;
            learning.without.insert(part);
        }
        Ok(learning)
    }
}

impl fmt::Display for Learning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("learned")?;
        if self.start != Learning::default().start {
            write!(f, "-from-{}", self.start)?;
        }
        let names: Vec<_> = self.without.iter().map(|part| part.name()).collect();
        if !names.is_empty() {
            write!(f, "-without-{}", names.join("+"))?;
        }
        Ok(())
    }
}
