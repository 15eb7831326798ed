//! What is kept over a restart.

use serde::{Deserialize, Serialize};

use super::cost::Cost;
use super::learning::Part;
use super::lengths::Lengths;
use super::memory::{Memory, Shares};
use super::{Learned, phase};
use crate::shape::RunLimits;

#[derive(Serialize, Deserialize)]
struct Kept {
    cost: Cost,
    memory: Memory,
    trials: u64,
    /// Where a trial that runs began.
    undo: Option<RunLimits>,
    #[serde(default)]
    lengths: Lengths,
}

impl Learned {
    /// What is kept; null if it cannot be told.
    pub(super) fn kept(&self) -> serde_json::Value {
        let kept = Kept {
            cost: self.cost.clone(),
            memory: self.memory_with_present(),
            trials: self.trials,
            undo: self.tried.as_ref().map(|tried| tried.back.clone()),
            lengths: self.lengths,
        };
        serde_json::to_value(kept).unwrap_or_default()
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
        ];
        if sound.contains(&false) {
            return Err("what learned had learned holds numbers that cannot be".into());
        }
        self.cost = kept
            .cost
            .believing(self.learning.has(Part::Prior))
            .blurring(self.learning.has(Part::Windows))
            .hedging(self.learning.has(Part::Hedge));
        self.memory = kept.memory;
        self.trials = kept.trials;
        self.undo = kept.undo;
        self.lengths = kept.lengths;
        Ok(())
    }

    /// The memory, with the present workload.
    pub(super) fn memory_with_present(&self) -> Memory {
        self.memory_with(self.present.shares)
    }

    /// The memory, with the workload of the present phase if its limits have held and are
    /// the learner's own.
    pub(super) fn memory_with(&self, workload: Option<Shares>) -> Memory {
        let mut memory = self.memory.clone();
        let before_trial = self.tried.as_ref().map(|tried| &tried.back);
        let served = before_trial.or(self.phase.settled());
        let imposed = |limits: &RunLimits| {
            let imposed = self.imposed.as_ref();
            imposed.is_some_and(|imposed| phase::same(imposed, limits))
        };
        let served = served.filter(|limits| !imposed(limits));
        if let (Some(shares), Some(limits)) = (workload, served) {
            let bars = self.phase.bars().cloned().collect();
            memory.keep(shares, self.data, limits, bars);
        }
        memory
    }
}
