//! What is kept over a restart.

use serde::{Deserialize, Serialize};

use super::Learned;
use super::consolidate::Credit;
use super::cost::Cost;
use super::learning::Part;
use super::lengths::Lengths;
use super::memory::Memory;
use crate::cost_model::AccessPattern;
use crate::layout::Layout;
use crate::shape::RunLimits;

#[derive(Serialize, Deserialize)]
struct Kept {
    cost: Cost,
    memory: Memory,
    trials: u64,
    /// The limits before a trial that runs, or those that were left unmeasured for others
    /// that are not measured yet. After a restart nobody could tell whether they were worse:
    /// measurements are not kept, for caches are cold then.
    undo: Option<RunLimits>,
    /// Those that hold meanwhile; where others do, nothing is to be undone. Older programs
    /// do not tell.
    #[serde(default)]
    unproved: Option<RunLimits>,
    #[serde(default)]
    lengths: Lengths,
    /// What merges for the reads' sake may write. Absent where nothing bounds them, and older
    /// programs do not tell: then nothing is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    credit: Option<Credit>,
}

/// Whether these are limits of levels that there are, as in a state file they may not be.
pub(super) fn of_a_tree(limits: &RunLimits) -> bool {
    limits.levels.len() <= usize::from(Layout::V1.levels)
}

impl Learned {
    /// What is kept; null if it cannot be told.
    pub(super) fn kept(&self) -> serde_json::Value {
        let (undo, unproved) = self.to_undo();
        let kept = Kept {
            cost: self.cost.clone(),
            memory: self.memory_with_present(),
            trials: self.trials,
            undo: undo.cloned(),
            unproved: unproved.cloned(),
            lengths: self.lengths,
            credit: self.budget.credit(),
        };
        serde_json::to_value(kept).unwrap_or_default()
    }

    /// Where to go if the store is closed now, and the limits that have not proved
    /// themselves.
    fn to_undo(&self) -> (Option<&RunLimits>, Option<&RunLimits>) {
        if self.undo.is_some() {
            return (self.undo.as_ref(), self.unproved.as_ref());
        }
        if let Some(owed) = &self.owed {
            return (Some(&owed.to), Some(&owed.from));
        }
        let before_trial = self.tried.as_ref().map(|tried| &tried.back);
        let undo = before_trial.or_else(|| self.phase.unproved());
        (undo, self.answered.as_ref().filter(|_| undo.is_some()))
    }

    /// Takes up what was kept.
    ///
    /// # Errors
    /// When it is nothing that a learner has kept.
    pub(super) fn take_up(&mut self, state: &serde_json::Value) -> Result<(), String> {
        if state.is_null() {
            return Ok(());
        }
        let kept: Kept = serde_json::from_value(state.clone())
            .map_err(|error| format!("what learned had learned cannot be read: {error}"))?;
        let sound = [
            kept.cost.is_sound(),
            kept.memory.is_sound(),
            kept.lengths.is_sound(),
            kept.credit.is_none_or(|credit| credit.is_sound()),
            kept.undo.as_ref().is_none_or(of_a_tree),
            kept.unproved.as_ref().is_none_or(of_a_tree),
        ];
        if sound.contains(&false) {
            return Err("what learned had learned holds numbers that cannot be".into());
        }
        self.cost = kept
            .cost
            .translated()
            .believing(self.learning.has(Part::Prior))
            .blurring(self.learning.has(Part::Windows))
            .hedging(self.learning.has(Part::Hedge));
        self.memory = kept.memory;
        self.trials = kept.trials;
        self.undo = kept.undo;
        self.unproved = kept.unproved;
        self.lengths = kept.lengths;
        self.budget = self.budget.with_credit(kept.credit);
        Ok(())
    }

    /// The memory, with the present workload.
    pub(super) fn memory_with_present(&self) -> Memory {
        self.memory_with(self.present.pattern)
    }

    /// The memory, with the workload of the present phase if its limits have held, are the
    /// learner's own and have proved themselves. Where it is remembered already, its bars are in
    /// any case, for they run out by its missions.
    pub(super) fn memory_with(&self, pattern: Option<AccessPattern>) -> Memory {
        let mut memory = self.memory.clone();
        let Some(pattern) = pattern else {
            return memory;
        };
        let before_trial = self.tried.as_ref().map(|tried| &tried.back);
        let left = |limits: &&RunLimits| {
            let owed = self.owed.as_ref();
            owed.is_some_and(|owed| owed.from.is_same(limits))
        };
        let settled = self.phase.settled().filter(|limits| !left(limits));
        let proved = settled.filter(|_| self.phase.unproved().is_none());
        let served = before_trial.or(proved);
        let imposed = |limits: &RunLimits| {
            let imposed = self.imposed.as_ref();
            imposed.is_some_and(|imposed| imposed.is_same(limits))
        };
        let served = served.filter(|limits| !imposed(limits));
        let bars = self.phase.bars.all();
        match served {
            Some(limits) => memory.keep(pattern, self.data, limits, bars),
            None if !bars.is_empty() => memory.renew(&pattern, self.data, bars),
            None => {}
        }
        memory.march_one_by_one(&pattern, self.data, self.phase.one_by_one);
        memory
    }
}
