//! What the critic expects of a step, in words.

use std::fmt;

use super::agent::Agent;
use super::reward;

/// What operations will cost, over what they did in the first missions of the workload.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Expected {
    /// After the step.
    moved: f64,
    /// If the limit stayed.
    stayed: f64,
}

impl Expected {
    /// What an agent expects of an action. `None` before it has learned anything.
    pub fn of(agent: &Agent, state: &[f32], action: f32) -> Option<Expected> {
        let cost = |action| agent.mean_reward(state, action).map(reward::cost);
        Some(Expected {
            moved: cost(action)?,
            stayed: cost(0.0)?,
        })
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [moved, stayed] = [self.moved, self.stayed].map(|cost| cost * 100.0);
        write!(
            f,
            "operations are expected to cost {moved:.0} % of what they did in this workload's \
             first missions, and {stayed:.0} % if the limit stayed"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_costs_are_told_against_those_of_the_first_missions() {
        let expected = Expected {
            moved: reward::cost(2.0),
            stayed: reward::cost(-1.0),
        };
        assert_eq!(
            expected.to_string(),
            "operations are expected to cost 50 % of what they did in this workload's first \
             missions, and 125 % if the limit stayed"
        );
        assert_eq!(reward::cost(9.0), 0.0, "no more than all can be saved");
    }

    #[test]
    fn who_has_learned_nothing_expects_nothing() {
        let agent = Agent::new(2, 1);
        assert_eq!(Expected::of(&agent, &[0.5, 0.5], 1.0), None);
    }
}
