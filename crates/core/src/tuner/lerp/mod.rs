//! After RusKey's learner: one DDPG agent for each learned level, and propagation to the
//! others (section 5).
//!
//! Levels are learned one after another while the others hold still: level 1, and
//! under Monkey's filters level 2; then all deeper ones follow. When the [mix] of
//! operations changes, exploration starts again at level 1. Nothing is kept over a restart.
//!
//! The paper leaves most constants open; those here stand with their reasons where they are
//! used. In this it is another one than the paper's:
//!
//! - The [cost](state) counts 0.44 of the time of compactions instead of all of it, or the
//!   time in which writers were held back, if that is more: here operations do not wait for
//!   compactions, which run beside them. The share was fitted to the hull of `five-sessions`.
//! - The [state] of a level also tells its fill, and of the workload the shares of scans,
//!   of gets of absent keys and of deletes: as many reads of another kind want other limits.
//! - A penalty on large outputs of the actor ([`agent`]): without it an actor that has long
//!   stood at a bound of the limits cannot turn when the workload does.
//! - Workloads that change sooner than anything can be learned of them are learned as one
//!   ([`mix`]): exploration does not start again with each of them.
//! - Rewards count against the first missions of a workload ([`reward`]), so that agents
//!   forget the experiences of another one. What their networks have learned stays.
//! - Gradient steps are left out while answers have taken more than half a percent of the
//!   missions' time ([`budget`]).
//! - A mission teaches nothing where no operation was timed of a kind that is not rare: one
//!   read in many is timed here.
//! - An action that was not carried out, since somebody holds the limits, teaches nothing;
//!   once it is, learning begins anew.

mod agent;
mod budget;
mod expected;
mod mix;
mod network;
mod propagate;
mod random;
mod replay;
mod reward;
mod state;
#[cfg(test)]
mod tests;

use agent::Agent;
use budget::Budget;
use expected::Expected;
use mix::Mix;
use replay::Experience;
use reward::Rewards;

use super::step::stepped;
use super::{Policy, Question, Trial, TrialId, Tuner};
use crate::filters::FilterAllocation;
use crate::layout::LogicalLevel;
use crate::observation::Mission;
use crate::shape::{RunLimit, RunLimits};

/// Missions without a wish to move after which a calm agent has converged.
const STILL: u32 = 10;

/// Levels that are learned where none follows from others: as many as a tree of
/// 10^8 entries has.
const LEVELS_ALONE: usize = 4;

/// An action beyond this moves the limit by one.
const MOVES: f32 = 1.0 / 3.0;

/// What was done last, until its outcome is told.
#[derive(Clone, Debug)]
struct Step {
    trial: TrialId,
    state: Vec<f32>,
    action: f32,
    /// What it cost, once it is known.
    cost: Option<f64>,
}

/// After RusKey's Lerp: a DDPG agent for each learned level, and propagation to the others.
/// What a mission costs and what an agent sees of it is not all as in the paper, where
/// operations wait for compactions; nor is when it learns, which takes at most half a
/// percent of the time here.
#[derive(Clone, Debug)]
pub struct Lerp {
    filters: FilterAllocation,
    agents: Vec<Agent>,
    /// Index of the level that is learned now; past the last: all are settled.
    learning: usize,
    still: u32,
    last: Option<Step>,
    rewards: Rewards,
    mix: Mix,
    budget: Budget,
    /// Answers without gradient steps, for want of time.
    skipped: u64,
    pulls: bool,
    asked: u64,
    /// What the agent that acted last expects of its step.
    expected: Option<Expected>,
    /// The last answer.
    answered: Option<RunLimits>,
}

impl Lerp {
    /// A learner for trees with such filters.
    pub fn new(filters: FilterAllocation, seed: u64) -> Lerp {
        Lerp::of_levels(propagate::learned_levels(filters), filters, seed)
    }

    /// A learner with an agent for each of the first levels; the last one's limit
    /// holds below.
    pub fn without_propagation(filters: FilterAllocation, seed: u64) -> Lerp {
        Lerp::of_levels(LEVELS_ALONE, filters, seed)
    }

    fn of_levels(levels: usize, filters: FilterAllocation, seed: u64) -> Lerp {
        let agents = (0..levels as u64)
            .map(|level| Agent::new(state::SIZE, seed.wrapping_add(level)))
            .collect();
        Lerp {
            filters,
            agents,
            learning: 0,
            still: 0,
            last: None,
            rewards: Rewards::default(),
            mix: Mix::default(),
            budget: Budget::default(),
            skipped: 0,
            pulls: true,
            asked: 0,
            expected: None,
            answered: None,
        }
    }

    /// The same, whose actors may go so far that they do not come back: the paper has no
    /// penalty on that.
    pub fn without_pull(mut self) -> Lerp {
        self.pulls = false;
        let agents = std::mem::take(&mut self.agents);
        self.agents = agents.into_iter().map(Agent::without_pull).collect();
        self
    }

    /// The same, which tries nothing. With nothing to learn from it settles after its first
    /// missions, on the limits that it finds.
    pub fn without_noise(mut self) -> Lerp {
        let agents = std::mem::take(&mut self.agents);
        self.agents = agents.into_iter().map(Agent::without_noise).collect();
        self
    }

    /// Gradient steps of all agents so far.
    pub fn gradient_steps(&self) -> u64 {
        self.agents.iter().map(|agent| agent.steps).sum()
    }

