//! Schedules over a real database: what they order is obeyed, and loses nothing.

mod common;

use std::time::{Duration, Instant};

use common::{PATIENCE, key, load, settle, small, value};
use lissom::autopilot::ScheduleReport;
use lissom::core::schedule::{Level0Order, Phase, ScheduleKind};
use lissom::inspect::{self, Question};
use lissom::{Db, Settings};

/// A device so slow that any writing is high load to it.
fn loaded(schedule: &str) -> Settings {
    Settings {
        schedule: schedule.parse().expect("a schedule"),
        write_buffer_size: 64 << 10,
        level0_slowdown_writes_trigger: 60,
        level0_stop_writes_trigger: 80,
        max_level0_files: Some(30),
        device_bytes_per_second: Some(1 << 20),
        ..small("fixed-2")
    }
}

/// Writes 2 MB a second or so until the order is as wanted. Returns how many entries
/// were written, and the most files of L0 that were seen.
fn write_until(db: &Db, first: u64, wanted: impl Fn(&ScheduleReport) -> bool) -> (u64, usize) {
    let begun = Instant::now();
    let (mut at, mut files) = (first, 0);
    loop {
        let report = db.autopilot().schedule();
        let glance = db.autopilot().glance("default").expect("a family");
        files = files.max(glance.tree.level0_files);
        if wanted(&report) {
            return (at - first, files);
        }
        assert!(begun.elapsed() < PATIENCE, "{report:?}");
        load(db, at..at + 100, 1);
        at += 100;
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn level0_is(order: Level0Order) -> impl Fn(&ScheduleReport) -> bool {
    move |report| report.order.level0 == order && report.order.phase == Phase::High
}

fn agree(db: &Db, written: u64) {
    for number in 0..written {
        let found = db.get(key(number)).expect("a get");
        assert_eq!(found, Some(value(number, 1)), "{number}");
    }
}

#[test]
fn level_0_waits_at_high_load_and_is_merged_after_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), loaded("dlc")).expect("open");
    let (waited, _) = write_until(&db, 0, level0_is(Level0Order::Wait));
    let (burst, most) = write_until(&db, waited, level0_is(Level0Order::Merge));
    assert!((10..=40).contains(&most), "L0 had {most} files");
    let begun = Instant::now();
    while db.autopilot().schedule().order.phase == Phase::High {
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(50));
    }
    let load = db.autopilot().schedule().load;
    assert!(load.writes >= waited && load.logged_bytes > 0, "{load:?}");
    settle(&db);
    let tree = common::tree(&db);
    assert!(tree.level0_files < 4, "{tree:?}");
    agree(&db, waited + burst);
    drop(db);
    let question = Question {
        decisions: 1_000,
        ..Question::default()
    };
    let seen = inspect::inspect(directory.path(), &question).expect("inspect");
    let says = |words: &str| seen.decisions.iter().any(|it| it.sentence.contains(words));
    assert!(says(
        "L0 waits, at most 1 below it at a time: the load is high"
    ));
    assert!(says("everything goes on"));
}

#[test]
#[ignore = "slow: nine schedules, five seconds each"]
fn every_schedule_keeps_the_bound_and_the_data() {
    for kind in ScheduleKind::every() {
        let directory = tempfile::tempdir().expect("a directory");
        let settings = Settings {
            max_level0_files: Some(12),
            ..loaded(&kind.to_string())
        };
        let db = Db::open(directory.path(), settings).expect("open");
        let begun = Instant::now();
        let (written, most) = write_until(&db, 0, |_| begun.elapsed() > Duration::from_secs(5));
        // RocksDB's brake comes at 60: a merge under way is all that lies between.
        assert!(most <= 30, "{kind}: L0 had {most} files");
        agree(&db, written);
        drop(db);
        let settings = Settings {
            schedule: ScheduleKind::Eager,
            ..loaded("eager")
        };
        let db = Db::open(directory.path(), settings).expect("open");
        settle(&db);
        agree(&db, written);
    }
}

#[test]
fn the_device_is_measured_once_per_directory() {
    let directory = tempfile::tempdir().expect("a directory");
    let notes = || {
        let question = Question {
            decisions: 1_000,
            ..Question::default()
        };
        let seen = inspect::inspect(directory.path(), &question).expect("inspect");
        let of_device = |text: &&str| text.contains("the device does");
        let sentences = seen.decisions.iter().map(|it| it.sentence.as_str());
        sentences.filter(of_device).count()
    };
    for _ in 0..2 {
        let settings = Settings {
            schedule: ScheduleKind::LookAhead,
            ..small("fixed-2")
        };
        let db = Db::open(directory.path(), settings).expect("open");
        load(&db, 0..1_000, 1);
        settle(&db);
        drop(db);
        assert_eq!(notes(), 1);
        let seen = inspect::inspect(directory.path(), &Question::default()).expect("inspect");
        let owed = seen.owed.expect("the device is known");
        assert!(owed.device_bytes_per_second > 100_000, "{owed:?}");
        let drawn = inspect::draw(&seen, &inspect::Style::default());
        assert!(drawn.contains("s to catch up"), "{drawn}");
    }
}

#[test]
fn bounds_out_of_range_are_refused_with_a_sentence() {
    let directory = tempfile::tempdir().expect("a directory");
    let refused = |settings: Settings| {
        let error = Db::open(directory.path(), settings).err().expect("refused");
        error.to_string()
    };
    let says = refused(Settings {
        max_level0_files: Some(20),
        ..small("fixed-2")
    });
    assert!(says.contains("max_level0_files"), "{says}");
    let says = refused(Settings {
        device_bytes_per_second: Some(5),
        ..small("fixed-2")
    });
    assert!(says.contains("device_bytes_per_second"), "{says}");
}
