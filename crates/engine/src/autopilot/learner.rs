//! A tuner behind a fence: when it panics, the limits stay as they are and it is
//! asked no more.

use std::panic::{AssertUnwindSafe, catch_unwind};

use lissom_core::Mission;
use lissom_core::tuner::{Question, Trial, TrialId, Tuner};

pub(super) struct Learner {
    tuner: Box<dyn Tuner>,
    name: String,
    /// The trial that runs, of which the tuner has not been told.
    trial: Option<TrialId>,
    broken: bool,
}

impl Learner {
    pub(super) fn new(tuner: Box<dyn Tuner>) -> Learner {
        let name = catch_unwind(AssertUnwindSafe(|| tuner.name()));
        Learner {
            broken: name.is_err(),
            name: name.unwrap_or_else(|_| "nameless".into()),
            tuner,
            trial: None,
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether it panicked.
    pub(super) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Tells what came of the last trial and asks for the next one.
    ///
    /// # Errors
    /// A sentence, once, when the tuner panicked.
    pub(super) fn ask(
        &mut self,
        question: &Question<'_>,
        outcome: &Mission,
    ) -> Result<Option<Trial>, String> {
        let told = self.trial.take();
        let trial = self.fenced(|tuner| {
            if let Some(trial) = told {
                tuner.tell(trial, outcome);
            }
            tuner.ask(question)
        })?;
        self.trial = trial.as_ref().map(|trial| trial.id);
        Ok(trial)
    }

    /// Gradient steps or other updates so far.
    pub(super) fn steps(&self) -> u64 {
        if self.broken {
            return 0;
        }
        catch_unwind(AssertUnwindSafe(|| self.tuner.steps())).unwrap_or(0)
    }

    /// What it has learned; null when nothing, or when it is broken.
    pub(super) fn state(&mut self) -> serde_json::Value {
        self.fenced(|tuner| tuner.state())
            .ok()
            .flatten()
            .unwrap_or_default()
    }

    /// Takes up what it had learned.
    ///
    /// # Errors
    /// A sentence when it cannot; it then goes on as new.
    pub(super) fn restore(&mut self, state: &serde_json::Value) -> Result<(), String> {
        self.fenced(|tuner| tuner.restore(state))?.unwrap_or(Ok(()))
    }

    fn fenced<T>(&mut self, call: impl FnOnce(&mut dyn Tuner) -> T) -> Result<Option<T>, String> {
        if self.broken {
            return Ok(None);
        }
        let tuner = &mut *self.tuner;
        catch_unwind(AssertUnwindSafe(|| call(tuner)))
            .map(Some)
            .map_err(|_| {
                self.broken = true;
                format!(
                    "the tuner {} panicked: the limits stay as they are until a policy is set",
                    self.name
                )
            })
    }
}
