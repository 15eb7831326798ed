//! Without the autopilot RocksDB goes on serving reads and writes, without end.

mod common;

use std::path::Path;
use std::time::{Duration, Instant};

use common::{PATIENCE, journal, key, load, settle, small, value};
use lissom::core::journal::{Event, Outcome};
use lissom::{Db, Settings};
use rust_rocksdb::WriteOptions;

/// Writes and reads ten times what may lie in L0, once `disable` has been called.
fn ten_times_the_stop_trigger(disable: impl Fn(&Db)) {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = Settings {
        write_buffer_size: 64 << 10,
        ..small("fixed-4")
    };
    let stop_bytes = u64::from(settings.level0_stop_writes_trigger) * settings.write_buffer_size;
    let entries = 10 * stop_bytes / 200;
    {
        let db = Db::open(directory.path(), settings.clone()).expect("opened");
        load(&db, 0..5_000, 1);
        disable(&db);
        load(&db, 0..entries, 2);
        db.flush().expect("a flush");
        for number in (0..entries).step_by(97) {
            assert_eq!(db.get(key(number)).expect("a get"), Some(value(number, 2)));
        }
    }
    let db = Db::open(directory.path(), settings).expect("reopened");
    settle(&db);
    let statistics = db.statistics().expect("statistics");
    let tree = &statistics.families["default"].tree;
    assert!(
        tree.runs.iter().all(|run| run.level.is_some()),
        "what RocksDB left on the landing level is folded in: {tree:?}"
    );
    for number in (0..entries).step_by(101) {
        assert_eq!(db.get(key(number)).expect("a get"), Some(value(number, 2)));
    }
}

#[test]
fn without_the_autopilot() {
    ten_times_the_stop_trigger(|db| {
        db.autopilot().stop();
        assert!(!db.health().running);
    });
}

/// Its threads are there, hold what they hold, and do nothing more.
#[test]
fn beside_an_autopilot_that_does_nothing() {
    ten_times_the_stop_trigger(|db| {
        db.autopilot().pause();
        assert!(db.health().running);
    });
}

/// Once L0 has come to its trigger RocksDB counts it and all of the landing level.
#[test]
fn bytes_that_wait_for_compaction_hold_nobody_back() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = Settings {
        write_buffer_size: 64 << 10,
        ..small("fixed-4")
    };
    let db = Db::opening(directory.path(), settings)
        .customise(|_, options| {
            options.set_soft_pending_compaction_bytes_limit(1);
            options.set_hard_pending_compaction_bytes_limit(1);
        })
        .open()
        .expect("opened");
    db.autopilot().stop();
    let mut low = WriteOptions::default();
    low.set_low_pri(true);
    low.set_no_slowdown(true);
    db.put_opt(key(0), value(0, 1), &low)
        .expect("no compaction is late");
    load(&db, 0..20_000, 1);
    db.flush().expect("a flush");
    let files = db.live_files().expect("files");
    let landed = files.iter().any(|file| file.level == 1);
    assert!(landed, "L0 has not come to its trigger");
    let stalls = db.property_value("rocksdb.cf-write-stall-stats");
    let stalls = stalls.expect("a property").expect("of any family");
    for kind in ["delays", "stops"] {
        let none = format!("pending-compaction-bytes-{kind}: 0");
        assert!(stalls.contains(&none), "{stalls}");
    }
}

/// Files that RocksDB writes or has written.
fn table_files(directory: &Path) -> usize {
    std::fs::read_dir(directory)
        .expect("readable")
        .filter(|entry| {
            let path = entry.as_ref().expect("an entry").path();
            path.extension().is_some_and(|extension| extension == "sst")
        })
        .count()
}

/// A merge that would take more than a minute is given up half way: were it waited for, it
/// would have come to its end.
#[test]
fn closing_does_not_wait_for_long_compactions() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = Settings {
        write_buffer_size: 1 << 20,
        target_file_size_base: 1 << 20,
        level0_slowdown_writes_trigger: 100,
        level0_stop_writes_trigger: 200,
        compaction_readahead_size: 4 << 10,
        rate_limit_bytes_per_second: Some(1 << 30),
        ..small("fixed-1")
    };
    let db = Db::open(directory.path(), settings.clone()).expect("opened");
    db.autopilot().pause();
    load(&db, 0..80_000, 1);
    db.flush().expect("a flush");
    let before = table_files(directory.path());
    assert!(before >= 4, "{before} files are no reason to merge");
    // All of L0 at once, 18 MB to read and as much to write.
    db.set_rate_limit(512 << 10).expect("there is one");
    db.autopilot().unpause();
    let begun = Instant::now();
    while table_files(directory.path()) == before {
        assert!(begun.elapsed() < PATIENCE, "nothing is merged");
        std::thread::sleep(Duration::from_millis(5));
    }
    let family = db.cf_handle("default").expect("there always is one");
    let seen = lissom::observe::observe(&family).expect("a tree");
    assert!(!seen.being_compacted.is_empty(), "it is under way");
    drop(family);
    drop(db);

    let outcomes: Vec<Outcome> = journal(directory.path())
        .into_iter()
        .filter_map(|entry| match entry.event {
            Event::CompactionEnd { outcome, .. } => Some(outcome),
            _ => None,
        })
        .collect();
    let done = |outcome: &Outcome| matches!(outcome, Outcome::Done { .. });
    assert!(outcomes.contains(&Outcome::Cancelled), "{outcomes:?}");
    assert!(!outcomes.iter().any(done), "{outcomes:?}");
    let db = Db::open(directory.path(), settings).expect("reopened");
    for number in (0..80_000).step_by(101) {
        assert_eq!(db.get(key(number)).expect("a get"), Some(value(number, 1)));
    }
}
