//! How fast merges go.

use serde::{Deserialize, Serialize};

use super::{Load, is_amount};

/// Weight of what was seen before after a second of merging.
const FORGETTING: f64 = 0.99;

/// Workers that bring L0 down: one merges it, since no two merges of it run at a time, and
/// one makes room for it below, which is about as much work. More do not hasten it.
const OF_LEVEL0: usize = 2;

/// Bytes that compactions move in a second of one worker, over the last hundred seconds of
/// merging or so: idle hours forget nothing. It is what merges really take, of the device
/// and of cores that may run out before it.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct MergeSpeed {
    moved: f64,
    seconds: f64,
}

impl MergeSpeed {
    /// Takes up an interval.
    pub fn learn(&mut self, load: &Load) {
        let seconds = load.compacted_micros as f64 / 1e6;
        let kept = FORGETTING.powf(seconds);
        self.moved = self.moved * kept + load.compacted_bytes as f64;
        self.seconds = self.seconds * kept + seconds;
    }

    /// Bytes a second that so many workers move; `None` before anything was merged.
    pub fn of(&self, workers: usize) -> Option<f64> {
        let is_known = self.moved > 0.0 && self.seconds > 0.0;
        is_known.then(|| self.moved / self.seconds * workers.max(1) as f64)
    }

    /// The same of those among them that bring L0 down.
    pub fn of_level0(&self, workers: usize) -> Option<f64> {
        self.of(workers.min(OF_LEVEL0))
    }

    /// Whether both sums can be.
    pub(super) fn is_sound(&self) -> bool {
        [self.moved, self.seconds].into_iter().all(is_amount)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn merged(bytes: u64, seconds: u64) -> Load {
        Load {
            interval: Duration::from_secs(1),
            compacted_bytes: bytes,
            compacted_micros: seconds * 1_000_000,
            ..Load::default()
        }
    }

    #[test]
    fn it_goes_by_the_time_of_workers_and_is_not_forgotten_while_nothing_is_merged() {
        let mut speed = MergeSpeed::default();
        assert_eq!(speed.of(2), None);
        speed.learn(&merged(600, 3));
        for _ in 0..100_000 {
            speed.learn(&merged(0, 0));
        }
        assert_eq!((speed.of(1), speed.of(4)), (Some(200.0), Some(800.0)));
        assert_eq!(speed.of(0), speed.of(1), "somebody merges");
        let of_level0 = |workers| speed.of_level0(workers);
        assert_eq!([1, 2, 8].map(of_level0), [200.0, 400.0, 400.0].map(Some));
        for _ in 0..1_000 {
            speed.learn(&merged(50, 1));
        }
        let slower = speed.of(1).expect("it is known");
        assert!((50.0..51.0).contains(&slower), "{slower}");
        assert!(speed.is_sound());
    }
}
