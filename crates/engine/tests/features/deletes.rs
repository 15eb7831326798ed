//! Deletes of all kinds.

use lissom::ffi::CfRef;
use lissom::ffi::perf::{Counts, Sample};
use lissom::ffi::snapshot::{TableRow, table_properties};
use lissom::{Db, RocksDb, Settings};
use rust_rocksdb::IteratorMode;

use super::store::{
    Model, key, load, open, open_with, put, scattered, settings, settle_and_agree, value, went_deep,
};

/// Entries of a store, and how many of them are deleted.
const ENTRIES: u64 = 15_000;
const DELETED: u64 = ENTRIES / 10 * 9;

fn delete_nine_of_ten(db: &Db, model: &mut Model) {
    for number in scattered(ENTRIES).filter(|number| number % 10 != 0) {
        db.delete(key(number)).expect("deleted");
        model.remove(&key(number));
    }
}

/// What the table files say of themselves; RocksDB's metadata may not know it yet.
fn tables(db: &RocksDb) -> Vec<TableRow> {
    let family = db.cf_handle("default").expect("there always is one");
    let family = CfRef::of(&family).expect("the plug-in fits the binding");
    let tables = table_properties(family).expect("properties");
    tables.into_values().collect()
}

/// Files of which half or more are tombstones.
fn full_of_tombstones(db: &RocksDb) -> usize {
    let tables = tables(db);
    let full = tables
        .iter()
        .filter(|table| 2 * table.deletions >= table.entries);
    full.count()
}

fn tombstones(db: &RocksDb) -> u64 {
    tables(db).iter().map(|table| table.deletions).sum()
}

/// What a scan over everything meets.
#[derive(Debug)]
struct Met {
    entries: usize,
    tombstones: u64,
    /// Keys of RocksDB's that are stepped over: tombstones, what they hide, and the entries.
    steps: u64,
    blocks: u64,
}

fn scan(db: &RocksDb) -> Met {
    let sample = Sample::begin().expect("this thread counts nothing yet");
    let entries = db
        .iterator(IteratorMode::Start)
        .inspect(|entry| assert!(entry.is_ok(), "{entry:?}"))
        .count();
    let mut counts = Counts::default();
    sample.end(&mut counts);
    let totals = counts.totals;
    Met {
        entries,
        tombstones: totals.internal_delete_skipped_count,
        steps: totals.internal_delete_skipped_count + totals.internal_key_skipped_count,
        blocks: totals.block_cache_hit_count + totals.block_read_count,
    }
}

#[test]
fn range_deletes_hide_what_is_older_and_only_that() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-4");
    let mut model = Model::new();
    for round in 1..=4 {
        load(&db, &mut model, 10_000, round);
        for start in (0..10_000).step_by(1_000) {
            let (from, to) = (key(start + 100 * round), key(start + 100 * round + 250));
            db.delete_range(&from, &to).expect("deleted");
            model.retain(|at, _| *at < from || *at >= to);
        }
        for number in (0..10_000).step_by(97) {
            put(&db, &mut model, key(number), value(number, 100 + round));
        }
    }
    settle_and_agree(&db, &model);
    went_deep(&db);
    db.delete_range(key(0), key(999_999)).expect("deleted");
    model.clear();
    put(&db, &mut model, key(5), value(5, 200));
    settle_and_agree(&db, &model);
}

/// RocksDB takes such a range into its log, and refuses every write from then on.
#[test]
fn a_range_that_ends_before_it_starts_is_refused_and_harms_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut model = Model::new();
    {
        let db = open(directory.path(), "fixed-2");
        load(&db, &mut model, 100, 1);
        db.create_cf("other").expect("made");
        let other = db.family("other").expect("there");
        for result in [db.delete_range("b", "a\n"), other.delete_range("b", "a\n")] {
            let error = result.expect_err("reversed").to_string();
            assert!(
                error.contains(r"the range from b to a\n: its end"),
                "{error}"
            );
        }
        db.delete_range("b", "b").expect("an empty range");
        put(&db, &mut model, key(5), value(5, 2));
        other.put("key", "value").expect("a put");
        assert!(db.health().background_error.is_none());
    }
    let db = open(directory.path(), "fixed-2");
    settle_and_agree(&db, &model);
}

#[test]
fn range_tombstones_over_all_keys_are_merged_away() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-2");
    let mut model = Model::new();
    load(&db, &mut model, 12_000, 1);
    db.delete_range(key(0), key(999_999)).expect("deleted");
    model.clear();
    // Nobody asks for a merge: that files hold nothing but tombstones is enough.
    settle_and_agree(&db, &model);
    let left: u64 = tables(&db).iter().map(|table| table.entries).sum();
    assert!(left < 120, "{left} entries of an empty store");
}

