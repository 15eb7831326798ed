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

use super::network::{Adam, Network};
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

/// Experiences that a step looks at.
const BATCH: usize = 16;

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
    pull: f32,
    /// Gradient steps so far.
    pub steps: u64,
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
            pull: PULL,
            steps: 0,
        }
    }

    /// The same, whose actor's output nothing holds back.
    pub fn without_pull(mut self) -> Agent {
        self.pull = 0.0;
        self
    }

    /// What the actor proposes, -1 to 1.
    pub fn best(&self, state: &[f32]) -> f32 {
        action(&self.actor, state)
    }

    /// What the actor proposes, with noise that decays, -1 to 1.
    pub fn explore(&mut self, state: &[f32]) -> f32 {
        let action = self.best(state) + self.noise * self.random.normal();
        self.noise = (self.noise * NOISE_DECAY).max(LEAST_NOISE);
        action.clamp(-1.0, 1.0)
    }

    /// Whether exploration has come to its least.
    pub fn is_calm(&self) -> bool {
        self.noise <= LEAST_NOISE * 2.0
    }

    /// Explores as at the beginning; what was learned stays.
    pub fn restart(&mut self) {
        self.noise = NOISE;
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

    /// Learns from some of the experiences that were kept, once there are enough.
    pub fn learn(&mut self) {
        if self.replay.len() >= BATCH {
            for _ in 0..STEPS {
                self.step();
            }
        }
    }

    fn step(&mut self) {
        let batch: Vec<Experience> = (0..BATCH)
            .map(|_| self.replay.draw(&mut self.random).clone())
            .collect();
        self.step_critic(&batch);
        self.step_actor(&batch);
        self.slow_actor.follow(&self.actor, FOLLOW);
        self.slow_critic.follow(&self.critic, FOLLOW);
        self.steps += 1;
    }

    /// Towards r + gamma * Q'(s', mu'(s')).
    fn step_critic(&mut self, batch: &[Experience]) {
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
        self.critic_adam
            .step(&mut self.critic, &gradient, batch.len());
    }

    /// Up the critic's slope by the action, and towards outputs that are not large.
    fn step_actor(&mut self, batch: &[Experience]) {
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
        self.actor_adam
            .step(&mut self.actor, &gradient, batch.len());
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
mod tests {
    use super::*;

    /// A walk on 0 to 1 in steps of 0.1, at its best at `goal`: where it was.
    fn walk(agent: &mut Agent, goal: f32, missions: usize) -> Vec<f32> {
        let mut at = 0.1f32;
        let mut been = Vec::with_capacity(missions);
        for _ in 0..missions {
            let state = vec![at, goal];
            let action = agent.explore(&state);
            at = (at + 0.1 * step(action)).clamp(0.0, 1.0);
            agent.keep(Experience {
                state,
                action,
                reward: -4.0 * (at - goal).abs(),
                next_state: vec![at, goal],
            });
            agent.learn();
            been.push(at);
        }
        been
    }

    fn step(action: f32) -> f32 {
        if action.abs() > 1.0 / 3.0 {
            action.signum()
        } else {
            0.0
        }
    }

    #[test]
    fn it_finds_the_best_place_and_stays() {
        let mut near = 0;
        for seed in 0..12 {
            let mut agent = Agent::new(2, seed);
            let been = walk(&mut agent, 0.7, 500);
            // The last place alone is near for many a random walk; their mean distance
            // is 0.29. Where the actor runs against a bound it stays there, at 0.3.
            let last = &been[450..];
            let off = last.iter().map(|at| (at - 0.7).abs()).sum::<f32>() / last.len() as f32;
            near += usize::from(off < 0.05);
            assert!(agent.is_calm() && agent.steps > 900);
        }
        assert!(near >= 6, "{near} of 12 came near");
    }

    /// The actor's output after it was driven to where tanh is 1.
    fn after_saturation(mut agent: Agent) -> f32 {
        let state = vec![0.5, 0.5];
        let bias = agent.actor.parameters_mut().last().expect("a bias");
        *bias += 9.5;
        assert_eq!(agent.best(&state), 1.0);
        for _ in 0..200 {
            agent.keep(Experience {
                state: state.clone(),
                action: 1.0,
                reward: -1.0,
                next_state: state.clone(),
            });
            agent.learn();
        }
        agent.actor.run(&state)[0]
    }

    #[test]
    fn an_actor_that_went_too_far_comes_back() {
        let (pulled, free) = (Agent::new(2, 4), Agent::new(2, 4).without_pull());
        let (pulled, free) = (after_saturation(pulled), after_saturation(free));
        assert!(pulled < 8.5, "{pulled}");
        assert!(free > 9.0, "{free}: nothing else brings it back");
    }

    #[test]
    fn equal_seeds_learn_alike_and_frozen_ones_do_not_move() {
        let (mut one, mut other) = (Agent::new(2, 9), Agent::new(2, 9));
        assert_eq!(walk(&mut one, 0.4, 60), walk(&mut other, 0.4, 60));
        assert_eq!(one.best(&[0.2, 0.4]), other.best(&[0.2, 0.4]));
        let frozen = Agent::new(2, 9);
        assert_ne!(one.best(&[0.2, 0.4]), frozen.best(&[0.2, 0.4]));
    }

    #[test]
    fn what_is_not_finite_is_passed_over() {
        let mut agent = Agent::new(1, 1);
        for _ in 0..40 {
            agent.keep(Experience {
                state: vec![f32::NAN],
                action: 0.0,
                reward: f32::INFINITY,
                next_state: vec![0.0],
            });
            agent.learn();
        }
        assert_eq!(agent.steps, 0);
        assert!(agent.best(&[0.5]).is_finite());
    }
}
