//! Schedules over a real database: what they order is obeyed, and loses nothing.

mod common;

use std::path::Path;
use std::time::{Duration, Instant};

use common::{PATIENCE, key, load, settle, small, value};
use lissom::autopilot::ScheduleReport;
use lissom::core::LogicalLevel;
use lissom::core::journal::Event;
use lissom::core::schedule::{Level0Order, Phase, ScheduleKind};
use lissom::inspect::{self, Question};
use lissom::{Db, Settings};
use serde_json::Value;

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

/// Entries at a time that come to 2 MB a second or so.
const FAST: u64 = 100;

/// The same for less than 450 kB: 20 entries of 216 bytes in no less than 10 ms.
const SLOW: u64 = 20;

/// Writes so many entries at a time until the order is as wanted. Returns how many were
/// written, and the most files of L0 that were seen.
fn write_until(
    db: &Db,
    (first, entries): (u64, u64),
    wanted: impl Fn(&ScheduleReport) -> bool,
) -> (u64, usize) {
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
        load(db, at..at + entries, 1);
        at += entries;
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn level0_is(order: Level0Order) -> impl Fn(&ScheduleReport) -> bool {
    move |report| report.order.level0 == order && report.order.phase == Phase::High
}

/// The limiter has the ordered rate, or one so near that it was left as it was.
fn is_obeyed(report: &ScheduleReport) -> bool {
    match (
        report.order.bytes_per_second,
        report.rate_limit_bytes_per_second,
    ) {
        (Some(ordered), Some(rate)) => ordered.abs_diff(rate) <= rate / 10,
        (ordered, rate) => ordered == rate,
    }
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
    let waits = level0_is(Level0Order::Wait);
    let (waited, _) = write_until(&db, (0, FAST), |report| {
        let is_limited = report.order.bytes_per_second.is_some();
        waits(report) && is_limited && is_obeyed(report)
    });
    let (burst, most) = write_until(&db, (waited, FAST), level0_is(Level0Order::Merge));
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
    let owed = seen.owed.expect("the device was given");
    assert_eq!(owed.device_bytes_per_second, 1 << 20);
}

/// Runs of level 1, as the planner last saw them.
fn level1_runs(db: &Db) -> usize {
    let glance = db.autopilot().glance("default").expect("a family");
    let runs = glance.tree.runs.iter();
    runs.filter(|run| run.level == Some(LogicalLevel(1)))
        .count()
}

/// A tree is at rest only once it has the runs that its limit lets it have.
#[test]
fn what_was_merged_by_itself_goes_back_once_the_load_falls() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = Settings {
        policy: "fixed-1".parse().expect("a policy"),
        schedule_interval: Duration::from_millis(100),
        // High from a megabyte a second on; at the rate that a device of that leaves, flushes
        // would hold the writers back until their load looks low.
        full_load_bytes_per_second: Some(1 << 20),
        device_bytes_per_second: Some(1 << 30),
        ..loaded("dlc-part")
    };
    let db = Db::open(directory.path(), settings).expect("open");
    let (written, _) = write_until(&db, (0, FAST), |report| {
        level0_is(Level0Order::MergeApart)(report) && level1_runs(&db) >= 3
    });
    settle(&db);
    assert!(level1_runs(&db) <= 1, "{:?}", common::tree(&db));
    agree(&db, written);
}

