//! A clock for tests.

use std::sync::Mutex;
use std::time::Duration;

use super::Clock;

/// A clock that moves only when told to, or when somebody waits.
#[derive(Default)]
pub(crate) struct FakeClock(Mutex<Duration>);

impl FakeClock {
    pub(crate) fn pass(&self, time: Duration) {
        *self.0.lock().unwrap() += time;
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Duration {
        *self.0.lock().unwrap()
    }

    fn wait_until(&self, due: Duration) {
        let mut now = self.0.lock().unwrap();
        *now = due.max(*now);
    }
}

pub(crate) fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}
