//! Which answers can be obeyed.

use super::{Change, Trial};
use crate::layout::{Layout, LogicalLevel};
use crate::shape::RunLimits;

/// Bytes of a reason. Each is written to the journal.
const LONGEST_REASON: usize = 4_096;

impl Trial {
    /// Whether it speaks of a tree of this layout, in reasons that one can read, and gives
    /// one for each level whose limit is not the present one. Whoever obeys it checks it
    /// first; any limits that it names are legal by their type.
    ///
    /// Each of its lists has at most one entry for each level of a tree, and a reason has at
    /// most 4,096 bytes.
    ///
    /// # Errors
    /// What cannot be obeyed, without a full stop.
    pub fn check(&self, layout: &Layout, present: &RunLimits) -> Result<(), String> {
        let levels = usize::from(layout.levels);
        if self.limits.levels.len() > levels {
            return Err(format!(
                "it sets limits for {} levels, where a tree has {levels}",
                self.limits.levels.len()
            ));
        }
        for list in [
            &self.changes,
            &self.consolidate,
            &self.push_down,
            &self.abandon,
            &self.waits,
        ] {
            check_list(list, layout)?;
        }
        self.check_said(present)
    }

    /// Whether each change of a limit has its reason.
    fn check_said(&self, present: &RunLimits) -> Result<(), String> {
        let said = |level: &LogicalLevel| self.changes.iter().any(|it| it.level == *level);
        let unsaid = self.limits.differences(present).find(|level| !said(level));
        match unsaid {
            None => Ok(()),
            Some(level) => Err(format!("it changes the limit of {level} without a reason")),
        }
    }
}

fn check_list(list: &[Change], layout: &Layout) -> Result<(), String> {
    if list.len() > usize::from(layout.levels) {
        return Err(format!(
            "it asks for {} things at once, where a tree has {} levels",
            list.len(),
            layout.levels
        ));
    }
    list.iter().try_for_each(|it| check_change(it, layout))
}

fn check_change(change: &Change, layout: &Layout) -> Result<(), String> {
    let Change { level, why } = change;
    if !(1..=layout.levels).contains(&level.0) {
        return Err(format!(
            "it asks for something of {level}, where a tree has {} levels",
            layout.levels
        ));
    }
    if why.trim().is_empty() {
        return Err(format!("its reason for {level} is empty"));
    }
    if why.len() > LONGEST_REASON {
        return Err(format!(
            "its reason for {level} has {} bytes, of which the journal takes {LONGEST_REASON}",
            why.len()
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::LogicalLevel;
    use crate::shape::RunLimit;
    use crate::tuner::TrialId;

    fn one() -> RunLimits {
        RunLimits::uniform(RunLimit::ONE)
    }

    /// One that keeps a limit of 1 everywhere.
    fn trial() -> Trial {
        Trial::of_limits(TrialId(1), one(), Vec::new())
    }

    fn change(level: u16, why: &str) -> Change {
        Change {
            level: LogicalLevel(level),
            why: why.into(),
        }
    }

    /// What is said of an answer where the limit is 1 everywhere.
    fn refused(trial: &Trial) -> String {
        let checked = trial.check(&Layout::V1, &one());
        checked.expect_err("not to be obeyed")
    }

    /// The same entries in each of the five lists.
    fn in_each_list(list: &[Change]) -> [Trial; 5] {
        let [mut changes, mut merges, mut lower, mut ends, mut waits] = [(); 5].map(|()| trial());
        changes.changes = list.to_vec();
        merges.consolidate = list.to_vec();
        lower.push_down = list.to_vec();
        ends.abandon = list.to_vec();
        waits.waits = list.to_vec();
        [changes, merges, lower, ends, waits]
    }

    #[test]
    fn answers_about_levels_that_there_are_can_be_obeyed() {
        let mut trial = trial();
        for level in Layout::V1.logical_levels() {
            trial.limits.set(level, RunLimit::clamped(7));
            let why = "y".repeat(LONGEST_REASON);
            for list in [
                &mut trial.changes,
                &mut trial.consolidate,
                &mut trial.push_down,
                &mut trial.abandon,
                &mut trial.waits,
            ] {
                let why = why.clone();
                list.push(Change { level, why });
            }
        }
        assert_eq!(trial.check(&Layout::V1, &one()), Ok(()));
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
            let said =
                format!("it asks for something of level {level}, where a tree has 12 levels");
            for trial in in_each_list(&[change(level, "none")]) {
                assert_eq!(refused(&trial), said);
            }
        }
    }

    #[test]
    fn a_reason_that_would_fill_the_journal_is_refused() {
        for trial in in_each_list(&[change(2, &"y".repeat(LONGEST_REASON + 1))]) {
            assert_eq!(
                refused(&trial),
                "its reason for level 2 has 4097 bytes, of which the journal takes 4096"
            );
        }
    }

    #[test]
    fn a_reason_without_a_word_is_none() {
        for why in ["", " \n"] {
            for trial in in_each_list(&[change(3, why)]) {
                assert_eq!(refused(&trial), "its reason for level 3 is empty");
            }
        }
    }

    #[test]
    fn more_entries_than_levels_are_refused() {
        let thirteen: Vec<Change> = (0..13).map(|_| change(1, "again")).collect();
        for trial in in_each_list(&thirteen) {
            assert_eq!(
                refused(&trial),
                "it asks for 13 things at once, where a tree has 12 levels"
            );
        }
    }

    #[test]
    fn a_limit_that_changes_without_a_reason_is_refused() {
        let mut trial = trial();
        trial.limits.set(LogicalLevel(2), RunLimit::clamped(4));
        let said = "it changes the limit of level 2 without a reason";
        assert_eq!(refused(&trial), said);
        trial.changes.push(change(1, "another level's"));
        assert_eq!(refused(&trial), said);
        trial.changes.push(change(2, "its own"));
        assert_eq!(trial.check(&Layout::V1, &one()), Ok(()));
        let held = trial.limits.clone();
        trial.changes.clear();
        assert_eq!(trial.check(&Layout::V1, &held), Ok(()), "nothing changes");
    }
}
