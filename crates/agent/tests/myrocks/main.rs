//! The agent beside a real MyRocks: MariaDB with its RocksDB plug-in, installed
//! and started by the tests where they run as root on Debian or Ubuntu, and
//! skipped with a reason elsewhere.

#![cfg(unix)]

mod children;
mod delays;
mod endings;
mod load;
mod mariadb;
mod refusals;

use std::time::{Duration, Instant};

/// For whatever a healthy machine does in a few seconds.
const PATIENCE: Duration = Duration::from_secs(90);

/// Waits for something to become true.
fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}
