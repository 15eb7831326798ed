//! When to kill a child process.

use std::time::Duration;

/// Instants for kills. They must differ, not be good randomness.
pub struct Instants {
    state: u64,
    /// The latest one, microseconds: follows how long tasks take here, so that
    /// most kills come in time on any machine.
    below: u64,
}

impl Instants {
    pub fn new(seed: u64) -> Instants {
        Instants {
            state: seed,
            below: 60_000,
        }
    }

    pub fn next(&mut self) -> Duration {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        Duration::from_micros((self.state >> 33) % self.below)
    }

    pub fn came_in_time(&mut self, killed: bool) {
        self.below = if killed {
            self.below + self.below / 8
        } else {
            (self.below / 2).max(2_000)
        };
    }
}