    fn level(&self) -> LogicalLevel {
        LogicalLevel(self.learning as u16 + 1)
    }

    /// Explores again from level 1 on. What the networks have learned stays.
    fn begin_anew(&mut self) {
        self.rewards = Rewards::default();
        self.last = None;
        self.learning = 0;
        self.still = 0;
        self.agents.iter_mut().for_each(Agent::restart);
    }

    /// Whether other limits hold than were asked for: somebody pins them or has set them.
    fn is_held(&self, seen: &Question<'_>) -> bool {
        let differs = |answered: &RunLimits| !answered.is_same(seen.limits);
        !seen.limits_may_wait() && self.answered.as_ref().is_some_and(differs)
    }

    /// Learns from the last step, now that its outcome and what followed are seen.
    fn learn(&mut self, next_state: &[f32]) {
        let Some(step) = self.last.take() else {
            return;
        };
        let Some(cost) = step.cost else {
            return;
        };
        let experience = Experience {
            state: step.state,
            action: step.action,
            reward: 0.0,
            next_state: next_state.to_vec(),
        };
        let agent = &mut self.agents[self.learning];
        for judged in self.rewards.judge(experience, cost) {
            agent.keep(judged);
        }
        if self.budget.allows() {
            agent.learn();
        } else if agent.is_ready() {
            self.skipped += 1;
        }
    }

    /// The next limit of the level that is learned.
    fn act(&mut self, seen: &Question<'_>, state: Vec<f32>) -> RunLimit {
        let level = self.level();
        let now = seen.limits.get(level);
        let most = seen.shape.size_ratio;
        let agent = &mut self.agents[self.learning];
        // A wish that the bounds forbid is no wish.
        let settled = moved(now, agent.best(&state), most) == now;
        self.still = if settled { self.still + 1 } else { 0 };
        let action = agent.explore(&state);
        self.expected = Expected::of(agent, &state, action);
        self.last = Some(Step {
            trial: TrialId(self.asked),
            state,
            action,
            cost: None,
        });
        moved(now, action, most)
    }

    /// Goes on to the next level once this one has converged.
    fn settle(&mut self) {
        if self.agents[self.learning].is_calm() && self.still >= STILL {
            self.learning += 1;
            self.still = 0;
            self.last = None;
            self.rewards = Rewards::default();
        }
    }

    fn limits(&self, seen: &Question<'_>, learned: Option<RunLimit>) -> RunLimits {
        if let Some(limit) = learned {
            let mut limits = seen.limits.clone();
            limits.set(self.level(), limit);
            return limits;
        }
        let first: Vec<RunLimit> = (1..=self.agents.len() as u16)
            .map(|level| seen.limits.get(LogicalLevel(level)))
            .collect();
        if first.len() == LEVELS_ALONE {
            return RunLimits {
                deeper: first[LEVELS_ALONE - 1],
                levels: first,
            };
        }
        let levels = usize::from(seen.shape.layout.levels);
        propagate::propagate(self.filters, seen.shape.size_ratio, &first, levels)
    }

    fn why(&self, level: LogicalLevel) -> String {
        if self.learning >= self.agents.len() {
            return "it follows from the levels that were learned; nothing is expected of it by \
                    itself"
                .into();
        }
        let agent = &self.agents[self.learning];
        let kind = if agent.is_calm() {
            "the actor's choice"
        } else {
            "exploration"
        };
        let expected = match self.expected {
            Some(expected) => expected.to_string(),
            None => "nothing is expected of it yet".into(),
        };
        let steps = agent.steps;
        format!("{kind} for {level} after {steps} gradient steps; {expected}")
    }
}

/// The limit one step in the direction of an action.
fn moved(limit: RunLimit, action: f32, most: u32) -> RunLimit {
    let by = match action {
        _ if action > MOVES => 1,
        _ if action < -MOVES => -1,
        _ => 0,
    };
    stepped(limit, by, most)
}

impl Tuner for Lerp {
    fn name(&self) -> String {
        let policy = Policy::Lerp {
            filters: self.filters,
            propagates: self.agents.len() < LEVELS_ALONE,
            pulls: self.pulls,
        };
        policy.to_string()
    }

    fn steps(&self) -> u64 {
        self.gradient_steps()
    }

    fn skipped(&self) -> u64 {
        self.skipped
    }

    fn ask(&mut self, seen: &Question<'_>) -> Trial {
        self.asked += 1;
        self.budget.pass(seen.mission);
        if self.mix.see(&seen.mission.operations) {
            self.begin_anew();
        }
        if self.is_held(seen) {
            self.begin_anew();
            self.answered = Some(seen.limits.clone());
            return Trial::of_limits(TrialId(self.asked), seen.limits.clone(), Vec::new());
        }
        let learned = (self.learning < self.agents.len()).then(|| {
            let state = state::of_level(seen, self.level());
            self.learn(&state);
            self.act(seen, state)
        });
        let limits = self.limits(seen, learned);
        let changes = seen.changes(&limits, |level| self.why(level));
        if learned.is_some() {
            self.settle();
        }
        self.answered = Some(limits.clone());
        Trial::of_limits(TrialId(self.asked), limits, changes)
    }

    fn tell(&mut self, trial: TrialId, outcome: &Mission) {
        let level = self.level();
        if let Some(step) = self.last.as_mut().filter(|step| step.trial == trial) {
            step.cost = state::cost(outcome, level);
        }
    }
}
