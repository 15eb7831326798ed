//! A clock that stands while the process is stopped.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::drive::Clock;

/// Running time. Right after a stop it is ahead until the stop is noted; then it goes
/// back, and whatever is due waits as if nothing had been.
pub(super) struct RunClock<'a> {
    machine: &'a dyn Clock,
    /// Nanoseconds in which the process was stopped so far.
    stopped: AtomicU64,
}

impl<'a> RunClock<'a> {
    /// Running time by the machine's clock.
    pub(super) fn new(machine: &'a dyn Clock) -> Self {
        Self {
            machine,
            stopped: AtomicU64::new(0),
        }
    }

    /// The machine's time.
    pub(super) fn machine_now(&self) -> Duration {
        self.machine.now()
    }

    /// Notes that the process was stopped.
    pub(super) fn note_stop(&self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.stopped.fetch_add(nanos, Ordering::Relaxed);
    }

    fn stopped(&self) -> Duration {
        Duration::from_nanos(self.stopped.load(Ordering::Relaxed))
    }
}

impl Clock for RunClock<'_> {
    fn now(&self) -> Duration {
        self.machine.now().saturating_sub(self.stopped())
    }

    fn wait_until(&self, due: Duration) {
        while self.now() < due {
            self.machine.wait_until(due + self.stopped());
        }
    }
}
