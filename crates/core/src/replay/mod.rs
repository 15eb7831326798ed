//! Recorded missions, decided again: what would another tuner have done?
//!
//! The observations are the recorded ones, so the decisions have no effect on what
//! follows. That tells how a tuner reads the same facts, not what they would have
//! become. What bounds a tuner in the store bounds it here: what it is allowed, a pin, and
//! limits that wait for their level.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::journal::{Bounds, Entry, Event};
use crate::layout::LogicalLevel;
use crate::observation::Mission;
use crate::shape::{RunLimits, Shape};
use crate::tree::Tree;
use crate::tuner::{Allowance, Question, Trial, TrialId, Tuner};

/// One mission, as it was decided and as it would be.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Redecided {
    /// The mission's number since the autopilot began.
    pub mission: u64,
    /// Reads among its operations; absent without any.
    pub read_share: Option<f64>,
    /// The limits that were chosen then; those that held, while they were pinned.
    pub recorded: RunLimits,
    /// The limits that the other tuner chooses; those that held, while they were pinned.
    pub replayed: RunLimits,
    /// Its reasons, one for each level that it changes or merges.
    pub why: Vec<String>,
}

/// Decides the missions of one column family again, in their order. Each time the
/// tuner sees the limits that held then, to which the costs belong. It is told and asked
/// as in the store: of a trial by the mission that followed it, and of none that ended with
/// the autopilot. Which merges for reads the planner refused older journals do not tell:
/// `learned` may decide otherwise over those, from the first of them on.
///
/// Each mission is decided over the dimensions of the tree that the journal tells of then;
/// `shape` stands for them where it tells of none.
///
/// `begin` makes the tuner, and is given what the store allowed it, or
/// [`Allowance::UNRECORDED`] where the journal does not tell. As in the store, a tuner begins
/// with what it had learned where the store was opened, and where a policy of its name was
/// set again; it begins anew where another one was set, and where the column family came a
/// second time in one opening: it was dropped or released in between, and its memory with it.
/// What it had learned before the journal begins it does without.
pub fn replay(
    entries: &[Entry],
    column_family: &str,
    shape: &Shape,
    begin: &mut dyn FnMut(Allowance) -> Box<dyn Tuner>,
) -> Vec<Redecided> {
    let of_family = entries
        .iter()
        .filter(|it| it.column_family == column_family);
    let of_family: Vec<&Entry> = of_family.collect();
    let first = of_family.iter().find_map(|it| shape_before(&it.event));
    let mut replay = Replay {
        shape: first.unwrap_or(shape).clone(),
        begin,
        tuner: None,
        recorded: None,
        asleep: None,
        in_force: None,
        untold: None,
        opening: 0,
    };
    let missions = of_family.into_iter().filter_map(|it| replay.follow(it));
    missions.collect()
}

/// The dimensions of what came before an event that tells of them.
fn shape_before(event: &Event) -> Option<&Shape> {
    match event {
        Event::Begin { shape, .. } => shape.as_ref(),
        Event::Shape { before, .. } => Some(before),
        _ => None,
    }
}

struct Replay<'a> {
    /// Those of the next mission.
    shape: Shape,
    begin: &'a mut dyn FnMut(Allowance) -> Box<dyn Tuner>,
    tuner: Option<Box<dyn Tuner>>,
    /// The policy that decided in the store, where the journal tells.
    recorded: Option<String>,
    /// What the tuner had learned when a policy of its name last decided in the store: since
    /// then others have.
    asleep: Option<Value>,
    /// What holds; unknown where the journal's beginning was rotated away.
    in_force: Option<RunLimits>,
    /// The last answer, of which the tuner was not told.
    untold: Option<TrialId>,
    /// That of the last beginning or mission; 0 where it is not known.
    opening: u64,
}

