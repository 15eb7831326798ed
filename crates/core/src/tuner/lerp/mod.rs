//! RusKey's learner, as published but for one penalty ([`agent`]): one DDPG agent for each
//! learned level, and propagation to the others (section 5).
//!
//! Levels are learned one after another while the others hold still: level 1, and
//! under Monkey's filters level 2; then all deeper ones follow. When the mix of
//! operations changes, exploration starts again at level 1.
//!
//! An action that was not carried out, since somebody holds the limits, teaches nothing;
//! once it is, learning begins anew. Gradient steps are left out while answers have taken more than half a percent of the
//! missions' time ([`budget`]). Nothing is kept over a restart, as published.

mod agent;
mod budget;
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
use replay::Experience;
use reward::Rewards;

use super::chance::by_chance;
use super::{Policy, Question, Trial, TrialId, Tuner};
use crate::cost_model::{Workload, distance};
use crate::filters::FilterAllocation;
use crate::layout::LogicalLevel;
use crate::observation::Mission;
use crate::shape::{RunLimit, RunLimits, Transition};

/// A change of this much in any share of the operations is another workload, unless it may
/// be by chance, where a mission has few operations.
const OTHER_WORKLOAD: f64 = 0.1;

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

/// RusKey's Lerp.
#[derive(Clone, Debug)]
pub struct Lerp {
    filters: FilterAllocation,
    agents: Vec<Agent>,
    /// Index of the level that is learned now; past the last: all are settled.
    learning: usize,
    still: u32,
    last: Option<Step>,
    rewards: Rewards,
    shares: Option<[f64; 4]>,
    budget: Budget,
    pulls: bool,
    asked: u64,
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
            shares: None,
            budget: Budget::default(),
            pulls: true,
            asked: 0,
            answered: None,
        }
    }

    /// The same, whose actors may go so far that they do not come back: with nothing but
    /// what was published.
    pub fn without_pull(mut self) -> Lerp {
        self.pulls = false;
        let agents = std::mem::take(&mut self.agents);
        self.agents = agents.into_iter().map(Agent::without_pull).collect();
        self
    }

    /// Gradient steps of all agents so far.
    pub fn gradient_steps(&self) -> u64 {
        self.agents.iter().map(|agent| agent.steps).sum()
    }

    fn level(&self) -> LogicalLevel {
        LogicalLevel(self.learning as u16 + 1)
    }

    /// Explores again when the workload is another one.
    fn notice_change(&mut self, mission: &Mission) {
        let Some(workload) = Workload::of_mission(&mission.operations) else {
            return;
        };
        let shares = workload.shares();
        let bound = OTHER_WORKLOAD + by_chance(mission.operations.total());
        let changed = self
            .shares
            .is_none_or(|before| distance(&before, &shares) > bound);
        if changed {
            self.shares = Some(shares);
            self.begin_anew();
        }
    }

    /// Explores again from level 1 on; what the agents have learned stays.
    fn begin_anew(&mut self) {
        self.rewards = Rewards::default();
        self.last = None;
        self.learning = 0;
        self.still = 0;
        self.agents.iter_mut().for_each(Agent::restart);
    }

    /// Whether other limits hold than were asked for: somebody pins them or has set them.
    /// Under the lazy transition they may wait for their levels.
    fn is_held(&self, seen: &Question<'_>) -> bool {
        let differs = |answered: &RunLimits| {
            let mut levels = seen.shape.layout.logical_levels();
            levels.any(|level| answered.get(level) != seen.limits.get(level))
        };
        seen.shape.transition != Transition::Lazy && self.answered.as_ref().is_some_and(differs)
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
            return "it follows from the levels that were learned".into();
        }
        let agent = &self.agents[self.learning];
        let kind = if agent.is_calm() {
            "the actor's choice"
        } else {
            "exploration"
        };
        format!("{kind} for {level} after {} gradient steps", agent.steps)
    }
}

/// The limit one step in the direction of an action.
fn moved(limit: RunLimit, action: f32, most: u32) -> RunLimit {
    let by = match action {
        _ if action > MOVES => 1,
        _ if action < -MOVES => -1,
        _ => 0,
    };
    let most = i32::try_from(most).unwrap_or(i32::MAX);
    RunLimit::clamped((i32::from(limit.get()) + by).clamp(1, most) as u16)
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

    fn ask(&mut self, seen: &Question<'_>) -> Trial {
        self.asked += 1;
        self.budget.pass(seen.mission);
        self.notice_change(seen.mission);
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
