//! A tuner behind a fence: it has a thread of its own, and when it panics, does not answer
//! or answers what cannot be obeyed, the limits stay as they are and it is asked no more.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use lissom_core::tuner::{Question, Trial, TrialId, Tuner};

/// How long an answer may take: thousands of times as long as any of ours needs, for the
/// planner thread waits for it.
const PATIENCE: Duration = Duration::from_secs(5);

type Call = Box<dyn FnOnce(&mut dyn Tuner) + Send>;

pub(super) struct Learner {
    /// To the tuner's thread, which ends when this is dropped. `None` once it is broken: a
    /// thread that hangs is left to itself.
    calls: Option<Sender<Call>>,
    patience: Duration,
    name: String,
    /// The trial that runs, of which the tuner has not been told.
    trial: Option<TrialId>,
    /// How it broke, until somebody was told.
    broke: Option<String>,
    /// What it last said that it had learned.
    learned: serde_json::Value,
}

impl Learner {
    pub(super) fn new(tuner: Box<dyn Tuner>) -> Learner {
        Learner::with_patience(tuner, PATIENCE)
    }

    fn with_patience(tuner: Box<dyn Tuner>, patience: Duration) -> Learner {
        let mut learner = Learner {
            calls: start(tuner),
            patience,
            name: "nameless".into(),
            trial: None,
            broke: None,
            learned: serde_json::Value::Null,
        };
        if learner.is_broken() {
            let sentence = "the tuner was given no thread: the limits stay as they are until a \
                            policy is set";
            learner.broke = Some(sentence.into());
        }
        if let Ok(Some(name)) = learner.fenced(|tuner| tuner.name()) {
            learner.name = name;
        }
        learner
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether it panicked, did not answer, or answered what cannot be obeyed.
    pub(super) fn is_broken(&self) -> bool {
        self.calls.is_none()
    }

    /// Tells what came of the last trial, which is the mission of the question, and asks
    /// for the next one.
    ///
    /// # Errors
    /// A sentence, once, when the tuner panicked or did not answer, to this call or to
    /// another one before it, and when its answer cannot be obeyed.
    pub(super) fn ask(&mut self, question: &Question<'_>) -> Result<Option<Trial>, String> {
        if self.is_broken() {
            return self.broke.take().map_or(Ok(None), Err);
        }
        let told = self.trial.take();
        let (shape, tree) = (question.shape.clone(), question.tree.clone());
        let (limits, mission) = (question.limits.clone(), question.mission.clone());
        let answer = self.fenced(move |tuner| {
            if let Some(trial) = told {
                tuner.tell(trial, &mission);
            }
            tuner.ask(&Question {
                shape: &shape,
                tree: &tree,
                limits: &limits,
                mission: &mission,
            })
        });
        let trial = answer.inspect_err(|_| self.broke = None)?;
        if let Some(trial) = &trial
            && let Err(why) = trial.check(&question.shape.layout)
        {
            return Err(self.give_up(&format!("gave an answer that cannot be obeyed ({why})")));
        }
        self.trial = trial.as_ref().map(|trial| trial.id);
        Ok(trial)
    }

    /// Gradient steps or other updates so far.
    pub(super) fn steps(&mut self) -> u64 {
        let steps = self.fenced(|tuner| tuner.steps());
        steps.ok().flatten().unwrap_or(0)
    }

    /// What it has learned; of a broken one, what it last said. Null when nothing.
    pub(super) fn state(&mut self) -> serde_json::Value {
        if let Ok(Some(state)) = self.fenced(|tuner| tuner.state()) {
            self.learned = state;
        }
        self.learned.clone()
    }

    /// Takes up what it had learned.
    ///
    /// # Errors
    /// A sentence when it cannot; it then goes on as new.
    pub(super) fn restore(&mut self, state: &serde_json::Value) -> Result<(), String> {
        self.learned = state.clone();
        let state = state.clone();
        let restored = self.fenced(move |tuner| tuner.restore(&state));
        restored
            .inspect_err(|_| self.broke = None)?
            .unwrap_or(Ok(()))
    }

    /// What the tuner answers to a call; nothing once it is broken.
    fn fenced<T: Send + 'static>(
        &mut self,
        call: impl FnOnce(&mut dyn Tuner) -> T + Send + 'static,
    ) -> Result<Option<T>, String> {
        let Some(calls) = &self.calls else {
            return Ok(None);
        };
        let (answer, answers) = mpsc::channel();
        // Whoever has lost patience hears no answer, and a thread that has ended none comes from.
        let ask = move |tuner: &mut dyn Tuner| answer.send(call(tuner)).unwrap_or_default();
        calls.send(Box::new(ask)).unwrap_or_default();
        let what = match answers.recv_timeout(self.patience) {
            Ok(answer) => return Ok(Some(answer)),
            Err(RecvTimeoutError::Disconnected) => "panicked".to_owned(),
            Err(RecvTimeoutError::Timeout) => format!("did not answer in {:?}", self.patience),
        };
        let sentence = self.give_up(&what);
        self.broke = Some(sentence.clone());
        Err(sentence)
    }

