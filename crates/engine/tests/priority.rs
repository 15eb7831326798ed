//! Merges over a real database give way, and are called back. A process of its own: what is
//! looked at are all workers of it.

#![cfg(target_os = "linux")]

mod common;

use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use common::{PATIENCE, key, load, settle, small, value};
use lissom::autopilot::ScheduleReport;
use lissom::{Db, Settings};
use rust_rocksdb::CompactionDecision;

/// Entries at a time that come to 2 MB a second or so, one time in 10 ms.
const SOME: u64 = 100;

/// Numbers of the workers of this process, and their scheduling policies, by the kernel.
fn workers() -> Vec<(String, u32)> {
    let tasks = std::fs::read_dir("/proc/self/task").expect("threads");
    let worker = |task: std::fs::DirEntry| {
        // It may end meanwhile.
        let text = std::fs::read_to_string(task.path().join("stat")).ok()?;
        let (head, tail) = text.rsplit_once(") ")?;
        let policy = tail.split_whitespace().nth(41 - 3)?.parse().ok()?;
        let number = task.file_name().into_string().ok()?;
        head.contains("(lissom-worker").then_some((number, policy))
    };
    tasks.filter_map(|task| worker(task.ok()?)).collect()
}

/// Whether a worker is at idle priority at the processors: policy 5.
fn idle_cpu() -> bool {
    workers().iter().any(|(_, policy)| *policy == 5)
}

/// Whether one is at the device, by util-linux.
fn idle_io() -> bool {
    let numbers = workers().into_iter().map(|(number, _)| number);
    let told = Command::new("ionice").arg("-p").args(numbers).output();
    let told = told.expect("ionice runs").stdout;
    String::from_utf8_lossy(&told).contains("idle")
}

/// Whether a worker gave way in the next 10 ms: a merge takes some.
fn gives_way(how: fn() -> bool) -> bool {
    (0..10).any(|_| {
        std::thread::sleep(Duration::from_millis(1));
        how()
    })
}

/// Whether files here can be written past the operating system's cache.
fn bypasses_cache(place: &Path) -> bool {
    let mut options = std::fs::OpenOptions::new();
    options
        .create(true)
        .write(true)
        .custom_flags(libc::O_DIRECT);
    let probe = place.join("probe");
    let bypasses = options.open(&probe).is_ok();
    let _ = std::fs::remove_file(probe);
    bypasses
}

/// Merges stop at their next entry while this is set, and how many have.
static HOLD: AtomicBool = AtomicBool::new(false);
static HELD: AtomicUsize = AtomicUsize::new(0);

/// A compaction filter that takes nothing away.
fn hold(_: u32, _: &[u8], _: &[u8]) -> CompactionDecision {
    if HOLD.load(SeqCst) {
        HELD.fetch_add(1, SeqCst);
        while HOLD.load(SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        HELD.fetch_sub(1, SeqCst);
    }
    CompactionDecision::Keep
}

/// The database closes only when its merges end.
struct Release;

impl Drop for Release {
    fn drop(&mut self) {
        HOLD.store(false, SeqCst);
    }
}

/// Whether a merge is held that gives way. One that had begun at normal priority goes on.
fn holds_one_that_gives_way() -> bool {
    HOLD.store(true, SeqCst);
    if HELD.load(SeqCst) == 0 {
        return false;
    }
    let found = idle_cpu() || idle_io();
    HOLD.store(found, SeqCst);
    found
}

fn why(db: &Db, text: &str) -> bool {
    db.autopilot().schedule().priority.level0.why.contains(text)
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
        idle_io_priority: true,
        use_direct_io_for_flush_and_compaction: bypasses_cache(directory.path()),
        ..small("fixed-2")
    };
    let db = Db::opening(directory.path(), settings)
        .customise(|_, options| options.set_compaction_filter("hold", hold))
        .open()
        .expect("open");
    let release = Release;
    let report = || -> ScheduleReport { db.autopilot().schedule() };
    let mut written = 0;
    let mut write_until = |done: &dyn Fn() -> bool| {
        let begun = Instant::now();
        while !done() {
            assert!(begun.elapsed() < PATIENCE, "{:?}", report());
            load(&db, written..written + SOME, 1);
            written += SOME;
        }
        written
    };
    // Each begins at idle priority, or something hinders it.
    let at_device = || why(&db, "is buffered") || why(&db, "serves all alike");
    write_until(&|| gives_way(idle_io) || at_device());
    let at_processors = || why(&db, "come back") || why(&db, "scheduling policy");
    write_until(&|| gives_way(idle_cpu) || at_processors());
    if at_device() || at_processors() {
        println!("not everywhere: {}", report().priority.level0.why);
    }
    let nowhere = at_device() && at_processors();
    let mut written = write_until(&|| nowhere || holds_one_that_gives_way());
    HOLD.store(true, SeqCst);
    let begun = Instant::now();
    while !why(&db, "three quarters") {
        assert!(begun.elapsed() < PATIENCE, "{:?}", report());
        load(&db, written..written + 10 * SOME, 1);
        written += 10 * SOME;
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!report().priority.deep.gives_way());
    // What is held at idle priority is called back.
    assert!(HELD.load(SeqCst) > 0, "merges are held");
    let begun = Instant::now();
    while idle_cpu() || idle_io() {
        let left = "a worker is left at idle priority";
        assert!(begun.elapsed() < PATIENCE, "{left}");
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(release);
    settle(&db);
    for number in 0..written {
        let found = db.get(key(number)).expect("a get");
        assert_eq!(found, Some(value(number, 1)), "{number}");
    }
}
