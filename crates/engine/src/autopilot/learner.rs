//! A tuner behind a fence: it has a thread of its own and a share of the time, and when it
//! panics, does not answer or answers what cannot be obeyed, it is asked no more. Nobody
//! waits for what it answers to a question: that is heard later.

mod allowance;
#[cfg(test)]
mod tests;

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use lissom_core::shape::{RunLimits, Shape};
use lissom_core::tuner::{Question, Trial, TrialId, Tuner};
use lissom_core::{Layout, LogicalLevel, Mission, Tree};

use self::allowance::Allowance;

/// How long an answer may take: thousands of times as long as any of ours needs.
const PATIENCE: Duration = Duration::from_secs(5);

/// Of the time between two looks at most this part of the patience counts as waited: where the
/// process was stopped, or its machine, the tuner had no time either.
const MOST_AT_ONCE: u32 = 10;

/// What was learned comes with an answer no oftener than this.
const TELL_EVERY: Duration = Duration::from_secs(5);

type Call = Box<dyn FnOnce(&mut dyn Tuner) + Send>;

/// What came of a question: nothing where the tuner is asked no more; once, why that is so,
/// as a sentence without a full stop.
pub(super) type Answer = Result<Option<Trial>, String>;

/// A question as the tuner's thread gets it.
pub(super) struct Asked {
    pub(super) shape: Shape,
    pub(super) tree: Tree,
    pub(super) limits: RunLimits,
    pub(super) refused: Vec<LogicalLevel>,
    pub(super) mission: Mission,
}

