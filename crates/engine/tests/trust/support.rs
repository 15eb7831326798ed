//! A small database, and patience with an end.

use std::path::Path;
use std::time::Duration;

use lissom::Settings;
use lissom::core::replay::Redecided;

use crate::PATIENCE;
use crate::common;
pub use crate::common::{key, load, settle, value};

/// Buffers of 64 KiB, files of 32 KiB, a size ratio of 4.
pub fn small(policy: &str) -> Settings {
    Settings {
        write_buffer_size: 64 << 10,
        max_write_buffer_number: 4,
        target_file_size_base: 32 << 10,
        memory_budget_bytes: 16 << 20,
        ..common::small(policy)
    }
}

/// The missions of a store's journal, which a tuner of this policy decides again as they
/// stand there.
pub fn decided_again(store: &Path, policy: &str) -> Vec<Redecided> {
    let policy = policy.parse().expect("a policy");
    let decided = lissom::inspect::replay(store, "default", &policy, &Default::default());
    let decided = decided.expect("all openings");
    assert!(decided.from_start);
    for it in &decided.missions {
        let (mission, why) = (it.mission, &it.why);
        assert_eq!(it.recorded, it.replayed, "mission {mission}: {why:?}");
    }
    decided.missions
}

/// Waits until `what` holds.
pub fn eventually(name: &str, what: impl Fn() -> bool) {
    let begun = std::time::Instant::now();
    while !what() {
        assert!(begun.elapsed() < PATIENCE, "never: {name}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runs `work` on a thread of its own; one that stands still fails the test
/// instead of holding it up for ever.
pub fn within(time: Duration, name: &str, work: impl FnOnce() + Send + 'static) {
    let (done, wait) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        work();
        let _ = done.send(());
    });
    match wait.recv_timeout(time) {
        Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("{name} takes over {time:?}"),
        _ => thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
    }
}