/// A paused autopilot merges nothing, so that L0 comes to its bound at low load, where
/// everything is let go anyway: the rate ends, and the journal tells of it, with an estimate
/// if the device is known.
#[test]
fn coming_to_the_bound_ends_the_rate_and_is_written_down() {
    let given = Some(1 << 30);
    for (name, device) in [
        ("eager", None),
        ("eager", given),
        ("silk", given),
        ("dlc", given),
    ] {
        let directory = tempfile::tempdir().expect("a directory");
        let settings = Settings {
            max_level0_files: Some(12),
            schedule_interval: Duration::from_millis(100),
            device_bytes_per_second: device,
            ..loaded(name)
        };
        let db = Db::open(directory.path(), settings).expect("open");
        db.autopilot().pause();
        let has_rate = name != "eager";
        let (written, _) = write_until(&db, (0, SLOW), |report| {
            report.order.bytes_per_second.is_some() == has_rate && is_obeyed(report)
        });
        let (more, _) = write_until(&db, (written, FAST), |report| {
            report.order.at_bound && is_obeyed(report)
        });
        let report = db.autopilot().schedule();
        assert_eq!(report.rate_limit_bytes_per_second, None, "{report:?}");
        assert_eq!(report.device_is_known, device.is_some(), "{report:?}");
        assert_eq!(report.catch_up.is_some(), device.is_some(), "{report:?}");
        db.autopilot().unpause();
        settle(&db);
        agree(&db, written + more);
        drop(db);
        let journal = common::journal(directory.path());
        let line = journal.iter().find_map(|entry| match &entry.event {
            Event::Schedule {
                order,
                catch_up,
                device_is_known,
                ..
            } if order.at_bound => Some((&order.why, catch_up.is_some(), *device_is_known)),
            _ => None,
        });
        let (why, is_estimated, is_known) = line.unwrap_or_else(|| panic!("{name}: no line"));
        assert!(why.ends_with("of which 12 may wait"), "{name}: {why}");
        assert_eq!(
            (is_estimated, is_known),
            (device.is_some(), device.is_some())
        );
    }
}

