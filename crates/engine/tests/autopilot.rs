//! The autopilot while the store runs: limits, pins, pauses, tuners that fail.

#[path = "autopilot/attached.rs"]
mod attached;
mod common;
#[path = "autopilot/pins.rs"]
mod pins;
#[path = "autopilot/tuners.rs"]
mod tuners;

use std::time::{Duration, Instant};

use common::{PATIENCE, key, load, runs_of, settle, small, tree, value};
use lissom::core::{LogicalLevel, RunLimit, RunLimits};
use lissom::ffi::CfRef;
use lissom::ffi::options_text::live_options_text;
use lissom::{Db, Settings};

fn limits(db: &Db) -> RunLimits {
    db.statistics().expect("statistics").families["default"]
        .limits
        .clone()
}

/// Waits until `what` holds.
fn eventually(what: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !what() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// As in most processes: only who may raise a thread's priority has merges give way.
#[test]
fn a_store_whose_merges_never_give_way_is_sound() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = Settings {
        idle_cpu_priority: false,
        ..small("fixed-1")
    };
    let db = Db::open(directory.path(), settings).expect("opened");
    load(&db, 0..2_000, 1);
    std::thread::sleep(Duration::from_millis(400));
    let health = db.health();
    assert!(health.running, "{health:?}");
}

/// RocksDB would otherwise take the rate of the schedule's limiter, which has no end.
#[test]
fn under_every_schedule_writers_are_slowed_down_before_they_are_stopped() {
    for schedule in ["eager", "paced", "look-ahead", "dlc", "silk"] {
        let directory = tempfile::tempdir().expect("a directory");
        let settings = Settings {
            schedule: schedule.parse().expect("a schedule"),
            ..small("fixed-1")
        };
        let db = Db::open(directory.path(), settings).expect("opened");
        let family = db.rocksdb().cf_handle("default").expect("it is there");
        let lines = live_options_text(CfRef::of(&family).expect("a handle")).expect("readable");
        let rate = lines
            .db
            .lines()
            .find(|line| line.contains("delayed_write_rate"));
        assert_eq!(
            rate.map(str::trim),
            Some("delayed_write_rate=16777216"),
            "{schedule}"
        );
    }
}

#[test]
fn a_new_policy_holds_at_once_and_shapes_the_tree() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), small("fixed-1")).expect("opened");
    load(&db, 0..8_000, 1);
    settle(&db);
    assert!(runs_of(&tree(&db), 1) <= 1);
    db.set_policy("default", &"fixed-4".parse().expect("a policy"))
        .expect("set");
    let four = RunLimits::uniform(RunLimit::clamped(4));
    assert!(eventually(|| limits(&db) == four));
    let mut most = 0;
    for part in 0..40 {
        load(&db, part * 1_000..(part + 1) * 1_000, 2);
        assert!(db.autopilot().wait_until_idle(PATIENCE));
        most = most.max(runs_of(&tree(&db), 1));
    }
    assert!(most >= 2, "{most} runs");
    drop(db);
    let journal = std::fs::read_to_string(directory.path().join("LISSOM-JOURNAL"));
    let journal = journal.expect("a journal");
    let is_set = |line: &&str| line.contains("\"event\":\"policy\"");
    let set = journal
        .lines()
        .find(is_set)
        .expect("the policy is on record");
    assert!(set.contains("\"policy\":\"fixed-4\""), "{set}");
    assert!(set.contains("\"exploration\":0.1"), "{set}");
    assert!(set.contains("\"max_write_amplification\":30.0"), "{set}");
}

#[test]
fn limits_and_drains_outlive_a_reopening() {
    let directory = tempfile::tempdir().expect("a directory");
    let first = |db: &Db| limits(db).get(LogicalLevel(1)).get();
    {
        let db = Db::open(directory.path(), small("thresholds-20-80")).expect("opened");
        assert!(eventually(|| {
            load(&db, 0..2_000, 1);
            first(&db) == 4
        }));
        // Closed in the middle of its work.
        load(&db, 0..30_000, 2);
    }
    let db = Db::open(directory.path(), small("thresholds-20-80")).expect("opened");
    assert!(eventually(|| first(&db) == 4), "as it was");
    settle(&db);
    for number in (0..30_000).step_by(113) {
        assert_eq!(db.get(key(number)).expect("a get"), Some(value(number, 2)));
    }
    drop(db);
    let db = Db::open(directory.path(), small("fixed-2")).expect("opened");
    let two = RunLimits::uniform(RunLimit::clamped(2));
    assert!(
        eventually(|| limits(&db) == two),
        "a fixed policy holds at once"
    );
}

#[test]
fn nothing_starts_while_paused_or_while_compactions_are_turned_off() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), small("fixed-1")).expect("opened");
    let merged = |db: &Db| {
        let statistics = db.statistics().expect("statistics");
        statistics.families["default"].pieces.merged
    };
    db.autopilot().pause();
    load(&db, 0..8_000, 1);
    db.flush().expect("a flush");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(merged(&db), 0);
    db.autopilot().unpause();
    settle(&db);
    let before = merged(&db);
    assert!(before > 0);

    db.set_options(&[("disable_auto_compactions", "true")])
        .expect("set");
    // The autopilot asks RocksDB once a second.
    std::thread::sleep(Duration::from_millis(1_200));
    load(&db, 0..8_000, 2);
    db.flush().expect("a flush");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(merged(&db), before);
    db.set_options(&[("disable_auto_compactions", "false")])
        .expect("set");
    settle(&db);
    assert!(merged(&db) > before);
}

#[test]
fn a_policy_for_other_filters_is_refused_and_the_present_one_stays() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), small("fixed-4")).expect("opened");
    let policy = "lerp-monkey".parse().expect("a policy");
    let refused = db.set_policy("default", &policy).expect_err("uniform");
    let sentence = refused.to_string();
    assert!(sentence.contains("leave -monkey out"), "{sentence}");
    assert!(db.autopilot().wait_until_idle(PATIENCE));
    let policy = || {
        db.statistics().expect("statistics").families["default"]
            .policy
            .clone()
    };
    assert_eq!(policy(), "fixed-4");
    let lerp = "lerp".parse().expect("a policy");
    db.set_policy("default", &lerp).expect("any filters do");
    assert!(eventually(|| policy() == "lerp"), "{}", policy());
}

#[test]
fn patience_without_end_is_waited_for() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), small("fixed-1")).expect("opened");
    load(&db, 0..8_000, 1);
    db.flush().expect("a flush");
    assert!(db.autopilot().wait_until_idle(Duration::MAX));
}
