//! The four names on a disk.

use rust_rocksdb::DB;

use super::*;
use crate::apply::rebuild::mark::Progress;

fn place(parent: &Path) -> Place {
    Place::of(&parent.join("data")).expect("a place")
}

fn make(path: &Path, content: &str) {
    fs::create_dir(path).expect("made");
    fs::write(path.join("content"), content).expect("written");
}

fn content(path: &Path) -> String {
    fs::read_to_string(path.join("content")).expect("readable")
}

fn verified() -> Mark {
    Mark::Copy(Progress {
        compared: Some("as it was".into()),
        verified: Some(7),
        ..Progress::default()
    })
}

fn cannot(_: &Path, _: &Path) -> Result<bool> {
    Ok(false)
}

/// An exchange in one step, and one by two renames.
const WAYS: [fn(&Path, &Path) -> Result<bool>; 2] = [disk::exchange, cannot];

#[test]
fn a_copy_comes_in_and_goes_again() {
    for way in WAYS {
        let parent = tempfile::tempdir().expect("a directory");
        let place = place(parent.path());
        make(&place.path, "old");
        make(&place.rebuild, "new");
        mark::save(&place.rebuild, &verified()).expect("marked");
        assert_eq!(place.settle().expect("settled"), Settled::Nothing);
        place
            .exchange_by(way, Name::Rebuild, Name::Before)
            .expect("exchanged");
        assert_eq!(content(&place.path), "new");
        assert_eq!(content(&place.before), "old");
        let successor = Successor {
            sequence: 7,
            identity: "as it was".into(),
            ..Successor::default()
        };
        assert_eq!(
            mark::load(&place.before).expect("readable"),
            Some(Mark::Before(successor))
        );
        assert_eq!(mark::load(&place.path).expect("readable"), None);
        assert!(!place.rebuild.exists());

        let taken_away = TakenAway {
            changed: true,
            identity: "as it was then".into(),
        };
        mark::save(&place.path, &Mark::Undoing(taken_away.clone())).expect("marked");
        place
            .exchange_by(way, Name::Before, Name::Undone)
            .expect("exchanged");
        assert_eq!(content(&place.path), "old");
        assert_eq!(content(&place.undone), "new");
        assert_eq!(
            mark::load(&place.undone).expect("readable"),
            Some(Mark::Undone(taken_away))
        );
        assert!(!place.before.exists());
        place.remove(&place.undone).expect("removed");
        let left = fs::read_dir(parent.path()).expect("readable").count();
        assert_eq!(left, 1);
    }
}

fn copied(parent: &Path) -> Place {
    let place = place(parent);
    make(&place.path, "old");
    make(&place.rebuild, "new");
    mark::save(&place.rebuild, &verified()).expect("marked");
    place
}

#[test]
fn a_kill_between_two_renames_is_settled() {
    let parent = tempfile::tempdir().expect("a directory");
    let place = copied(parent.path());
    place.leave(Name::Before).expect("renamed");
    let error = place.check_settled().expect_err("it is not there");
    assert!(error.to_string().contains("was interrupted"), "{error}");
    assert_eq!(place.settle().expect("settled"), Settled::Exchanged);
    assert_eq!(content(&place.path), "new");
    assert_eq!(content(&place.before), "old");
    assert!(
        place
            .was_rebuilt("anything")
            .expect("its mark is of before there was a hash")
    );

    let taken_away = TakenAway {
        changed: false,
        identity: String::new(),
    };
    mark::save(&place.path, &Mark::Undoing(taken_away)).expect("marked");
    place.leave(Name::Undone).expect("renamed");
    assert_eq!(place.settle().expect("settled"), Settled::TakenBack);
    assert_eq!(content(&place.path), "old");
    assert_eq!(content(&place.undone), "new");
    assert_eq!(place.settle().expect("settled"), Settled::Nothing);
}

/// As by a service that is started with the only directory that is there just then.
#[test]
fn what_is_written_to_between_two_renames_comes_back() {
    for written in [false, true] {
        let parent = tempfile::tempdir().expect("a directory");
        let place = copied(parent.path());
        let mut copy = verified();
        if let Mark::Copy(progress) = &mut copy {
            progress.source = identity(&place.path).expect("readable");
        }
        mark::save(&place.rebuild, &copy).expect("marked");
        place.leave(Name::Before).expect("renamed");
        if written {
            fs::write(place.before.join("000009.log"), "a write").expect("written");
        }
        let settled = place.settle().expect("settled");
        let (is, wanted) = match written {
            true => ("old", Settled::Nothing),
            false => ("new", Settled::Exchanged),
        };
        assert_eq!((settled, &*content(&place.path)), (wanted, is));
        assert_eq!(place.rebuild.exists(), written);
        assert_eq!(mark::load(&place.path).expect("readable"), None);
    }
}

#[test]
fn what_somebody_has_open_between_two_renames_keeps_its_name() {
    let parent = tempfile::tempdir().expect("a directory");
    let place = place(parent.path());
    drop(DB::open_default(&place.path).expect("a new database"));
    make(&place.rebuild, "new");
    let copy = Progress {
        source: identity(&place.path).expect("readable"),
        verified: Some(7),
        ..Progress::default()
    };
    mark::save(&place.rebuild, &Mark::Copy(copy)).expect("marked");
    place.leave(Name::Before).expect("renamed");
    let db = DB::open_default(&place.before).expect("it opens");
    let error = place.settle().expect_err("it is open").to_string();
    assert!(error.contains("close it there first"), "{error}");
    assert!(!place.path.exists());
    db.put("key", "value").expect("a put");
    drop(db);
    assert_eq!(place.settle().expect("settled"), Settled::Nothing);
    let db = DB::open_default(&place.path).expect("it opens");
    assert_eq!(
        db.get("key").expect("a get").as_deref(),
        Some(&b"value"[..])
    );
}

