//! Time, as the driver sees it; a test has its own.

use std::time::{Duration, Instant};

/// Monotonic time since some fixed start.
pub trait Clock: Sync {
    /// Time since the start.
    fn now(&self) -> Duration;
    /// Returns when `due` has come; at once if it has passed.
    fn wait_until(&self, due: Duration);
}

/// The machine's clock.
#[derive(Debug)]
pub struct SystemClock(Instant);

impl SystemClock {
    /// A clock that starts now.
    pub fn start() -> Self {
        Self(Instant::now())
    }
}

/// A sleep may overshoot by about this much; the rest is waited out awake.
const SLEEP_ERROR: Duration = Duration::from_micros(120);

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn wait_until(&self, due: Duration) {
        let wait = due.saturating_sub(self.now());
        if wait > SLEEP_ERROR {
            std::thread::sleep(wait - SLEEP_ERROR);
        }
        while self.now() < due {
            std::hint::spin_loop();
        }
    }
}
