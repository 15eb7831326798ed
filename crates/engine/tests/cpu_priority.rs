//! Merges over a real database give way, and are called back. A process of its own: what is
//! looked at are all workers of it.

#![cfg(target_os = "linux")]

mod common;

use std::time::{Duration, Instant};

use common::{PATIENCE, key, load, settle, small, value};
use lissom::autopilot::ScheduleReport;
use lissom::core::schedule::CpuPriority;
use lissom::{Db, Settings};

/// Entries at a time that come to 2 MB a second or so, one time in 10 ms.
const SOME: u64 = 100;

/// Scheduling policies of the workers of this process, by the kernel: 5 is idle priority.
fn policies() -> Vec<u32> {
    let tasks = std::fs::read_dir("/proc/self/task").expect("threads");
    // One may end meanwhile.
    let texts =
        tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("stat")).ok());
    let policy = |text: String| {
        let (head, tail) = text.rsplit_once(") ")?;
        let is_worker = head.contains("(lissom-worker");
        let policy = tail.split_whitespace().nth(41 - 3)?.parse().ok();
        policy.filter(|_| is_worker)
    };
    texts.filter_map(policy).collect()
}

/// Whether a worker was at idle priority in the next 10 ms: a merge takes some.
fn gives_way() -> bool {
    (0..10).any(|_| {
        std::thread::sleep(Duration::from_millis(1));
        policies().contains(&5)
    })
}

fn why(db: &Db, text: &str) -> bool {
    db.autopilot().schedule().priority.why.contains(text)
}

/// Merges give way while L0 has room, whatever else this machine is doing; near its bound none
/// does.
#[test]
fn merges_give_way_until_l0_is_near_its_bound() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = Settings {
        write_buffer_size: 1 << 20,
        level0_slowdown_writes_trigger: 60,
        level0_stop_writes_trigger: 80,
        max_level0_files: Some(30),
        ..small("fixed-2")
    };
    let db = Db::open(directory.path(), settings).expect("open");
    let report = || -> ScheduleReport { db.autopilot().schedule() };
    let mut written = 0;
    let begun = Instant::now();
    while !gives_way() {
        if why(&db, "come back") || why(&db, "does not tell how long") {
            return println!("skipped: {}", report().priority.why);
        }
        assert!(begun.elapsed() < PATIENCE, "{:?}", report());
        load(&db, written..written + SOME, 1);
        written += SOME;
    }
    db.autopilot().pause();
    let begun = Instant::now();
    while !why(&db, "three quarters") {
        assert!(begun.elapsed() < PATIENCE, "{:?}", report());
        load(&db, written..written + 10 * SOME, 1);
        written += 10 * SOME;
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(report().priority.priority, CpuPriority::Normal);
    // What runs at idle priority is called back.
    let begun = Instant::now();
    while policies().contains(&5) {
        let left = "a worker is left at idle priority";
        assert!(begun.elapsed() < PATIENCE, "{left}");
        std::thread::sleep(Duration::from_millis(1));
    }
    db.autopilot().unpause();
    settle(&db);
    for number in 0..written {
        let found = db.get(key(number)).expect("a get");
        assert_eq!(found, Some(value(number, 1)), "{number}");
    }
}
