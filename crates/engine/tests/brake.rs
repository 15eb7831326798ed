//! Without the autopilot RocksDB goes on serving reads and writes, without end.

mod common;

use std::time::Duration;

use common::{key, load, settle, small, value};
use lissom::{Db, Settings};

#[test]
fn ten_times_the_stop_trigger_is_written_without_the_autopilot() {
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
        db.autopilot().stop();
        assert!(!db.health().running);
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
fn closing_does_not_wait_for_long_compactions() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), small("fixed-1")).expect("opened");
    load(&db, 0..30_000, 1);
    let begun = std::time::Instant::now();
    drop(db);
    assert!(begun.elapsed() < Duration::from_secs(5));
}
