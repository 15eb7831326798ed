//! Which answers can be obeyed.

use super::Trial;
use crate::layout::Layout;

/// Bytes of a reason. Each is written to the journal.
const LONGEST_REASON: usize = 4_096;

impl Trial {
    /// Whether it speaks of a tree of this layout, in reasons that one can read. Whoever
    /// obeys it checks it first; any limits that it names are legal by their type.
    ///
    /// # Errors
    /// What cannot be obeyed, without a full stop.
    pub fn check(&self, layout: &Layout) -> Result<(), String> {
        let levels = usize::from(layout.levels);
        if self.limits.levels.len() > levels {
            return Err(format!(
                "it sets limits for {} levels, where a tree has {levels}",
                self.limits.levels.len()
            ));
        }
        let merges = self.consolidate.iter().chain(&self.abandon);
        for change in self.changes.iter().chain(merges) {
            if !(1..=layout.levels).contains(&change.level.0) {
                return Err(format!(
                    "it asks for something of {}, where a tree has {levels} levels",
                    change.level
                ));
            }
            if change.why.len() > LONGEST_REASON {
                return Err(format!(
                    "its reason for {} has {} bytes, of which the journal takes {LONGEST_REASON}",
                    change.level,
                    change.why.len()
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::LogicalLevel;
    use crate::shape::{RunLimit, RunLimits};
    use crate::tuner::{Change, TrialId};

    fn trial() -> Trial {
        let limits = RunLimits::uniform(RunLimit::ONE);
        Trial::of_limits(TrialId(1), limits, Vec::new())
    }

    fn refused(trial: &Trial) -> String {
        trial.check(&Layout::V1).expect_err("not to be obeyed")
    }

    #[test]
    fn answers_about_levels_that_there_are_can_be_obeyed() {
        let mut trial = trial();
        for level in Layout::V1.logical_levels() {
            trial.limits.set(level, RunLimit::clamped(7));
            let why = "y".repeat(LONGEST_REASON);
            trial.abandon.push(Change { level, why });
        }
        assert_eq!(trial.check(&Layout::V1), Ok(()));
    }

    #[test]
    fn levels_that_no_tree_has_are_named() {
        let mut limits = trial();
        limits.limits.set(LogicalLevel(13), RunLimit::ONE);
        assert_eq!(
            refused(&limits),
            "it sets limits for 13 levels, where a tree has 12"
        );
        for level in [0, 13, u16::MAX] {
            let change = Change {
                level: LogicalLevel(level),
                why: "none".into(),
            };
            let said =
                format!("it asks for something of level {level}, where a tree has 12 levels");
            let (mut changes, mut merges, mut ends) = (trial(), trial(), trial());
            changes.changes.push(change.clone());
            merges.consolidate.push(change.clone());
            ends.abandon.push(change);
            for trial in [changes, merges, ends] {
                assert_eq!(refused(&trial), said);
            }
        }
    }

    #[test]
    fn a_reason_that_would_fill_the_journal_is_refused() {
        let mut trial = trial();
        trial.changes.push(Change {
            level: LogicalLevel(2),
            why: "y".repeat(LONGEST_REASON + 1),
        });
        assert_eq!(
            refused(&trial),
            "its reason for level 2 has 4097 bytes, of which the journal takes 4096"
        );
    }
}
