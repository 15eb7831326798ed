//! Rebuilds that are interrupted, and what may change before the next call.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use lissom::apply::{Applier, Phase, Progress};
use rust_rocksdb::{ColumnFamilyDescriptor, DB};

use super::data::{
    FEWER_LEVELS, Place, contents, make, make_filled, options, refusal, rewrite, wanted,
};

/// Rebuilds until `stop` says so of what is told, and gives up there.
fn interrupt(path: &Path, mut stop: impl FnMut(Progress) -> bool) {
    let stopped = catch_unwind(AssertUnwindSafe(|| {
        Applier::new(path, wanted(FEWER_LEVELS))
            .rewrite(true)
            .apply(&mut |progress| assert!(!stop(progress), "stopped here"))
    }));
    assert!(stopped.is_err(), "it was not interrupted: {stopped:?}");
}

/// Rebuilds until so many column families were compared.
fn interrupt_checking(path: &Path, families: u32) {
    let mut compared = 0;
    interrupt(path, |progress| {
        compared += u32::from(progress.phase == Phase::Checking);
        compared == families
    });
}

/// Rebuilds to its end. Returns what was done.
fn phases(path: &Path) -> Vec<Phase> {
    let mut phases = Vec::new();
    Applier::new(path, wanted(FEWER_LEVELS))
        .rewrite(true)
        .apply(&mut |progress| phases.push(progress.phase))
        .expect("rebuilt");
    phases
}

/// A copy is of no use once its original has changed.
#[test]
fn what_is_written_between_two_calls_is_not_lost() {
    let place = Place::new();
    let path = place.path();
    make(&path, 5_000);
    let mut told = 0;
    interrupt(&path, |_| {
        told += 1;
        told == 4
    });
    assert_eq!(place.names(), ["data", "data.rebuild"]);
    let db = DB::open_cf(&options(), &path, ["default", "second", "third"]).expect("it opens");
    db.put("meanwhile", "written").expect("a put");
    drop(db);
    let before = contents(&path);
    rewrite(&path, FEWER_LEVELS);
    assert_eq!(contents(&path), before);
    assert_eq!(
        contents(&path)["default"].get(&b"meanwhile"[..]),
        Some(&b"written".to_vec())
    );
    assert_eq!(place.names(), ["data", "data.before-apply"]);
}

/// The unfinished copy as the rebuild itself opens it.
fn opened_copy(place: &Place) -> DB {
    let families = [("default", 4), ("second", 7), ("third", 7)].map(|(name, levels)| {
        let mut own = options();
        own.set_num_levels(levels);
        ColumnFamilyDescriptor::new(name, own)
    });
    DB::open_cf_descriptors(&options(), place.beside(".rebuild"), families).expect("it opens")
}

/// In whatever way somebody has changed the copy before it was compared.
#[test]
fn a_copy_that_differs_is_not_taken_and_the_next_call_begins_anew() {
    let changes: [fn(&DB); 4] = [
        |db| db.put("in the log", "changed").expect("a put"),
        |db| db.put("one", "more").expect("a put"),
        |db| db.delete("in the log").expect("a delete"),
        |db| {
            let second = db.cf_handle("second").expect("it was copied");
            db.put_cf(second, "4444", "changed").expect("a put");
        },
    ];
    for change in changes {
        let place = Place::new();
        let path = place.path();
        make(&path, 2_000);
        let before = contents(&path);
        let all: usize = before.values().map(BTreeMap::len).sum();
        interrupt(&path, |progress| progress.entries == all as u64);
        let copy = opened_copy(&place);
        change(&copy);
        drop(copy);
        let error = refusal(&path, FEWER_LEVELS);
        assert!(error.contains("differs from the original"), "{error}");
        assert!(error.contains("is as it was"), "{error}");
        assert_eq!(place.names(), ["data", "data.rebuild"]);
        assert_eq!(contents(&path), before);
        assert!(phases(&path).contains(&Phase::Copying));
        assert_eq!(contents(&path), before);
        assert_eq!(contents(&place.beside(".before-apply")), before);
    }
}

/// A column family that was compared is not compared again, so that nobody would see it.
#[test]
fn a_copy_that_was_opened_since_it_was_compared_is_made_anew() {
    for compared in [1, 3] {
        let place = Place::new();
        let path = place.path();
        make(&path, 2_000);
        let before = contents(&path);
        interrupt_checking(&path, compared);
        let copy = opened_copy(&place);
        copy.put("in the log", "changed").expect("a put");
        drop(copy);
        assert!(phases(&path).contains(&Phase::Copying));
        assert_eq!(contents(&path), before);
        assert_eq!(place.names(), ["data", "data.before-apply"]);
    }
}

/// The mark says that it was compared, of what it was then.
#[test]
fn a_copy_that_is_opened_at_the_last_instant_is_not_taken() {
    let place = Place::new();
    let path = place.path();
    make(&path, 2_000);
    let before = contents(&path);
    let mut compared = 0;
    let error = Applier::new(&path, wanted(FEWER_LEVELS))
        .rewrite(true)
        .apply(&mut |progress| {
            compared += u32::from(progress.phase == Phase::Checking);
            if compared == 3 {
                drop(opened_copy(&place));
            }
        })
        .expect_err("it was opened")
        .to_string();
    assert!(error.contains("was opened meanwhile"), "{error}");
    assert_eq!(place.names(), ["data", "data.rebuild"]);
    assert_eq!(contents(&path), before);
    assert!(phases(&path).contains(&Phase::Copying));
    assert_eq!(contents(&path), before);
}

/// What was copied and compared is not copied and compared again.
#[test]
fn an_interrupted_comparison_goes_on_where_it_was() {
    let place = Place::new();
    let path = place.path();
    make(&path, 2_000);
    let before = contents(&path);
    interrupt_checking(&path, 2);
    assert_eq!(phases(&path), [Phase::Checking], "the third one was left");
    assert_eq!(contents(&path), before);
}

/// The copy was compared, with another database.
#[test]
fn a_copy_of_a_database_that_was_made_anew_since_is_not_taken() {
    let place = Place::new();
    let path = place.path();
    make_filled(&path, 5_000, &options(), b'.');
    interrupt_checking(&path, 3);
    assert_eq!(place.names(), ["data", "data.rebuild"]);
    fs::remove_dir_all(&path).expect("removed");
    make_filled(&path, 5_000, &options(), b',');
    let before = contents(&path);
    rewrite(&path, FEWER_LEVELS);
    assert_eq!(contents(&path), before);
    assert_eq!(contents(&place.beside(".before-apply")), before);
}
