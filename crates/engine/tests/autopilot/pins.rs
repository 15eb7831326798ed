//! Limits that somebody holds.

use std::time::Duration;

use lissom::core::{LogicalLevel, RunLimit, RunLimits, Transition};
use lissom::{Db, Settings};

use super::common::{PATIENCE, key, load, runs_of, settle, small, tree, value};
use super::{eventually, limits};

#[test]
fn thresholds_raise_limits_under_writes_until_they_are_pinned() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), small("thresholds-20-80")).expect("opened");
    db.pin().expect("pinned");
    load(&db, 0..10_000, 1);
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(limits(&db), RunLimits::uniform(RunLimit::ONE), "held");
    assert!(db.mission("default").is_some(), "missions go on");
    let work = || db.statistics().expect("statistics").families["default"].tuner;
    assert!(work().asked > 0, "it wishes for more");
    assert_eq!(work().changed, 0, "a wish changes nothing");
    // From outside: the pin is a file.
    std::fs::remove_file(directory.path().join("LISSOM-PIN")).expect("removed");
    let first = |db: &Db| limits(db).get(LogicalLevel(1)).get();
    assert!(eventually(|| {
        load(&db, 0..2_000, 2);
        first(&db) == 4
    }));
    assert!(work().changed >= 3, "{:?}", work());
    std::fs::write(directory.path().join("LISSOM-PIN"), "").expect("pinned");
    std::thread::sleep(Duration::from_millis(200));
    for number in 0..30_000 {
        assert!(db.get(key(number % 10_000)).expect("a get").is_some());
    }
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(first(&db), 4, "held under reads");
    db.unpin().expect("unpinned");
    assert!(eventually(|| {
        for number in 0..10_000 {
            assert!(db.get(key(number)).expect("a get").is_some());
        }
        first(&db) == 1
    }));
    drop(db);
    let journal = std::fs::read_to_string(directory.path().join("LISSOM-JOURNAL")).expect("there");
    assert!(journal.contains("% reads, fewer than 20 %"));
    assert!(journal.contains("\"pinned\":true"));
}

/// A lazy change reaches each level with its next drain. A pin holds the old limits
/// through all of them, and through a reopening.
#[test]
fn a_pin_holds_limits_that_a_lazy_change_would_replace() {
    let directory = tempfile::tempdir().expect("a directory");
    let lazy = |policy: &str| Settings {
        transition: Transition::Lazy,
        ..small(policy)
    };
    let of = |db: &Db, level: u16| limits(db).get(LogicalLevel(level)).get();
    let drains = |db: &Db| db.statistics().expect("statistics").families["default"].drains;
    // Other keys each time, or no level would ever fill.
    let mut written = 0;
    let mut more = |db: &Db| {
        load(db, written..written + 4_000, 1);
        settle(db);
        written += 4_000;
        assert!(written < 1_000_000, "{:?}", tree(db));
        written
    };

    let db = Db::open(directory.path(), lazy("fixed-1")).expect("opened");
    // Level 1 is empty before its first run, and after each of its drains.
    while runs_of(&tree(&db), 1) == 0 {
        more(&db);
    }
    db.set_policy("default", &"fixed-3".parse().expect("a policy"))
        .expect("set");
    assert!(eventually(|| of(&db, 9) == 3), "a level without runs");
    assert_eq!(of(&db, 1), 1, "a level with a run waits");

    db.pin().expect("pinned");
    std::thread::sleep(Duration::from_millis(200));
    let held = limits(&db);
    let before = drains(&db);
    while drains(&db) < before + 3 {
        more(&db);
    }
    assert_eq!(limits(&db), held, "held through drains");
    drop(db);

    let db = Db::open(directory.path(), lazy("fixed-3")).expect("opened");
    let before = drains(&db);
    while drains(&db) == before {
        more(&db);
    }
    assert_eq!(limits(&db), held, "held over a reopening");

    db.unpin().expect("unpinned");
    while of(&db, 1) != 3 {
        more(&db);
    }
    let written = more(&db);
    for number in (0..written).step_by(97) {
        assert_eq!(db.get(key(number)).expect("a get"), Some(value(number, 1)));
    }
}

/// A policy that is replaced while the limits are held never held any.
#[test]
fn limits_that_a_pin_held_back_go_with_their_policy() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), small("fixed-1")).expect("opened");
    let policy = |name: &str| {
        let policy = name.parse().expect("a policy");
        db.set_policy("default", &policy).expect("set");
    };
    let looked = || assert!(db.autopilot().wait_until_idle(PATIENCE));
    looked();
    db.pin().expect("pinned");
    policy("fixed-4");
    looked();
    policy("thresholds-20-80");
    looked();
    db.unpin().expect("free again");
    // The first look may have begun before.
    for _ in 0..2 {
        db.autopilot().unpause();
        looked();
    }
    assert_eq!(limits(&db), RunLimits::uniform(RunLimit::ONE));
    policy("fixed-4");
    looked();
    assert_eq!(limits(&db), RunLimits::uniform(RunLimit::clamped(4)));
}
