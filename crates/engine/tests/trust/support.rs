//! A small database, and patience with an end.

use std::time::Duration;

use lissom::{Compression, Db, Settings};

use crate::PATIENCE;

/// Buffers of 64 KiB, files of 32 KiB, a size ratio of 4.
pub fn small(policy: &str) -> Settings {
    Settings {
        policy: policy.parse().expect("a policy"),
        write_buffer_size: 64 << 10,
        max_write_buffer_number: 4,
        target_file_size_base: 32 << 10,
        memory_budget_bytes: 16 << 20,
        size_ratio: 4,
        compression: vec![Compression::None],
        mission_operations: 2_000,
        mission_time: Duration::from_millis(50),
        max_space_amplification: 100.0,
        ..Settings::default()
    }
}

/// Keys of consecutive numbers lie far apart.
pub fn key(number: u64) -> Vec<u8> {
    format!("{:016x}", number.reverse_bits()).into_bytes()
}

pub fn value(number: u64, version: u64) -> Vec<u8> {
    let mut value = format!("{number}-{version}-").into_bytes();
    value.resize(200, b'.');
    value
}

pub fn load(db: &Db, numbers: std::ops::Range<u64>, version: u64) {
    for number in numbers {
        db.put(key(number), value(number, version)).expect("a put");
    }
}

pub fn settle(db: &Db) {
    db.flush().expect("a flush");
    assert!(
        db.autopilot().wait_until_idle(PATIENCE),
        "not idle in time: {:#?}",
        db.health()
    );
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
