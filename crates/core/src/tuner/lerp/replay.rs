//! What was done, and what came of it.

use super::random::Random;

/// One step of one level.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Experience {
    pub state: Vec<f32>,
    /// -1 to 1.
    pub action: f32,
    /// 0 until the cost is judged.
    pub reward: f32,
    pub next_state: Vec<f32>,
}

/// The last experiences.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Replay {
    capacity: usize,
    kept: Vec<Experience>,
    next: usize,
}

impl Replay {
    pub fn new(capacity: usize) -> Replay {
        Replay {
            capacity: capacity.max(1),
            kept: Vec::new(),
            next: 0,
        }
    }

    pub fn push(&mut self, experience: Experience) {
        if self.kept.len() < self.capacity {
            self.kept.push(experience);
        } else {
            self.kept[self.next] = experience;
        }
        self.next = (self.next + 1) % self.capacity;
    }

    pub fn clear(&mut self) {
        self.kept.clear();
        self.next = 0;
    }

    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// A random one; there must be some.
    pub fn draw(&self, random: &mut Random) -> &Experience {
        &self.kept[random.below(self.kept.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten_first() {
        let mut replay = Replay::new(2);
        for reward in [1.0, 2.0, 3.0] {
            replay.push(Experience {
                state: Vec::new(),
                action: 0.0,
                reward,
                next_state: Vec::new(),
            });
        }
        let mut rewards: Vec<f32> = replay.kept.iter().map(|it| it.reward).collect();
        rewards.sort_by(f32::total_cmp);
        assert_eq!((replay.len(), rewards), (2, vec![2.0, 3.0]));
        assert!(replay.draw(&mut Random::new(1)).reward >= 2.0);
        replay.clear();
        assert_eq!(replay.len(), 0);
    }
}
