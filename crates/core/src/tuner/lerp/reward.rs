//! What a mission is worth: its cost against that of the first ones.

use super::replay::Experience;

/// Missions whose mean cost is what rewards count against. Merges come in lumps: one
/// mission alone is off by twice either way, and all rewards of the workload with it.
const FIRST: usize = 8;

/// Rewards are this many times the relative saving of cost.
const SCALE: f64 = 4.0;

/// The rewards of one level under one workload.
#[derive(Clone, Debug, Default)]
pub(super) struct Rewards {
    /// The mean cost of the first missions, once they were.
    baseline: Option<f64>,
    /// The first ones, with their costs.
    waiting: Vec<(Experience, f64)>,
}

impl Rewards {
    /// An experience that cost so much. Returns those whose reward is known now: none
    /// before the first missions are over, then all of them.
    pub fn judge(&mut self, experience: Experience, cost: f64) -> Vec<Experience> {
        if let Some(baseline) = self.baseline {
            return vec![judged(experience, cost, baseline)];
        }
        self.waiting.push((experience, cost));
        if self.waiting.len() < FIRST {
            return Vec::new();
        }
        let first = std::mem::take(&mut self.waiting);
        let baseline = first.iter().map(|(_, cost)| cost).sum::<f64>() / first.len() as f64;
        // Nothing can be saved of nothing: it begins anew.
        if baseline.is_nan() || baseline <= 0.0 {
            return Vec::new();
        }
        self.baseline = Some(baseline);
        let judged = |(experience, cost)| judged(experience, cost, baseline);
        first.into_iter().map(judged).collect()
    }
}

/// The cost that belongs to a reward, over that of the first missions.
pub(super) fn cost(reward: f32) -> f64 {
    (1.0 - f64::from(reward) / SCALE).max(0.0)
}

fn judged(experience: Experience, cost: f64, baseline: f64) -> Experience {
    let reward = SCALE * (1.0 - cost / baseline).clamp(-2.0, 1.0);
    Experience {
        reward: reward as f32,
        ..experience
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewards(costs: &[f64]) -> Vec<f32> {
        let mut rewards = Rewards::default();
        let experience = Experience {
            state: Vec::new(),
            action: 0.0,
            reward: 0.0,
            next_state: Vec::new(),
        };
        let mut given = Vec::new();
        for cost in costs {
            given.extend(rewards.judge(experience.clone(), *cost));
        }
        given.into_iter().map(|it| it.reward).collect()
    }

    /// A merge in one mission of four, which costs five times as much as one without.
    #[test]
    fn the_first_mission_alone_does_not_set_the_scale() {
        let from = |first: usize| {
            let costs: Vec<f64> = (first..first + 40)
                .map(|at| if at % 4 == 0 { 5.0 } else { 1.0 })
                .collect();
            let rewards = rewards(&costs);
            assert_eq!(rewards.len(), 40);
            rewards.iter().sum::<f32>() / 40.0
        };
        // From a merge on, or from a mission without one.
        assert!(from(0).abs() < 0.01 && from(1).abs() < 0.01);
    }

    #[test]
    fn rewards_are_known_once_the_first_missions_are_over() {
        assert!(rewards(&[1.0; FIRST - 1]).is_empty());
        assert_eq!(rewards(&[2.0; FIRST]), [0.0; FIRST]);
        let mut costs = vec![1.0; FIRST];
        costs.extend([0.5, 100.0]);
        assert_eq!(rewards(&costs)[FIRST..], [2.0, -8.0]);
        assert!(rewards(&[0.0; 3 * FIRST]).is_empty());
    }
}