    /// Asks it no more. Returns the sentence that says so.
    fn give_up(&mut self, what: &str) -> String {
        self.calls = None;
        format!(
            "the tuner {} {what}: the limits stay as they are until a policy is set",
            self.name
        )
    }
}

/// The tuner's thread, which carries out calls until nobody can send any. Without a thread
/// the tuner counts as broken.
fn start(mut tuner: Box<dyn Tuner>) -> Option<Sender<Call>> {
    let (calls, received) = mpsc::channel::<Call>();
    let work = move || {
        for call in received {
            call(&mut *tuner);
        }
    };
    let thread = thread::Builder::new().name("lissom-tuner".into());
    thread.spawn(work).is_ok().then_some(calls)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::Receiver;

    use lissom_core::tuner::Change;
    use lissom_core::{LogicalLevel, Mission, RunLimit, RunLimits, Tree};

    use super::*;
    use crate::Settings;

    /// A mission in which nothing happened, over an empty tree.
    fn ask_of_nothing(learner: &mut Learner) -> Result<Option<Trial>, String> {
        learner.ask(&Question {
            shape: &Settings::default().shape(),
            tree: &Tree::default(),
            limits: &RunLimits::uniform(RunLimit::ONE),
            mission: &Mission::default(),
        })
    }

    /// Answers the first question; at the second it waits until it may go on.
    struct Hanging(Receiver<()>, u64);

    impl Tuner for Hanging {
        fn name(&self) -> String {
            "hanging".into()
        }

        fn ask(&mut self, seen: &Question<'_>) -> Trial {
            self.1 += 1;
            if self.1 > 1 {
                self.0.recv().expect("it may go on");
            }
            Trial::of_limits(TrialId(self.1), seen.limits.clone(), Vec::new())
        }

        fn tell(&mut self, _: TrialId, _: &Mission) {}
    }

    #[test]
    fn a_tuner_that_hangs_is_asked_no_more() {
        let (go_on, held) = mpsc::channel();
        let mut learner =
            Learner::with_patience(Box::new(Hanging(held, 0)), Duration::from_millis(50));
        let mut ask = || ask_of_nothing(&mut learner);
        assert!(ask().expect("an answer").is_some());
        let sentence = ask().expect_err("no answer");
        assert_eq!(
            sentence,
            "the tuner hanging did not answer in 50ms: the limits stay as they are until a \
             policy is set"
        );
        go_on.send(()).expect("it waits still");
        assert_eq!(ask(), Ok(None), "it is not asked again");
        assert!(learner.is_broken());
        assert!(learner.state().is_null());
    }

    /// Speaks of a level that no tree has, and has learned something.
    struct Absurd;

    impl Tuner for Absurd {
        fn name(&self) -> String {
            "absurd".into()
        }

        fn ask(&mut self, seen: &Question<'_>) -> Trial {
            let mut trial = Trial::of_limits(TrialId(1), seen.limits.clone(), Vec::new());
            trial.consolidate.push(Change {
                level: LogicalLevel(99),
                why: "no reason".into(),
            });
            trial
        }

        fn tell(&mut self, _: TrialId, _: &Mission) {}

        fn state(&self) -> serde_json::Value {
            serde_json::json!("a lot")
        }
    }

    #[test]
    fn what_an_absurd_tuner_has_learned_is_kept_and_its_answer_is_not() {
        let mut learner = Learner::new(Box::new(Absurd));
        assert_eq!(learner.state(), "a lot");
        let sentence = ask_of_nothing(&mut learner).expect_err("absurd");
        assert!(
            sentence.starts_with("the tuner absurd gave an answer that cannot be obeyed (it asks")
                && sentence.contains("level 99"),
            "{sentence}"
        );
        assert_eq!(ask_of_nothing(&mut learner), Ok(None));
        assert_eq!(learner.state(), "a lot");
    }

    /// Panics when it is to tell what it has learned.
    struct Forgetful;

    impl Tuner for Forgetful {
        fn name(&self) -> String {
            "forgetful".into()
        }

        fn ask(&mut self, seen: &Question<'_>) -> Trial {
            Trial::of_limits(TrialId(1), seen.limits.clone(), Vec::new())
        }

        fn tell(&mut self, _: TrialId, _: &Mission) {}

        fn state(&self) -> serde_json::Value {
            panic!("as intended")
        }
    }

    #[test]
    fn a_tuner_that_breaks_between_questions_is_told_of_once() {
        let mut learner = Learner::new(Box::new(Forgetful));
        assert!(learner.state().is_null());
        let sentence = ask_of_nothing(&mut learner).expect_err("broken");
        assert!(
            sentence.starts_with("the tuner forgetful panicked"),
            "{sentence}"
        );
        assert_eq!(ask_of_nothing(&mut learner), Ok(None));
    }
}
