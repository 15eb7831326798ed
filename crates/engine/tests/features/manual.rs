//! What an application asks of RocksDB's compactions itself.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use lissom::{Db, Settings};
use rust_rocksdb::properties::NUM_RUNNING_COMPACTIONS;
use rust_rocksdb::{BottommostLevelCompaction, CompactOptions, WaitForCompactOptions};

use super::store::{
    Model, PATIENCE, agree, files_by_level, key, load, open, pieces, put, scattered, settings,
    settle, settle_after_others_and_agree, settle_and_agree, value, went_deep,
};

const EVERYTHING: Option<&[u8]> = None;

#[test]
fn compact_range_works_while_the_autopilot_works() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-3");
    let mut model = Model::new();
    load(&db, &mut model, 20_000, 1);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let middle = [key(5_000), key(9_000)];
            db.compact_range(Some(&middle[0]), Some(&middle[1]));
            db.compact_range(EVERYTHING, EVERYTHING);
            done.store(true, Relaxed);
        });
        let mut version = 2;
        while !done.load(Relaxed) {
            for number in scattered(2_000) {
                put(&db, &mut model, key(number), value(number, version));
            }
            version += 1;
        }
    });
    settle_after_others_and_agree(&db, &model);
}

#[test]
fn compact_range_of_a_quiet_store_leaves_one_run() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-3");
    let mut model = Model::new();
    load(&db, &mut model, 20_000, 1);
    load(&db, &mut model, 5_000, 2);
    settle_and_agree(&db, &model);
    went_deep(&db);
    db.compact_range(EVERYTHING, EVERYTHING);
    let files = files_by_level(&db);
    assert_eq!(files.len(), 1, "{files:?}");
    settle_and_agree(&db, &model);
}

#[test]
fn an_exclusive_compact_range_ends_while_the_autopilot_works() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-2");
    let mut model = Model::new();
    load(&db, &mut model, 20_000, 1);
    let mut options = CompactOptions::default();
    options.set_exclusive_manual_compaction(true);
    db.compact_range_opt(EVERYTHING, EVERYTHING, &options);
    load(&db, &mut model, 5_000, 2);
    settle_and_agree(&db, &model);
}

#[test]
fn the_only_worker_merges_beside_a_long_compact_range() {
    let directory = tempfile::tempdir().expect("a directory");
    let alone = Settings {
        workers: 1,
        rate_limit_bytes_per_second: Some(1 << 30),
        ..settings("fixed-3")
    };
    let db = Db::open(directory.path(), alone).expect("opened");
    let mut model = Model::new();
    load(&db, &mut model, 20_000, 1);
    settle_and_agree(&db, &model);
    db.autopilot().compact("default").expect("asked");
    settle_and_agree(&db, &model);
    went_deep(&db);
    let merged = || {
        let glance = db.autopilot().glance("default");
        glance.expect("it is driven").pieces.merged
    };
    let running = || db.property_int_value(NUM_RUNNING_COMPACTIONS);
    // Of some 3 MB, read and written.
    db.set_rate_limit(256 << 10).expect("a rate");
    std::thread::scope(|scope| {
        let long = scope.spawn(|| {
            let mut options = CompactOptions::default();
            options.set_bottommost_level_compaction(BottommostLevelCompaction::Force);
            db.compact_range_opt(Some(key(0)), Some(key(20_000)), &options);
        });
        while running().expect("a property") == Some(0) {
            assert!(!long.is_finished(), "it did not take long");
            std::thread::sleep(Duration::from_millis(2));
        }
        let before = merged();
        for number in 900_000..900_002 {
            put(&db, &mut model, key(number), value(number, 1));
            db.flush().expect("a flush");
        }
        while merged() == before {
            assert!(!long.is_finished(), "L0 waited for its end");
            std::thread::sleep(Duration::from_millis(2));
        }
        db.set_rate_limit(1 << 30).expect("a rate");
    });
    settle_and_agree(&db, &model);
}

#[test]
fn a_run_that_compact_range_puts_anywhere_is_taken_as_it_lies() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-2");
    let mut model = Model::new();
    load(&db, &mut model, 12_000, 1);
    settle_and_agree(&db, &model);
    for target in [60, 193] {
        let mut options = CompactOptions::default();
        options.set_change_level(true);
        options.set_target_level(target);
        db.compact_range_opt(EVERYTHING, EVERYTHING, &options);
        assert!(files_by_level(&db).contains_key(&target));
        load(&db, &mut model, 12_000, 2 + target as u64);
        settle_and_agree(&db, &model);
    }
}

#[test]
fn suggested_files_are_compacted_and_the_tree_settles() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-3");
    let mut model = Model::new();
    load(&db, &mut model, 20_000, 1);
    load(&db, &mut model, 8_000, 2);
    settle_and_agree(&db, &model);
    went_deep(&db);
    let default = db.cf_handle("default").expect("default");
    db.suggest_compact_range_cf(&default, EVERYTHING, EVERYTHING)
        .expect("a suggestion");
    load(&db, &mut model, 8_000, 3);
    db.wait_for_compact(&WaitForCompactOptions::default())
        .expect("RocksDB's jobs end");
    settle_after_others_and_agree(&db, &model);
}

