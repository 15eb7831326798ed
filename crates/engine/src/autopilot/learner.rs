//! A tuner behind a fence: it has a thread of its own and a share of the time, and when it
//! panics, does not answer or answers what cannot be obeyed, it is asked no more.

mod allowance;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use lissom_core::shape::{RunLimits, Shape};
use lissom_core::tuner::{Question, Trial, TrialId, Tuner};
use lissom_core::{Mission, Tree};

use self::allowance::Allowance;

/// How long an answer may take: thousands of times as long as any of ours needs, for the
/// planner thread waits for it.
const PATIENCE: Duration = Duration::from_secs(5);

type Call = Box<dyn FnOnce(&mut dyn Tuner) + Send>;

/// A question as the tuner's thread gets it, which copies no tree.
pub(super) struct Asked {
    pub(super) shape: Shape,
    pub(super) tree: Arc<Tree>,
    pub(super) limits: RunLimits,
    pub(super) mission: Mission,
}

impl Asked {
    fn question(&self) -> Question<'_> {
        Question {
            shape: &self.shape,
            tree: &self.tree,
            limits: &self.limits,
            mission: &self.mission,
        }
    }
}

/// How far a tuner had come when it last answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Progress {
    /// Gradient steps or other updates.
    pub(super) steps: u64,
    /// Answers for which it learned nothing though it could have.
    pub(super) skipped: u64,
}

pub(super) struct Learner {
    /// To the tuner's thread, which ends when this is dropped. `None` once it is broken: a
    /// thread that hangs is left to itself.
    calls: Option<Sender<Call>>,
    patience: Duration,
    name: String,
    allowance: Allowance,
    /// What its calls have taken since [`Learner::take_time`].
    took: Duration,
    /// The trial that runs, of which the tuner has not been told.
    trial: Option<TrialId>,
    /// How it broke, until somebody was told.
    broke: Option<String>,
    progress: Progress,
    /// What it last said that it had learned, and whether that may be another thing now.
    state: serde_json::Value,
    stale: bool,
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
            allowance: Allowance::default(),
            took: Duration::ZERO,
            trial: None,
            broke: None,
            progress: Progress::default(),
            state: serde_json::Value::Null,
            stale: true,
        };
        if learner.is_broken() {
            learner.broke = Some("the tuner was given no thread".into());
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

    /// Whether a mission that has lasted so long may end with a question: what the tuner
    /// took before is then no more than its share of the time. A broken one takes none.
    pub(super) fn may_be_asked(&self, mission: Duration) -> bool {
        self.is_broken() || self.allowance.pays(mission)
    }

    /// Time that the tuner took since this was last asked, for whatever it was called.
    pub(super) fn take_time(&mut self) -> Duration {
        std::mem::take(&mut self.took)
    }

    /// Tells what came of the last trial, which is the mission of the question, and asks
    /// for the next one.
    ///
    /// # Errors
    /// A sentence without a full stop, once, when the tuner panicked or did not answer, to
    /// this call or to another one before it, and when its answer cannot be obeyed.
    pub(super) fn ask(&mut self, asked: Asked) -> Result<Option<Trial>, String> {
        if self.is_broken() {
            return self.broke.take().map_or(Ok(None), Err);
        }
        self.allowance.pass(asked.mission.duration);
        self.stale = true;
        let told = self.trial.take();
        let (layout, present) = (asked.shape.layout, asked.limits.clone());
        let answer = self.fenced(move |tuner| {
            if let Some(trial) = told {
                tuner.tell(trial, &asked.mission);
            }
            let trial = tuner.ask(&asked.question());
            let progress = Progress {
                steps: tuner.steps(),
                skipped: tuner.skipped(),
            };
            (trial, progress)
        });
        let Some((trial, progress)) = answer.inspect_err(|_| self.broke = None)? else {
            return Ok(None);
        };
        if let Err(why) = trial.check(&layout, &present) {
            return Err(self.give_up(&format!("gave an answer that cannot be obeyed ({why})")));
        }
        self.trial = Some(trial.id);
        self.progress = progress;
        Ok(Some(trial))
    }

    /// How far it had come when it last answered.
    pub(super) fn progress(&self) -> Progress {
        self.progress
    }

    /// What it has learned; of a broken one, what it last said. Null when nothing.
    pub(super) fn state(&mut self) -> serde_json::Value {
        if self.stale
            && let Ok(Some(state)) = self.fenced(|tuner| tuner.state())
        {
            self.state = state;
            self.stale = false;
        }
        self.state.clone()
    }

    /// Takes up what it had learned.
    ///
    /// # Errors
    /// A sentence when it cannot; it then goes on as new.
    pub(super) fn restore(&mut self, state: &serde_json::Value) -> Result<(), String> {
        let kept = state.clone();
        let restored = self.fenced(move |tuner| tuner.restore(&kept));
        restored
            .inspect_err(|_| self.broke = None)?
            .unwrap_or(Ok(()))?;
        self.state = state.clone();
        Ok(())
    }

    /// What the tuner answers to a call; nothing once it is broken.
    fn fenced<T: Send + 'static>(
        &mut self,
        call: impl FnOnce(&mut dyn Tuner) -> T + Send + 'static,
    ) -> Result<Option<T>, String> {
        let Some(calls) = &self.calls else {
            return Ok(None);
        };
        let begun = Instant::now();
        let (answer, answers) = mpsc::channel();
        // Whoever has lost patience hears no answer, and a thread that has ended none comes from.
        let ask = move |tuner: &mut dyn Tuner| answer.send(call(tuner)).unwrap_or_default();
        calls.send(Box::new(ask)).unwrap_or_default();
        let answered = answers.recv_timeout(self.patience);
        let took = begun.elapsed();
        self.took += took;
        self.allowance.spend(took);
        let what = match answered {
            Ok(answer) => return Ok(Some(answer)),
            Err(RecvTimeoutError::Disconnected) => "panicked".to_owned(),
            Err(RecvTimeoutError::Timeout) => format!("did not answer in {:?}", self.patience),
        };
        let sentence = self.give_up(&what);
        self.broke = Some(sentence.clone());
        Err(sentence)
    }

    /// Asks it no more. Returns the sentence that says why.
    fn give_up(&mut self, what: &str) -> String {
        self.calls = None;
        format!("the tuner {} {what}", self.name)
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