/// As by a service that is started again just then.
#[test]
fn what_is_made_between_two_renames_is_told_and_not_taken() {
    let parent = tempfile::tempdir().expect("a directory");
    let place = copied(parent.path());
    place.leave(Name::Before).expect("renamed");
    make(&place.path, "empty");
    assert!(place.enter(Name::Rebuild).is_err());
    for _ in 0..2 {
        let error = place.settle().expect_err("not the database").to_string();
        assert!(error.contains("move this directory away"), "{error}");
        assert!(place.check_settled().is_err());
    }
    assert_eq!(content(&place.path), "empty");
    assert_eq!(content(&place.before), "old");
    fs::rename(&place.path, parent.path().join("away")).expect("moved");
    assert_eq!(place.settle().expect("settled"), Settled::Exchanged);
    assert_eq!(content(&place.path), "new");
    assert_eq!(content(&place.before), "old");
}

#[test]
fn a_rename_that_fails_is_taken_back() {
    let parent = tempfile::tempdir().expect("a directory");
    let place = copied(parent.path());
    fs::rename(&place.rebuild, parent.path().join("away")).expect("moved");
    place
        .exchange_by(cannot, Name::Rebuild, Name::Before)
        .expect_err("there is no copy");
    assert_eq!(content(&place.path), "old");
    assert_eq!(mark::load(&place.path).expect("readable"), None);
    assert!(!place.before.exists());
}

#[test]
fn an_error_after_the_exchange_says_that_it_is_done() {
    let parent = tempfile::tempdir().expect("a directory");
    let place = copied(parent.path());
    let swap = |a: &Path, b: &Path| -> Result<bool> {
        let done = disk::exchange(a, b)?;
        make(&place.before, "in the way");
        Ok(done)
    };
    if !disk::exchange(&place.path, &place.rebuild).expect("renamed") {
        // This file system has two renames only.
        return;
    }
    disk::exchange(&place.path, &place.rebuild).expect("renamed");
    let error = place
        .exchange_by(swap, Name::Rebuild, Name::Before)
        .expect_err("something is in the way")
        .to_string();
    assert!(error.contains("the copy is in place"), "{error}");
    assert_eq!(content(&place.path), "new");
    fs::remove_dir_all(&place.before).expect("removed");
    assert_eq!(place.settle().expect("settled"), Settled::Exchanged);
    assert_eq!(content(&place.before), "old");
}

#[test]
fn a_link_leads_to_a_directory_that_is_missing_for_a_moment() {
    let parent = tempfile::tempdir().expect("a directory");
    let real = fs::canonicalize(parent.path()).expect("it is there");
    let (first, second) = (real.join("first"), real.join("second"));
    std::os::unix::fs::symlink("second", &first).expect("linked");
    std::os::unix::fs::symlink(real.join("data"), &second).expect("linked");
    assert_eq!(Place::of(&first).expect("a place").path, real.join("data"));
}

#[test]
fn a_directory_beside_a_database_keeps_its_mark() {
    let parent = tempfile::tempdir().expect("a directory");
    let place = copied(parent.path());
    let refused = |path: &Path, what: &str| {
        let marked = mark::load(path).expect("readable");
        let error = Place::of(path).expect_err(what).to_string();
        let words = format!("is {what} of {}: give", place.path.display());
        assert!(error.contains(&words), "{error}");
        assert_eq!(mark::load(path).expect("readable"), marked);
    };
    refused(&place.rebuild, "the copy");
    // Between two renames nothing has the database's own name.
    place.leave(Name::Before).expect("renamed");
    refused(&place.rebuild, "the copy");
    refused(&place.before, "the old directory");
    place.settle().expect("settled");
    refused(&place.before, "the old directory");
    refused(&place.undone, "the copy that was taken away");
}

#[test]
fn a_database_alone_may_have_any_name() {
    let parent = tempfile::tempdir().expect("a directory");
    for name in ["a.rebuild", "b.before-apply", ".undone"] {
        let path = parent.path().join(name);
        make(&path, "mine");
        let found = Place::of(&path).expect(name).path;
        assert_eq!(found.file_name(), path.file_name());
    }
}

#[test]
fn strangers_are_not_removed() {
    let parent = tempfile::tempdir().expect("a directory");
    let place = place(parent.path());
    make(&place.removing, "mine");
    let error = place.clear_removing().expect_err("not ours").to_string();
    assert!(error.contains("is in the way"), "{error}");
    assert_eq!(content(&place.removing), "mine");
    fs::remove_file(place.removing.join("content")).expect("removed");
    place.clear_removing().expect("it is empty");
    assert!(!place.removing.exists());
}

#[test]
fn what_is_not_there_is_said() {
    let parent = tempfile::tempdir().expect("a directory");
    let error = place(parent.path()).settle().expect_err("nothing");
    assert!(error.to_string().contains("does not exist"), "{error}");
    let error = Place::of(&parent.path().join("no/such")).expect_err("no parent");
    assert!(
        error.to_string().contains("there is no directory"),
        "{error}"
    );
}
