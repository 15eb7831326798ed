//! Deletes of all kinds.

use super::store::{
    Model, key, load, open, open_with, put, scattered, settle_and_agree, value, went_deep,
};

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

#[test]
fn range_tombstones_over_all_keys_are_merged_away() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-2");
    let mut model = Model::new();
    load(&db, &mut model, 12_000, 1);
    db.delete_range(key(0), key(999_999)).expect("deleted");
    model.clear();
    settle_and_agree(&db, &model);
    db.autopilot().compact("default").expect("asked");
    settle_and_agree(&db, &model);
    let left: u64 = db
        .live_files()
        .expect("files")
        .iter()
        .map(|file| file.num_entries)
        .sum();
    assert!(left <= 1, "{left} entries of an empty store");
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

#[test]
fn deletes_are_merged_away() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-4");
    let mut model = Model::new();
    load(&db, &mut model, 15_000, 1);
    for number in scattered(15_000).filter(|number| number % 10 != 0) {
        db.delete(key(number)).expect("deleted");
        model.remove(&key(number));
    }
    settle_and_agree(&db, &model);
    db.autopilot().compact("default").expect("asked");
    settle_and_agree(&db, &model);
    let files = db.live_files().expect("files");
    assert_eq!(files.iter().map(|file| file.num_deletions).sum::<u64>(), 0);
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
