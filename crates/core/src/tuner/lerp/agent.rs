//! Deep deterministic policy gradient (Lillicrap et al., ICLR 2016) over one
//! action: an actor that proposes, a critic that says what to expect, and slow
//! copies of both that the critic learns against.
//!
//! RusKey gives the layers and the replay buffer and nothing else; the constants
//! here are DDPG's, with faster steps, since missions are few.
//!
//! An action is the tanh of the actor's output. At a bound of the limits a step beyond it
//! costs nothing, so nothing keeps the output from growing, until tanh is flat and no
//! gradient comes through it: the actor could not turn when the workload does. So half the
//! square of the output, times [`PULL`], is added to the actor's loss. That is a usual
//! penalty on weights applied to one number; `lerp-without-pull` does without it.

use super::network::{Adam, Gradient, Network};
use super::random::Random;
use super::replay::{Experience, Replay};

const ACTOR_RATE: f32 = 3e-4;
const CRITIC_RATE: f32 = 1e-3;

/// Worth of the next mission's reward in this one's (gamma). A changed limit
/// shows its effect within a few missions, as levels fill.
const DISCOUNT: f32 = 0.6;

/// How far the slow copies go each step (tau).
const FOLLOW: f32 = 0.02;

/// Weight of the square of the actor's output in its loss. Against rewards of the order of
/// 1 it leaves the output at 1 to 3, where tanh still has a slope.
const PULL: f32 = 0.02;

/// Experiences that a step looks at, and without which there is none.
pub(super) const BATCH: usize = 16;

/// Steps per mission.
const STEPS: usize = 2;

/// Experiences that are kept.
const KEPT: usize = 512;

/// Deviation of the exploration noise: at first, its decay per mission, and at
/// last.
const NOISE: f32 = 0.8;
const NOISE_DECAY: f32 = 0.985;
const LEAST_NOISE: f32 = 0.05;

/// Learns one level's limit.
#[derive(Clone, Debug)]
pub(super) struct Agent {
    actor: Network,
    critic: Network,
    slow_actor: Network,
    slow_critic: Network,
    actor_adam: Adam,
    critic_adam: Adam,
    replay: Replay,
    random: Random,
    noise: f32,
    /// The noise at first: 0 where nothing may be tried.
    first_noise: f32,
    pull: f32,
    /// Gradient steps so far.
    pub steps: u64,
    /// Whether one was since it began to explore: before that the critic's word is of rewards
    /// that count against other missions.
    knows: bool,
}

impl Agent {
    pub fn new(state_size: usize, seed: u64) -> Agent {
        let mut random = Random::new(seed);
        let actor = Network::new(state_size, 1, &mut random);
        let critic = Network::new(state_size + 1, 1, &mut random);
        Agent {
            slow_actor: actor.clone(),
            slow_critic: critic.clone(),
            actor_adam: Adam::new(&actor, ACTOR_RATE),
            critic_adam: Adam::new(&critic, CRITIC_RATE),
            actor,
            critic,
            replay: Replay::new(KEPT),
            random,
            noise: NOISE,
            first_noise: NOISE,
            pull: PULL,
            steps: 0,
            knows: false,
        }
    }

    /// The same, whose actor's output nothing holds back.
    pub fn without_pull(mut self) -> Agent {
        self.pull = 0.0;
        self
    }

    /// The same, which tries nothing that its actor does not propose.
    pub fn without_noise(mut self) -> Agent {
        (self.noise, self.first_noise) = (0.0, 0.0);
        self
    }

    /// What the actor proposes, -1 to 1.
    pub fn best(&self, state: &[f32]) -> f32 {
        action(&self.actor, state)
    }

    /// What the actor proposes, with noise that decays, -1 to 1.
    pub fn explore(&mut self, state: &[f32]) -> f32 {
        let action = self.best(state) + self.noise * self.random.normal();
        let least = LEAST_NOISE.min(self.first_noise);
        self.noise = (self.noise * NOISE_DECAY).max(least);
        action.clamp(-1.0, 1.0)
    }

