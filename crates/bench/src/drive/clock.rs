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
    /// A clock that starts now. Threads that the process's first one starts later are woken
    /// when they are due, and not up to 50 us after it, where Linux lets that be asked for.
    pub fn start() -> Self {
        // Elsewhere every sleep is a little longer, in all arms alike.
        let _ = std::fs::write("/proc/self/timerslack_ns", "1000");
        Self(Instant::now())
    }
}

/// What is hardly longer than the call of a sleep is waited out awake. No more than that:
/// a thread that waits awake takes its processor from compactions and from other threads,
/// and at nine tenths of the maximum there is hardly ever longer to wait than a tenth of a
/// millisecond.
///
/// A sleep costs a few microseconds of a processor, which a closed loop does not pay. So
/// nine tenths of what that carries are some hundredths more of what an open loop can carry,
/// for all arms alike; to wait fifty microseconds awake instead would cost ten times as much.
const AWAKE: Duration = Duration::from_micros(5);

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn wait_until(&self, due: Duration) {
        let wait = due.saturating_sub(self.now());
        if wait > AWAKE {
            std::thread::sleep(wait);
        }
        while self.now() < due {
            std::hint::spin_loop();
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// The processor's time that this thread has taken, in the kernel's ticks of 10 ms.
    fn ticks() -> u64 {
        let text = std::fs::read_to_string("/proc/thread-self/stat").expect("as proc(5) says");
        let (_, fields) = text.rsplit_once(") ").expect("as proc(5) says");
        let of_field = |number: usize| -> u64 {
            let field = fields
                .split_whitespace()
                .nth(number - 3)
                .expect("as proc(5) says");
            field.parse().expect("as proc(5) says")
        };
        of_field(14) + of_field(15)
    }

    #[test]
    fn who_waits_leaves_the_processor_to_others() {
        let clock = SystemClock::start();
        let before = ticks();
        let mut due = clock.now();
        for _ in 0..4_000 {
            due += Duration::from_micros(100);
            clock.wait_until(due);
            assert!(clock.now() >= due);
        }
        // Awake it would be 40, and a sleep costs a few microseconds.
        let took = ticks() - before;
        assert!(took < 25, "{took} ticks of 10 ms in 400 ms");
    }
}