#[test]
fn single_deletes_meet_their_puts() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-3");
    let mut model = Model::new();
    for round in 0..4 {
        load(&db, &mut model, 10_000, round);
        // Each key has been put once since it was last deleted.
        for number in scattered(10_000) {
            if round < 3 || number % 2 == 0 {
                db.single_delete(key(number)).expect("deleted");
                model.remove(&key(number));
            }
        }
    }
    settle_and_agree(&db, &model);
}

/// Tombstones take too little space to fill a level: without a rule of their own they would
/// stay where they are.
#[test]
fn deletes_are_merged_away() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-4");
    let mut model = Model::new();
    load(&db, &mut model, ENTRIES, 1);
    settle_and_agree(&db, &model);
    went_deep(&db);
    delete_nine_of_ten(&db, &mut model);
    settle_and_agree(&db, &model);
    let left = tombstones(&db);
    assert!(left < DELETED / 4, "{left} of {DELETED} tombstones");
}

/// The autopilot alone does it, once it may: nobody asks for a merge or writes any more.
#[test]
fn scans_recover_from_deletes() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-4");
    let mut model = Model::new();
    load(&db, &mut model, ENTRIES, 1);
    settle_and_agree(&db, &model);
    went_deep(&db);
    db.autopilot().pause();
    delete_nine_of_ten(&db, &mut model);
    db.flush().expect("a flush");
    let slow = scan(&db);
    assert_eq!(slow.entries, model.len());
    assert!(slow.tombstones >= DELETED, "{slow:?}");
    assert!(tombstones(&db) >= DELETED);

    db.autopilot().unpause();
    settle_and_agree(&db, &model);
    let recovered = scan(&db);
    assert_eq!(recovered.entries, model.len());
    let seen = format!("{slow:?} {recovered:?}");
    assert!(recovered.tombstones < slow.tombstones / 4, "{seen}");
    assert!(recovered.steps < slow.steps / 4, "{seen}");
    assert!(recovered.blocks < slow.blocks / 2, "{seen}");
    let left = tombstones(&db);
    assert!(left < DELETED / 4, "{left} of {DELETED} tombstones");
}

/// Level 1 holds 1,280 KiB, in files of 8 KiB.
fn of_small_files(tombstone_share: f64) -> Settings {
    Settings {
        target_file_size_base: 8 << 10,
        block_size: 4 << 10,
        size_ratio: 10,
        tombstone_share,
        ..settings("fixed-1")
    }
}

/// Deletes nine of ten and writes the others anew, so that no file is all tombstones.
fn rewrite_one_of_ten(db: &Db, model: &mut Model) {
    for number in scattered(ENTRIES) {
        if number % 10 == 0 {
            put(db, model, key(number), value(number, 2));
        } else {
            db.delete(key(number)).expect("deleted");
            model.remove(&key(number));
        }
    }
}

/// At an open RocksDB reads of some 20 files how many tombstones they hold.
#[test]
fn tombstones_are_merged_away_after_a_reopening() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut model = Model::new();
    let before = {
        let db = Db::open(directory.path(), of_small_files(1.0)).expect("opened");
        load(&db, &mut model, ENTRIES, 1);
        db.autopilot().compact("default").expect("asked");
        settle_and_agree(&db, &model);
        went_deep(&db);
        rewrite_one_of_ten(&db, &mut model);
        settle_and_agree(&db, &model);
        let full = full_of_tombstones(&db);
        assert!(full > 40, "{full} files full of tombstones");
        tombstones(&db)
    };
    let db = Db::open(directory.path(), of_small_files(0.5)).expect("reopened");
    // Nobody writes.
    settle_and_agree(&db, &model);
    assert_eq!(full_of_tombstones(&db), 0);
    let left = tombstones(&db);
    assert!(left < before / 10, "{left} of {before} tombstones");
}

#[test]
fn a_collector_may_mark_files_with_many_deletes() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open_with(directory.path(), |options| {
        options.add_compact_on_deletion_collector_factory(100, 30, 0.3);
    });
    let mut model = Model::new();
    load(&db, &mut model, 10_000, 1);
    for number in 2_000..6_000 {
        db.delete(key(number)).expect("deleted");
        model.remove(&key(number));
    }
    settle_and_agree(&db, &model);
}