impl Asked {
    fn question(&self) -> Question<'_> {
        Question {
            shape: &self.shape,
            tree: &self.tree,
            limits: &self.limits,
            refused: &self.refused,
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

/// What the tuner's thread gives for a question.
struct Reply {
    trial: Trial,
    progress: Progress,
    /// What it has learned, if that is to be told with it.
    state: Option<serde_json::Value>,
    took: Duration,
}

/// A question whose answer was not heard yet.
struct Open {
    since: Instant,
    looked: Instant,
    waited: Duration,
    replies: Receiver<Reply>,
    layout: Layout,
    /// The limits in force when it was asked.
    limits: RunLimits,
}

impl Open {
    /// How long it was waited for by now; at most so long since the last look.
    fn wait_on(&mut self, most: Duration) -> Duration {
        let now = Instant::now();
        self.waited += now.duration_since(self.looked).min(most);
        self.looked = now;
        self.waited
    }
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
    open: Option<Open>,
    /// The trial that runs, of which the tuner has not been told.
    trial: Option<TrialId>,
    /// How it broke, until somebody was told.
    broke: Option<String>,
    progress: Progress,
    /// What it last said that it had learned, when it did, and whether that may be another
    /// thing now.
    state: serde_json::Value,
    told: Option<Instant>,
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
            open: None,
            trial: None,
            broke: None,
            progress: Progress::default(),
            state: serde_json::Value::Null,
            told: None,
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

    /// Whether there is a question whose answer was not heard yet.
    pub(super) fn is_asked(&self) -> bool {
        self.open.is_some()
    }

    /// Whether a mission that has lasted so long may end with a question: the answer to the
    /// last one was heard, and what the tuner took before is then no more than its share of
    /// the time. A broken one takes none.
    pub(super) fn may_be_asked(&self, mission: Duration) -> bool {
        !self.is_asked() && (self.is_broken() || self.allowance.pays(mission))
    }

    /// Time that the tuner took since this was last asked, for whatever it was called.
    pub(super) fn take_time(&mut self) -> Duration {
        std::mem::take(&mut self.took)
    }

    /// Tells what came of the last trial, which is the mission of the question, and asks
    /// for the next one. It answers later, and then calls `ring`; who is broken is heard too.
    pub(super) fn ask(&mut self, asked: Asked, ring: impl FnOnce() + Send + 'static) {
        let (reply, replies) = mpsc::channel();
        self.open = Some(Open {
            since: Instant::now(),
            looked: Instant::now(),
            waited: Duration::ZERO,
            replies,
            layout: asked.shape.layout,
            limits: asked.limits.clone(),
        });
        let Some(calls) = &self.calls else {
            return ring();
        };
        self.allowance.pass(asked.mission.duration);
        self.stale = true;
        let trial = self.trial.take();
        let tells = self.told.is_none_or(|told| told.elapsed() >= TELL_EVERY);
        let call = move |tuner: &mut dyn Tuner| {
            // Whoever has lost patience hears no answer.
            let answered = answer(tuner, trial, &asked, tells);
            reply.send(answered).unwrap_or_default();
            ring();
        };
        // From a thread that has ended no answer comes.
        calls.send(Box::new(call)).unwrap_or_default();
    }

    /// What came of the last question; `None` without one, and while it may still be
    /// answered.
    pub(super) fn hear(&mut self) -> Option<Answer> {
        self.hear_within(Duration::ZERO)
    }

    /// The same, which waits for as long as an answer may take.
    pub(super) fn hear_out(&mut self) -> Option<Answer> {
        self.hear_within(self.patience)
    }

    fn hear_within(&mut self, time: Duration) -> Option<Answer> {
        let mut open = self.open.take()?;
        if self.is_broken() {
            return Some(self.broke.take().map_or(Ok(None), Err));
        }
        let left = self
            .patience
            .saturating_sub(open.wait_on(self.patience / MOST_AT_ONCE));
        let failed = match open.replies.recv_timeout(time.min(left)) {
            Ok(reply) => return Some(self.take_up(&open, reply)),
            Err(RecvTimeoutError::Timeout) if time < left => {
                self.open = Some(open);
                return None;
            }
            Err(failed) => failed,
        };
        self.spend(open.since.elapsed());
        Some(Err(self.give_up_after(failed)))
    }

    fn take_up(&mut self, open: &Open, reply: Reply) -> Answer {
        self.spend(reply.took);
        if let Some(state) = reply.state {
            self.note_state(state);
        }
        if let Err(why) = reply.trial.check(&open.layout, &open.limits) {
            return Err(self.give_up(&format!("gave an answer that cannot be obeyed ({why})")));
        }
        self.trial = Some(reply.trial.id);
        self.progress = reply.progress;
        Ok(Some(reply.trial))
    }

    /// How far it had come when it last answered.
    pub(super) fn progress(&self) -> Progress {
        self.progress
    }

    /// What it has learned, for which it is waited; of a broken one, and of one that has yet
    /// to answer, what it last said. Null when nothing.
    pub(super) fn state(&mut self) -> serde_json::Value {
        if self.stale
            && !self.is_asked()
            && let Ok(Some(state)) = self.fenced(|tuner| tuner.state())
        {
            self.note_state(state);
        }
        self.state.clone()
    }

    /// What it last said that it had learned, or took up. Null when nothing.
    pub(super) fn known_state(&self) -> &serde_json::Value {
        &self.state
    }

    fn note_state(&mut self, state: serde_json::Value) {
        self.state = state;
        self.told = Some(Instant::now());
        self.stale = false;
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

    /// What the tuner answers to a call, for which it is waited; nothing once it is broken.
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
        self.spend(begun.elapsed());
        match answered {
            Ok(answer) => Ok(Some(answer)),
            Err(failed) => {
                let sentence = self.give_up_after(failed);
                self.broke = Some(sentence.clone());
                Err(sentence)
            }
        }
    }

    fn spend(&mut self, took: Duration) {
        self.took += took;
        self.allowance.spend(took);
    }

    /// No answer came. Returns the sentence that says why it is asked no more.
    fn give_up_after(&mut self, failed: RecvTimeoutError) -> String {
        match failed {
            RecvTimeoutError::Disconnected => self.give_up("panicked"),
            RecvTimeoutError::Timeout => {
                let what = format!("did not answer in {:?}", self.patience);
                self.give_up(&what)
            }
        }
    }

    /// Asks it no more. Returns the sentence that says why.
    fn give_up(&mut self, what: &str) -> String {
        self.calls = None;
        format!("the tuner {} {what}", self.name)
    }
}

/// What a tuner answers to a question, once it was told what came of its last trial.
fn answer(tuner: &mut dyn Tuner, trial: Option<TrialId>, asked: &Asked, tells: bool) -> Reply {
    let begun = Instant::now();
    if let Some(trial) = trial {
        tuner.tell(trial, &asked.mission);
    }
    Reply {
        trial: tuner.ask(&asked.question()),
        progress: Progress {
            steps: tuner.steps(),
            skipped: tuner.skipped(),
        },
        state: tells.then(|| tuner.state()),
        took: begun.elapsed(),
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
