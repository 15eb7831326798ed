//! Waiting for what a server does by itself.

use std::time::{Duration, Instant};

/// For whatever a healthy machine does in a few seconds.
const PATIENCE: Duration = Duration::from_secs(90);

/// Waits for something to become true.
pub fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}
