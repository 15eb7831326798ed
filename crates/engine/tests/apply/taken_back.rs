//! Rebuilds that are taken back, with what was done to the copy since.

use std::path::Path;

use lissom::apply::{Changes, finish, undo};
use rust_rocksdb::{DB, Options};

use super::data::{FEWER_LEVELS, Place, contents, make, options, rewrite};

/// As an application opens it.
fn opened(path: &Path) -> DB {
    DB::open_cf(&options(), path, ["default", "second", "third"]).expect("it opens")
}

#[test]
fn a_rebuild_is_taken_back_unasked_while_nobody_has_opened_it() {
    let place = Place::new();
    let path = place.path();
    make(&path, 2_000);
    let before = contents(&path);
    rewrite(&path, FEWER_LEVELS);
    assert_eq!(contents(&path), before);
    undo(&path, |changes| panic!("asked for {changes:?}")).expect("taken back");
    assert_eq!(place.names(), ["data", "data.undone"]);
    let finished = finish(&path, false).expect("finished");
    assert_eq!((finished.removed.len(), finished.kept.len()), (1, 0));
    assert_eq!(contents(&path), before);
}

#[test]
fn what_was_written_since_a_rebuild_is_left_behind_by_consent_and_kept() {
    let place = Place::new();
    let path = place.path();
    make(&path, 2_000);
    let before = contents(&path);
    rewrite(&path, FEWER_LEVELS);
    let db = opened(&path);
    db.put("since", "then").expect("a put");
    assert!(undo(&path, |_| true).is_err(), "it is open");
    drop(db);
    let mut asked = None;
    let refused = undo(&path, |changes| {
        asked = Some(changes);
        false
    });
    let why = refused.expect_err("not consented").to_string();
    assert!(why.contains("left behind"), "{why}");
    assert_eq!(asked, Some(Changes { writes: Some(1) }));
    assert_eq!(place.names(), ["data", "data.before-apply"]);
    assert_eq!(
        contents(&path)["default"].len(),
        before["default"].len() + 1
    );

    let undone = undo(&path, |_| true).expect("taken back");
    assert_eq!(contents(&path), before);
    let aside = contents(&undone.aside);
    assert_eq!(aside["default"].len(), before["default"].len() + 1);
    assert_eq!(place.names(), ["data", "data.undone"]);
    assert!(
        undo(&path, |_| true).is_err(),
        "there is nothing to take back"
    );

    // A later rebuild does not remove it either.
    rewrite(&path, FEWER_LEVELS);
    let finished = finish(&path, false).expect("finished");
    assert_eq!((finished.removed.len(), finished.kept.len()), (1, 1));
    assert_eq!(place.names(), ["data", "data.undone"]);
    assert_eq!(contents(&undone.aside), aside);
    let finished = finish(&path, true).expect("finished");
    assert_eq!((finished.removed.len(), finished.kept.len()), (1, 0));
    assert_eq!(place.names(), ["data"]);
    assert_eq!(contents(&path), before);
}

/// Whoever works on the old directory, as by a script that names it.
#[test]
fn a_copy_is_kept_that_has_what_the_old_directory_has_lost() {
    let place = Place::new();
    let path = place.path();
    make(&path, 2_000);
    let before = contents(&path);
    rewrite(&path, FEWER_LEVELS);
    let old = path.with_file_name("data.before-apply");
    let key = before["default"].keys().next().expect("an entry");
    opened(&old).delete(key).expect("deleted");
    let undone = undo(&path, |changes| panic!("asked for {changes:?}")).expect("taken back");
    assert!(!contents(&path)["default"].contains_key(key));
    let finished = finish(&path, false).expect("finished");
    assert_eq!((finished.removed.len(), finished.kept.len()), (0, 1));
    assert_eq!(contents(&undone.aside), before);
}

/// None of them takes a sequence number.
#[test]
fn changes_that_are_no_writes_are_asked_for_too() {
    let changes: [fn(&mut DB); 3] = [
        |db| {
            db.delete_file_in_range(&b"0"[..], &b"8"[..])
                .expect("deleted");
        },
        |db| db.create_cf("fourth", &Options::default()).expect("made"),
        |_| (),
    ];
    for change in changes {
        let place = Place::new();
        let path = place.path();
        make(&path, 2_000);
        rewrite(&path, FEWER_LEVELS);
        let mut db = opened(&path);
        change(&mut db);
        drop(db);
        let mut asked = false;
        let refused = undo(&path, |_| {
            asked = true;
            false
        });
        assert!(asked && refused.is_err(), "{refused:?}");
        assert_eq!(place.names(), ["data", "data.before-apply"]);
    }
}

/// Somebody has pointed a program at the old directory instead of calling `undo`.
#[test]
fn what_was_written_to_the_old_directory_is_kept() {
    let place = Place::new();
    let path = place.path();
    make(&path, 2_000);
    rewrite(&path, FEWER_LEVELS);
    let before = path.with_file_name("data.before-apply");
    let db = opened(&before);
    db.put("since", "then").expect("a put");
    drop(db);
    let finished = finish(&path, false).expect("finished");
    assert_eq!(
        (finished.removed.len(), finished.kept),
        (0, vec![before.clone()])
    );
    assert_eq!(contents(&before)["default"][&b"since"[..]], b"then");
    let finished = finish(&path, true).expect("finished");
    assert_eq!((finished.removed.len(), finished.kept.len()), (1, 0));
    assert_eq!(place.names(), ["data"]);
}

/// As by a program that is started on it, or was told of the wrong directory.
#[test]
fn what_was_written_to_a_copy_after_it_was_taken_away_is_kept() {
    let place = Place::new();
    let path = place.path();
    make(&path, 2_000);
    rewrite(&path, FEWER_LEVELS);
    let undone = undo(&path, |changes| panic!("asked for {changes:?}")).expect("taken back");
    let db = opened(&undone.aside);
    db.put("since", "then").expect("a put");
    drop(db);
    let finished = finish(&path, false).expect("finished");
    assert_eq!(
        (finished.removed.len(), finished.kept),
        (0, vec![undone.aside.clone()])
    );
    assert_eq!(contents(&undone.aside)["default"][&b"since"[..]], b"then");
    let finished = finish(&path, true).expect("finished");
    assert_eq!((finished.removed.len(), finished.kept.len()), (1, 0));
}
