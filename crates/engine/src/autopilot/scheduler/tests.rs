//! What holds beside the order of a schedule.

use std::path::Path;

use super::*;
use crate::files::state;
use crate::{Compression, Db};

const PATIENCE: Duration = Duration::from_secs(30);

/// A store whose planner thread has ended, and a scheduler for it.
fn opened(directory: &Path) -> (Db, Scheduler) {
    let settings = Settings {
        schedule: ScheduleKind::LookAhead,
        device_bytes_per_second: Some(1 << 30),
        ..Settings::default()
    };
    let db = Db::open(directory, settings).expect("opened");
    db.autopilot().stop();
    let stored = state::load(directory).expect("readable").stored;
    let mut memory = Memory::new(directory.to_owned(), stored);
    let scheduler = Scheduler::new(&db.autopilot().shared, &mut memory);
    (db, scheduler)
}

/// An order like the one before is none that holds already.
#[test]
fn a_rate_that_was_ended_is_set_anew() {
    let directory = tempfile::tempdir().expect("a directory");
    let (db, mut scheduler) = opened(directory.path());
    let shared = &db.autopilot().shared;
    let limit = shared.rate_limit.clone().expect("a schedule has one");
    let rate = Some(1 << 20);
    for _ in 0..2 {
        let set = scheduler.set_rate(shared, rate, Instant::now());
        set.expect("a rate");
        assert_eq!(limit.bytes_per_second(), rate);
        shared.end_rate();
        assert_eq!(limit.bytes_per_second(), None);
    }
}

/// Rounds that fail see nothing of it.
#[test]
fn what_was_flushed_since_the_last_look_counts_for_the_bound() {
    let directory = tempfile::tempdir().expect("a directory");
    let (db, mut scheduler) = opened(directory.path());
    let shared = &db.autopilot().shared;
    let family = shared.family("default").expect("it is driven");
    family.view.lock().tree.level0_files = 5;
    assert!(!scheduler.keep_bound(shared));
    for _ in 0..12 {
        family.counters.count_flush(100);
    }
    assert_eq!(debt(shared).level0_files, 17);
    assert!(scheduler.keep_bound(shared));
    assert!(shared.schedule.lock().order.at_bound);
}

/// Whether ten megabytes are written soon at a rate that lets one of them be flushed in a second,
/// and for ten.
fn is_written_soon() -> bool {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = Settings {
        schedule: "dlc".parse().expect("a schedule"),
        schedule_interval: Duration::from_secs(10),
        device_bytes_per_second: Some(1 << 20),
        write_buffer_size: 256 << 10,
        max_write_buffer_number: 2,
        memory_budget_bytes: 32 << 20,
        level0_slowdown_writes_trigger: 60,
        level0_stop_writes_trigger: 80,
        compression: vec![Compression::None],
        ..Settings::default()
    };
    let db = Db::open(directory.path(), settings).expect("opened");
    db.autopilot().pause();
    let begun = Instant::now();
    while db.autopilot().shared.ordered_rate().is_none() {
        assert!(begun.elapsed() < PATIENCE, "no rate was ordered");
        std::thread::sleep(Duration::from_millis(10));
    }
    let begun = Instant::now();
    for number in 0..10_000_u32 {
        let key = number.to_be_bytes();
        db.put(key, [0_u8; 1_000]).expect("a put");
    }
    begun.elapsed() < Duration::from_secs(5)
}

/// A machine that is busy otherwise may take longer for it.
#[test]
fn a_rate_that_holds_writers_back_ends_before_the_next_look() {
    assert!((0..3).any(|_| is_written_soon()));
}

/// What the threads of subcompactions have of the processors would count as the users'.
#[test]
fn where_merges_start_threads_users_have_no_known_share_of_the_processors() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = Settings {
        schedule: ScheduleKind::LookAhead,
        schedule_interval: Duration::from_millis(100),
        device_bytes_per_second: Some(1 << 30),
        max_subcompactions: 2,
        ..Settings::default()
    };
    let db = Db::open(directory.path(), settings).expect("opened");
    let begun = Instant::now();
    let load = || db.autopilot().schedule().load;
    while load().interval < Duration::from_millis(500) {
        assert!(begun.elapsed() < PATIENCE, "the load was not looked at");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(load().user_cpu, None);
}
