//! What came to nothing again and again, and the waits that this brings.

use std::time::{Duration, Instant};

/// A wait that doubles each time, up to a bound.
pub(super) struct Doubling {
    pub(super) first: Duration,
    pub(super) longest: Duration,
}

impl Doubling {
    fn after(&self, times: u32) -> Duration {
        self.first
            .saturating_mul(1 << times.min(16))
            .min(self.longest)
    }
}

/// How often in a row, and until when there is a wait. A wait never gets shorter by one more.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Row {
    pub(super) times: u32,
    pub(super) until: Option<Instant>,
}

impl Row {
    /// Counts one more, and waits. Returns how many there are now.
    pub(super) fn add(&mut self, wait: &Doubling, now: Instant) -> u32 {
        self.until = self.until.max(Some(now + wait.after(self.times)));
        self.times = self.times.saturating_add(1);
        self.times
    }

    /// Whether it waits, or did so less than this ago.
    pub(super) fn waited_within(&self, time: Duration, now: Instant) -> bool {
        self.until
            .is_some_and(|until| now.saturating_duration_since(until) < time)
    }
}