/// Whether L0 of two families together came to the bound on bytes, and the rate ended, before
/// the schedule had looked again: three seconds after it had last.
fn the_rate_ends_between_two_looks() -> bool {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = Settings {
        max_delayed_bytes: 12 * (64 << 10),
        schedule_interval: Duration::from_secs(3),
        device_bytes_per_second: Some(1 << 30),
        ..loaded("dlc")
    };
    let db = Db::open(directory.path(), settings).expect("open");
    db.create_cf("other").expect("a family");
    let other = db.family("other").expect("a family");
    db.autopilot().pause();
    let begun = Instant::now();
    while db.autopilot().schedule().order.bytes_per_second.is_none() {
        assert!(begun.elapsed() < PATIENCE, "no rate was ordered");
        std::thread::sleep(Duration::from_millis(10));
    }
    let looked = db.autopilot().schedule().load.at;
    let mut number = 0;
    loop {
        load(&db, number..number + FAST, 1);
        for number in number..number + FAST {
            other.put(key(number), value(number, 1)).expect("a put");
        }
        number += FAST;
        let report = db.autopilot().schedule();
        if report.order.at_bound && is_obeyed(&report) {
            assert_eq!(report.rate_limit_bytes_per_second, None, "{report:?}");
            let why = &report.order.why;
            assert!(why.contains(" bytes wait in L0, of which "), "{why}");
            return report.load.at == looked;
        }
        assert!(begun.elapsed() < PATIENCE, "{report:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A machine that is busy otherwise may take three seconds for what takes half of one.
#[test]
fn at_the_bound_on_bytes_of_all_families_the_rate_ends_at_once() {
    assert!((0..3).any(|_| the_rate_ends_between_two_looks()));
}

#[test]
#[ignore = "slow: nine schedules, five seconds each"]
fn every_schedule_keeps_the_bound_and_the_data() {
    for kind in ScheduleKind::every() {
        let directory = tempfile::tempdir().expect("a directory");
        let settings = Settings {
            max_level0_files: Some(12),
            schedule_interval: Duration::from_millis(100),
            // Any writing is high load, so that all who can wait do.
            full_load_bytes_per_second: Some(64 << 10),
            ..loaded(&kind.to_string())
        };
        let db = Db::open(directory.path(), settings).expect("open");
        let begun = Instant::now();
        let is_over = |_: &ScheduleReport| begun.elapsed() > Duration::from_secs(5);
        let (written, most) = write_until(&db, (0, SLOW), is_over);
        // Some eight memtables are full in a second. From the bound on L0 has to wait for the
        // merge under way, and for its own: 4 MB at any rate, a quarter of a second each. So
        // five files come on top, and one that is being written.
        assert!(most <= 12 + 6, "{kind}: L0 had {most} files");
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

/// What the state file keeps of the schedule.
fn kept(directory: &Path) -> Value {
    let text = std::fs::read_to_string(directory.join("LISSOM")).expect("a state file");
    let body = text.lines().nth(1).expect("a checksum stands before it");
    let mut stored: Value = serde_json::from_str(body).expect("JSON");
    stored["schedule"]["state"].take()
}

/// The second and third time the store is closed before its schedule has looked at a load: it
/// can only keep what it has taken up, and `eager` keeps what is another's.
#[test]
fn what_look_ahead_has_learned_survives_a_reopen() {
    let directory = tempfile::tempdir().expect("a directory");
    let open = |schedule: &str, interval: Duration| {
        let settings = Settings {
            schedule_interval: interval,
            ..loaded(schedule)
        };
        Db::open(directory.path(), settings).expect("open")
    };
    let db = open("look-ahead", Duration::from_millis(100));
    let (written, _) = write_until(&db, (0, FAST), |report| {
        report.order.phase == Phase::High && report.load.level1_compacted_bytes > 0
    });
    drop(db);
    let learned = kept(directory.path());
    for (sum, part) in [("level0_work", "moved"), ("rhythm", "now")] {
        let part = &learned[sum][part];
        assert!(!part.is_null() && *part != 0.0, "{sum}: {learned}");
    }
    for schedule in ["eager", "look-ahead"] {
        let db = open(schedule, Duration::from_secs(60));
        agree(&db, written);
        drop(db);
        assert_eq!(kept(directory.path()), learned, "to the last digit");
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
    let opened = |schedule: ScheduleKind, given: Option<u64>| {
        let settings = Settings {
            schedule,
            device_bytes_per_second: given,
            ..small("fixed-2")
        };
        let db = Db::open(directory.path(), settings).expect("open");
        load(&db, 0..1_000, 1);
        settle(&db);
        drop(db);
        assert_eq!(notes(), 1);
        let seen = inspect::inspect(directory.path(), &Question::default()).expect("inspect");
        let drawn = inspect::draw(&seen, &inspect::Style::default());
        assert!(drawn.contains("s to catch up"), "{drawn}");
        let owed = seen.owed.expect("the device is known");
        owed.device_bytes_per_second
    };
    let measured = opened(ScheduleKind::LookAhead, None);
    assert!(measured > 100_000, "{measured}");
    // What is given goes before what was measured, and is not taken for it later.
    for schedule in [ScheduleKind::LookAhead, ScheduleKind::Eager] {
        assert_eq!(opened(schedule, None), measured);
        assert_eq!(opened(schedule, Some(5 << 20)), 5 << 20);
        assert_eq!(opened(schedule, None), measured);
    }
}

#[test]
fn the_device_is_measured_again_when_somebody_asks() {
    let directory = tempfile::tempdir().expect("a directory");
    let measured = || {
        let settings = Settings {
            schedule: ScheduleKind::LookAhead,
            ..small("fixed-2")
        };
        drop(Db::open(directory.path(), settings).expect("open"));
        let journal = common::journal(directory.path());
        let is_told = |event: &Event| match event {
            Event::Note { text } => text.contains("the device does"),
            _ => false,
        };
        journal.iter().filter(|it| is_told(&it.event)).count()
    };
    assert_eq!([measured(), measured()], [1, 1]);
    lissom::control::measure_device(directory.path()).expect("asked");
    assert_eq!([measured(), measured()], [2, 2]);
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
