//! Time for which writers were held back.

use std::time::{Duration, Instant};

use lissom::{Db, Settings};
use rust_rocksdb::statistics::StatsLevel;

use super::common::{key, load, settle, small, value};
use super::of_default;

/// Memtables fill faster than they are flushed under this rate, so that writers wait.
fn slow_to_flush() -> Settings {
    Settings {
        rate_limit_bytes_per_second: Some(256 << 10),
        statistics: StatsLevel::ExceptHistogramOrTimers,
        ..small("fixed-1")
    }
}

#[test]
fn the_waits_of_writers_are_told_and_the_longest_of_them() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), slow_to_flush()).expect("opened");
    // Flushes have the rate for themselves.
    db.autopilot().pause();
    load(&db, 0..100, 1);
    let told = of_default(&db);
    assert_eq!(told.longest_stall, Duration::ZERO);
    assert_eq!(told.total.stall, Duration::ZERO);

    let (mut longest, mut all) = (Duration::ZERO, Duration::ZERO);
    // Five memtables: at two of them writers wait at the least.
    for number in 100..5_000 {
        let begun = Instant::now();
        db.put(key(number), value(number, 1)).expect("a put");
        let took = begun.elapsed();
        longest = longest.max(took);
        all += took;
    }
    let statistics = db.statistics().expect("statistics");
    let told = &statistics.families["default"];
    let seen = format!("{:?} {:?}", told.longest_stall, told.total.stall);
    // RocksDB's own count of the same waits, by a clock that may be set meanwhile.
    let counted = statistics.stall;
    assert!(counted > Duration::ZERO, "nobody waited");
    assert!(
        told.total.stall.mul_f64(1.05) >= counted,
        "{seen} {counted:?}"
    );
    assert!(told.total.stall <= all, "{seen} {all:?}");
    assert!(told.longest_stall > Duration::ZERO, "{seen}");
    assert!(told.longest_stall <= longest, "{seen} {longest:?}");
    assert!(
        told.longest_stall < told.total.stall,
        "one of several: {seen}"
    );
    db.set_rate_limit(1 << 30).expect("there is one");
}

/// RocksDB tells of such a stall when it is over.
#[test]
fn after_a_stall_nobody_is_held_back() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), slow_to_flush()).expect("opened");
    db.autopilot().pause();
    load(&db, 0..3_000, 1);
    assert!(
        of_default(&db).total.stall > Duration::ZERO,
        "nobody waited"
    );
    db.set_rate_limit(1 << 30).expect("there is one");
    db.autopilot().unpause();
    settle(&db);
    // The first one learns that it is over.
    load(&db, 0..1, 2);
    let before = of_default(&db).total.stall;
    load(&db, 0..100, 3);
    assert_eq!(of_default(&db).total.stall, before);
}
