//! What a rebuild and its end refuse: files that are somebody's own, a second command at
//! once, directories that are not meant.

use std::fs;

use lissom::apply::{Applier, finish, undo};
use lissom::{Db, Settings};
use rust_rocksdb::DB;

use super::data::{FEWER_LEVELS, Place, contents, make, options, refusal, rewrite, wanted};

#[test]
fn what_cannot_be_copied_is_refused_and_left_as_it_was() {
    let place = Place::new();
    let path = place.path();
    make(&path, 100);
    let before = contents(&path);
    let refused = |words: &str| {
        let error = refusal(&path, FEWER_LEVELS);
        assert!(error.contains(words), "{words}: {error}");
        assert_eq!(contents(&path), before, "{words}");
    };
    for name in ["notes.txt", "app.log", "export.sst", "x.trash"] {
        fs::write(path.join(name), "mine").expect("written");
        refused(&format!("{name} in it is no file of RocksDB's"));
        fs::remove_file(path.join(name)).expect("removed");
    }

    fs::create_dir(place.beside(".rebuild")).expect("made");
    fs::write(place.beside(".rebuild").join("mine"), "mine").expect("written");
    refused("it is no copy");
    assert!(place.beside(".rebuild").join("mine").exists());
    fs::remove_dir_all(place.beside(".rebuild")).expect("removed");

    fs::create_dir(place.beside(".before-apply")).expect("made");
    refused("no directory from before a rebuild");
    fs::remove_dir(place.beside(".before-apply")).expect("removed");

    let db = DB::open_cf(&options(), &path, ["default", "second", "third"]).expect("it opens");
    let error = refusal(&path, FEWER_LEVELS);
    assert!(error.contains("close it there first"), "{error}");
    drop(db);
    // What a kill has left of a mark is no user's.
    fs::write(path.join("LISSOM-REBUILD.tmp"), "half").expect("written");
    rewrite(&path, FEWER_LEVELS);
    assert_eq!(contents(&path), before);
}

#[test]
fn files_of_users_are_not_removed_with_an_old_directory() {
    let place = Place::new();
    let path = place.path();
    make(&path, 100);
    rewrite(&path, FEWER_LEVELS);
    let mine = place.beside(".before-apply").join("app.log");
    fs::write(&mine, "mine").expect("written");
    let error = finish(&path, true).expect_err("not RocksDB's").to_string();
    assert!(error.contains("app.log in it is no file"), "{error}");
    assert!(mine.exists());
    fs::remove_file(&mine).expect("removed");
    finish(&path, false).expect("finished");
    assert_eq!(place.names(), ["data"]);
}

#[test]
fn one_command_at_a_time_works_on_a_database() {
    let place = Place::new();
    let path = place.path();
    make(&path, 1_000);
    let before = contents(&path);
    let applier = || Applier::new(&path, wanted(FEWER_LEVELS));
    let mut said = Vec::new();
    applier()
        .rewrite(true)
        .apply(&mut |_| {
            said.extend([
                finish(&path, true).map(drop),
                undo(&path, |_| true).map(drop),
                applier().apply(&mut |_| ()).map(drop),
            ]);
        })
        .expect("rebuilt");
    assert!(said.len() > 3, "{said:?}");
    for answer in said {
        let error = answer.expect_err("another one is at work").to_string();
        assert!(error.contains("another `lissom apply`"), "{error}");
    }
    assert_eq!(contents(&path), before);
    assert_eq!(place.names(), ["data", "data.before-apply"]);
}

/// Each of them could be taken for a database.
#[test]
fn the_name_of_a_directory_beside_the_database_is_refused() {
    let place = Place::new();
    let path = place.path();
    make(&path, 1_000);
    let before = contents(&path);
    rewrite(&path, FEWER_LEVELS);
    let old = place.beside(".before-apply");
    for error in [
        finish(&old, true).map(drop),
        undo(&old, |_| true).map(drop),
        Applier::new(&old, wanted(FEWER_LEVELS)).plan().map(drop),
        Applier::new(&old, wanted(FEWER_LEVELS))
            .apply(&mut |_| ())
            .map(drop),
    ] {
        let error = error.expect_err("the old directory").to_string();
        assert!(error.contains("is the old directory of"), "{error}");
    }
    undo(&path, |_| true).expect("its mark is still there");
    assert_eq!(contents(&path), before);
}

#[test]
fn a_running_store_of_lissoms_is_refused() {
    let place = Place::new();
    let path = place.path();
    let db = Db::open(&path, Settings::default()).expect("a new store");
    let error = refusal(&path, FEWER_LEVELS);
    assert!(error.contains("--running"), "{error}");
    db.put("still", "running").expect("a put");
}

#[test]
fn a_database_named_as_a_directory_beside_one_is_refused() {
    let place = Place::new();
    make(&place.path(), 100);
    let named = place.beside(".undone");
    fs::rename(place.path(), &named).expect("renamed");
    let error = refusal(&named, FEWER_LEVELS);
    assert!(error.contains("rename it first"), "{error}");
    assert!(named.join("CURRENT").exists());
}