    /// The mean of the rewards to come that the critic expects of an action, the next ones
    /// counting most. `None` before it has learned from rewards since [`Agent::restart`].
    pub fn mean_reward(&self, state: &[f32], action: f32) -> Option<f32> {
        let worth = || self.critic.run(&with_action(state, action))[0];
        self.knows.then(|| (1.0 - DISCOUNT) * worth())
    }

    /// Whether exploration has come to its least.
    pub fn is_calm(&self) -> bool {
        self.noise <= LEAST_NOISE * 2.0
    }

    /// Explores as at the beginning. What was learned stays; experiences go, for the
    /// rewards of those to come count against other missions.
    pub fn restart(&mut self) {
        self.noise = self.first_noise;
        self.replay.clear();
        self.knows = false;
    }

    /// Takes up an experience. What is not finite is passed over.
    pub fn keep(&mut self, experience: Experience) {
        let numbers = experience.state.iter().chain(&experience.next_state);
        let finite = numbers
            .chain([&experience.action, &experience.reward])
            .all(|number| number.is_finite());
        if finite {
            self.replay.push(experience);
        }
    }

    /// Whether there are enough experiences to learn from.
    pub fn is_ready(&self) -> bool {
        self.replay.len() >= BATCH
    }

    /// Learns from some of the experiences that were kept, once there are enough.
    pub fn learn(&mut self) {
        if self.is_ready() {
            for _ in 0..STEPS {
                self.step();
            }
        }
    }

    fn step(&mut self) {
        let batch: Vec<Experience> = (0..BATCH)
            .map(|_| self.replay.draw(&mut self.random).clone())
            .collect();
        let by_critic = self.critic_gradient(&batch);
        self.critic_adam
            .step(&mut self.critic, &by_critic, batch.len());
        let by_actor = self.actor_gradient(&batch);
        self.actor_adam
            .step(&mut self.actor, &by_actor, batch.len());
        self.slow_actor.follow(&self.actor, FOLLOW);
        self.slow_critic.follow(&self.critic, FOLLOW);
        self.steps += 1;
        self.knows = true;
    }

    /// Of half the square of what the critic is off from r + gamma * Q'(s', mu'(s')),
    /// summed over the batch.
    fn critic_gradient(&self, batch: &[Experience]) -> Gradient {
        let mut gradient = self.critic.no_gradient();
        for experience in batch {
            let next_action = action(&self.slow_actor, &experience.next_state);
            let next = self
                .slow_critic
                .run(&with_action(&experience.next_state, next_action))[0];
            let wanted = experience.reward + DISCOUNT * next;
            let pass = self
                .critic
                .pass(&with_action(&experience.state, experience.action));
            let slope = pass.outputs()[0] - wanted;
            self.critic.backward(&pass, &[slope], &mut gradient);
        }
        gradient
    }

    /// Of -Q(s, mu(s)) and of the penalty on large outputs, summed over the batch.
    fn actor_gradient(&self, batch: &[Experience]) -> Gradient {
        let mut gradient = self.actor.no_gradient();
        for experience in batch {
            let pass = self.actor.pass(&experience.state);
            let output = pass.outputs()[0];
            let action = output.tanh();
            let judged = self.critic.pass(&with_action(&experience.state, action));
            let by_inputs = self.critic.by_inputs(&judged, &[1.0]);
            let by_action = by_inputs[experience.state.len()];
            let slope = self.pull * output - by_action * (1.0 - action * action);
            self.actor.backward(&pass, &[slope], &mut gradient);
        }
        gradient
    }
}

fn action(actor: &Network, state: &[f32]) -> f32 {
    actor.run(state)[0].tanh()
}

fn with_action(state: &[f32], action: f32) -> Vec<f32> {
    let mut inputs = Vec::with_capacity(state.len() + 1);
    inputs.extend_from_slice(state);
    inputs.push(action);
    inputs
}

#[cfg(test)]
#[path = "agent_tests.rs"]
mod tests;