impl Replay<'_> {
    fn follow(&mut self, entry: &Entry) -> Option<Redecided> {
        match &entry.event {
            Event::Begin {
                policy,
                limits,
                allowance,
                shape,
                ..
            } => {
                if let Some(shape) = shape {
                    self.shape = shape.clone();
                }
                self.forget_what_went(entry.opening);
                let kept = self.give_way(policy);
                self.start(*allowance);
                let woken = self.wake();
                self.take_back(woken.or(kept));
                self.in_force = Some(limits.clone());
                None
            }
            Event::Policy {
                policy,
                allowance,
                goes_on,
            } => {
                self.give_way(policy);
                self.start(*allowance);
                let woken = self.wake();
                self.take_back(woken.filter(|_| *goes_on));
                None
            }
            Event::Shape { shape, .. } => {
                self.shape = shape.clone();
                None
            }
            Event::Mission {
                mission,
                tree,
                trial,
                pinned,
                bounds,
                refused,
            } => {
                self.opening = entry.opening;
                if let Some(bounds) = bounds {
                    self.take_up(bounds);
                }
                let tree = tree.as_tree();
                Some(self.decide(mission, &tree, trial, *pinned, refused))
            }
            _ => None,
        }
    }

    /// Each opening begins once with a column family that stays.
    fn forget_what_went(&mut self, opening: u64) {
        if opening > 0 && opening == self.opening {
            self.tuner = None;
            self.asleep = None;
        }
        self.opening = opening;
    }

    fn start(&mut self, allowance: Allowance) {
        self.untold = None;
        self.tuner = Some((self.begin)(allowance));
    }

    /// A policy takes the place of the one that decided in the store. Returns what the tuner
    /// has learned so far.
    fn give_way(&mut self, next: &str) -> Option<Value> {
        let before = self.recorded.replace(next.to_owned());
        let tuner = self.tuner.take()?;
        let state = tuner.state();
        if before.is_some_and(|before| before == tuner.name()) {
            self.asleep = Some(state.clone());
        }
        Some(state)
    }

    /// What the tuner had learned when it last decided in the store, if it does again.
    fn wake(&mut self) -> Option<Value> {
        let name = self.tuner.as_ref()?.name();
        let decides = self.recorded.as_ref() == Some(&name);
        self.asleep.take_if(|_| decides)
    }

    /// What the tuner cannot take up it does without, as in the store.
    fn take_back(&mut self, state: Option<Value>) {
        if let Some((tuner, state)) = self.tuner.as_mut().zip(state) {
            tuner.restore(&state).unwrap_or_default();
        }
    }

    fn take_up(&mut self, bounds: &Bounds) {
        self.in_force = Some(bounds.limits.clone());
        if self.tuner.is_none() {
            self.start(bounds.allowance);
        }
    }

    fn decide(
        &mut self,
        mission: &Mission,
        tree: &Tree,
        trial: &Trial,
        pinned: bool,
        refused: &[LogicalLevel],
    ) -> Redecided {
        let present = self.in_force.take();
        let present = present.unwrap_or_else(|| trial.limits.clone());
        let shape = self.shape.fitted(tree);
        let answer = self.ask(&Question {
            shape: &shape,
            tree,
            limits: &present,
            refused,
            mission,
        });
        let (recorded, replayed) = if pinned {
            (present.clone(), present)
        } else {
            (trial.limits.clone(), answer.limits.clone())
        };
        self.in_force = Some(recorded.clone());
        Redecided {
            mission: mission.number,
            read_share: mission.operations.read_share(),
            recorded,
            replayed,
            why: reasons(&answer, pinned),
        }
    }

    /// Tells what came of the last answer, and asks.
    fn ask(&mut self, question: &Question<'_>) -> Trial {
        let begin = &mut self.begin;
        let tuner = self
            .tuner
            .get_or_insert_with(|| begin(Allowance::UNRECORDED));
        if let Some(trial) = self.untold.take() {
            tuner.tell(trial, question.mission);
        }
        let answer = tuner.ask(question);
        self.untold = Some(answer.id);
        answer
    }
}

fn reasons(answer: &Trial, pinned: bool) -> Vec<String> {
    let effect = if pinned {
        ", without effect: the limits are pinned"
    } else {
        ""
    };
    let all = answer.changes.iter().chain(answer.merges());
    let all = all.map(|it| {
        // What was given up ends under a pin, too.
        let ends = answer.abandon.contains(it);
        let effect = if ends { "" } else { effect };
        format!("{}: {}{effect}", it.level, it.why)
    });
    all.collect()
}