#[test]
fn disabled_manual_compactions_hold_the_autopilot_back_without_a_spin() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-2");
    let mut model = Model::new();
    load(&db, &mut model, 6_000, 1);
    db.disable_manual_compaction();
    let before = pieces(db.autopilot());
    let begun = Instant::now();
    load(&db, &mut model, 6_000, 2);
    std::thread::sleep(Duration::from_millis(1_500));
    let after = pieces(db.autopilot());
    let asked = after.cancelled - before.cancelled + after.stale - before.stale;
    assert!(asked > 0, "{after:?}");
    // 5 ms, doubled up to a second, on each of two workers.
    let most = 2 * (9 + begun.elapsed().as_secs());
    assert!(asked <= most, "{asked} attempts in {:?}", begun.elapsed());
    agree(&db, &model);

    db.enable_manual_compaction();
    settle_and_agree(&db, &model);
    assert!(pieces(db.autopilot()).merged > after.merged);
}

#[test]
fn disable_auto_compactions_is_honoured_at_run_time() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-2");
    let mut model = Model::new();
    load(&db, &mut model, 6_000, 1);
    db.set_options(&[("disable_auto_compactions", "true")])
        .expect("set");
    // The autopilot looks at RocksDB's options once in a second.
    std::thread::sleep(Duration::from_millis(1_100));
    let at_rest = || {
        let pieces = pieces(db.autopilot());
        (pieces.merged, pieces.moved)
    };
    let before = at_rest();
    load(&db, &mut model, 12_000, 2);
    db.flush().expect("a flush");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(at_rest(), before, "nothing starts while it is set");
    assert!(files_by_level(&db)[&0] >= 10, "{:?}", files_by_level(&db));
    agree(&db, &model);

    db.set_options(&[("disable_auto_compactions", "false")])
        .expect("set");
    settle_and_agree(&db, &model);
    assert!(at_rest() > before);
}

/// RocksDB takes any number for its least one.
#[test]
fn a_number_of_jobs_below_the_least_leaves_one_worker() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-2");
    let mut model = Model::new();
    db.set_db_options(&[("max_background_jobs", "-1")])
        .expect("RocksDB takes it");
    // The autopilot looks at RocksDB's options once in a second.
    std::thread::sleep(Duration::from_millis(1_100));
    let before = pieces(db.autopilot()).merged;
    load(&db, &mut model, 12_000, 1);
    settle_and_agree(&db, &model);
    assert!(pieces(db.autopilot()).merged > before);
}

#[test]
fn background_work_pauses_once_the_autopilot_is_paused() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-2");
    let mut model = Model::new();
    load(&db, &mut model, 12_000, 1);
    db.autopilot().pause();
    db.pause_background_work().expect("paused");
    let before = files_by_level(&db);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(files_by_level(&db), before);
    db.continue_background_work().expect("continued");
    db.autopilot().unpause();
    settle_and_agree(&db, &model);
}

#[test]
fn files_deleted_in_a_range_leave_a_tree_that_settles() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-3");
    let mut model = Model::new();
    load(&db, &mut model, 20_000, 1);
    settle(&db, db.autopilot());
    let before: usize = files_by_level(&db).values().sum();
    db.delete_file_in_range(key(4_000), key(12_000))
        .expect("deleted");
    assert!(files_by_level(&db).values().sum::<usize>() < before);
    // Of the range itself RocksDB promises nothing; it is deleted again.
    db.delete_range(key(4_000), key(12_001)).expect("deleted");
    model.retain(|at, _| *at < key(4_000) || *at > key(12_000));
    settle_and_agree(&db, &model);
    load(&db, &mut model, 20_000, 2);
    settle_and_agree(&db, &model);
}

#[test]
fn after_cancelled_background_work_the_store_closes_and_reopens() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-2");
    let mut model = Model::new();
    load(&db, &mut model, 12_000, 1);
    db.flush_wal(true).expect("synced");
    db.cancel_all_background_work(true);
    let begun = Instant::now();
    drop(db);
    assert!(begun.elapsed() < PATIENCE);
    let db = open(directory.path(), "fixed-2");
    settle_and_agree(&db, &model);
}

#[test]
fn options_that_become_foreign_at_run_time_are_told_and_survived() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-2");
    let mut model = Model::new();
    load(&db, &mut model, 8_000, 1);
    db.set_options(&[("ttl", "60")]).expect("set");
    let journal = directory.path().join("LISSOM-JOURNAL");
    let begun = Instant::now();
    // A line of JSON.
    let words = r#"after SetOptions the column family \"default\" cannot be driven: its ttl is 60 s; set it to 0"#;
    while !std::fs::read_to_string(&journal)
        .expect("a journal")
        .contains(words)
    {
        assert!(begun.elapsed() < PATIENCE, "nothing was said");
        std::thread::sleep(Duration::from_millis(20));
    }
    db.set_options(&[("ttl", "0")]).expect("set");
    load(&db, &mut model, 8_000, 2);
    db.flush().expect("a flush");
    assert!(
        db.autopilot().wait_until_idle(PATIENCE),
        "{:?}",
        db.health()
    );
    agree(&db, &model);
}
