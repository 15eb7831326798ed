//! Directories of trials that come, go and stay.

use super::*;

#[test]
fn places_are_empty_and_go_with_the_trial() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("deep/trials");
    let root = Root::open(&path, false).expect("nobody has it");
    let one = root.place("trial-1").expect("a place");
    let again = root.place("trial-1").expect("another place");
    assert_ne!(one.data(), again.data());
    assert_eq!(fs::read_dir(one.data()).expect("there").count(), 0);
    one.write_options("a=1\n").expect("writable");
    assert_eq!(fs::read_to_string(one.options()).expect("there"), "a=1\n");
    assert_eq!(one.remove(), None);
    assert_eq!(one.remove(), None, "gone already");
    assert!(!one.data().exists() && again.data().exists());
    assert_eq!(again.remove(), None);
    drop(root);
    assert!(!path.exists());
}

/// As where the search is killed at any moment between.
#[test]
fn no_part_of_a_trials_directory_passes_for_the_users() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("trials");
    let root = Root::open(&path, false).expect("nobody has it");
    let begun = path.join(leftovers::BEGUN);
    fs::create_dir(&begun).expect("free");
    let place = root.place("trial-1").expect("a place");
    assert!(!begun.exists() && place.data().exists());
    fs::create_dir(&begun).expect("free");
    drop(root);
    let root = Root::open(&path, false).expect("free again");
    assert!(is_unused(&path));
    drop(root);
    assert!(!path.exists());
}

/// Also where a search was killed in it.
#[test]
fn a_directory_that_the_user_made_stays() {
    let directory = tempfile::tempdir().expect("a directory");
    let left = directory.path().join("trial-1");
    furnish(&left).expect("writable");
    drop(Root::open(directory.path(), false).expect("nobody has it"));
    assert!(directory.path().exists() && !left.exists());
}

#[test]
fn two_searches_cannot_have_one_directory() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = Root::open(directory.path(), false).expect("nobody has it");
    let error = Root::open(directory.path(), false).expect_err("taken");
    assert!(
        error.to_string().contains("another search has its trials"),
        "{error}"
    );
    drop(root);
    assert!(directory.path().exists(), "it was there before");
    Root::open(directory.path(), false).expect("free again");
}

/// The identity of a search.
fn search(name: &str) -> Fingerprint {
    Fingerprint::of([name])
}

/// A directory in which a search has loaded something for its trials.
fn loaded(path: &Path) -> Root {
    let root = Root::open(path, false).expect("nobody has it");
    assert_eq!(root.share(&search("one")), Ok(None));
    fs::write(root.shared().join("set"), "data").expect("writable");
    root
}

#[test]
fn what_trials_share_waits_for_the_search_to_go_on_and_goes_with_its_end() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("trials");
    drop(loaded(&path));
    let mut again = Root::open(&path, false).expect("free again");
    assert_eq!(again.share(&search("one")), Ok(None));
    assert!(again.shared().join("set").exists(), "it is used again");
    again.end();
    drop(again);
    assert!(!path.exists());
    // One that was killed left it as well.
    let killed = loaded(&path);
    killed.lock.unlock().expect("as the system does");
    std::mem::forget(killed);
    let mut again = Root::open(&path, false).expect("free again");
    assert!(again.shared().join("set").exists(), "it is used again");
    again.end();
    drop(again);
    assert!(!path.exists());
}

#[test]
fn leftovers_are_cleared_and_what_trials_share_is_told() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("trials");
    let clear = |keep, name| clear_leftovers(&path, keep, &search(name));
    assert_eq!(clear(false, "one"), Ok(0));
    assert!(!path.exists());
    let root = loaded(&path);
    fs::write(root.shared().join("set"), vec![1; 1 << 20]).expect("writable");
    let place = root.place("trial-1").expect("a place");
    let error = clear(false, "one").expect_err("it is at work");
    assert!(error.to_string().contains("another search"), "{error}");
    drop(root);
    for (keep, name) in [(false, "one"), (true, "one"), (false, "another")] {
        let bytes = clear(keep, name).expect("free again");
        assert!(bytes >= 1 << 20, "{keep} {name}: {bytes}");
    }
    assert_eq!(clear(true, "another"), Ok(0), "it stays beside its own");
    assert!(!place.data().exists() && path.join(SHARED).join("set").exists());
    fs::remove_dir_all(path.join(SHARED)).expect("there");
    fs::create_dir(path.join(SHARED)).expect("gone");
    fs::write(path.join(SHARED).join("mine"), "precious").expect("writable");
    assert_eq!(clear(false, "one"), Ok(0), "that is the user's");
}

#[test]
fn another_search_does_not_find_what_one_has_left() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("trials");
    drop(loaded(&path));
    let other = Root::open(&path, false).expect("free again");
    other.share_anew(&search("one")).expect("writable");
    assert!(!other.shared().join("set").exists(), "nor an equal one");
    drop(other);
    assert!(!path.exists(), "nothing was loaded");
}

#[test]
fn a_search_that_goes_on_does_not_find_what_another_one_has_loaded() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("trials");
    for mark in [None, Some("")] {
        let root = loaded(&path);
        if let Some(mark) = mark {
            fs::write(root.shared().join(SHARED_MARK), mark).expect("writable");
        }
        drop(root);
        let other = Root::open(&path, false).expect("free again");
        assert_eq!(other.share(&search("another")), Ok(None));
        assert!(!other.shared().join("set").exists(), "{mark:?}");
        assert_eq!(is_of(&other.shared(), &search("another")), Ok(true));
    }
}

#[test]
fn what_is_kept_of_another_search_lies_beside() {
    let directory = tempfile::tempdir().expect("a directory");
    drop(loaded(directory.path()));
    let open = || Root::open(directory.path(), true).expect("free again");
    let same = open();
    assert_eq!(same.share_anew(&search("one")), Ok(None));
    assert!(same.shared().join("set").exists(), "it is kept");
    fs::create_dir(same.path().join("shared-2")).expect("free");
    drop(same);
    let other = open();
    let beside = other.path().join("shared-3");
    assert_eq!(other.share(&search("another")), Ok(Some(beside.clone())));
    assert!(beside.join("set").exists() && is_unused(&other.shared()));
    drop(other);
    // Nothing was loaded.
    assert_eq!(open().share(&search("a third")), Ok(None));
}

#[test]
fn what_cannot_be_read_is_not_removed() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("trials");
    let root = loaded(&path);
    let mark = root.shared().join(SHARED_MARK);
    fs::remove_file(&mark).expect("there");
    // A mark that opens and does not read.
    fs::create_dir(&mark).expect("free");
    let error = root
        .share(&search("another"))
        .expect_err("nobody knows whose it is");
    assert!(error.to_string().contains(SHARED_MARK), "{error}");
    assert!(root.shared().join("set").exists());
    fs::remove_dir(&mark).expect("empty");
}

#[test]
fn a_shared_directory_of_the_users_stays() {
    let directory = tempfile::tempdir().expect("a directory");
    let mine = directory.path().join(SHARED);
    fs::create_dir(&mine).expect("new");
    fs::write(mine.join("precious"), "").expect("writable");
    let mut root = Root::open(directory.path(), false).expect("nobody has it");
    assert_eq!(root.share_anew(&search("one")), Ok(None));
    root.end();
    drop(root);
    assert!(mine.join("precious").exists());
}

#[test]
fn what_is_kept_stays() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("trials");
    let root = Root::open(&path, true).expect("nobody has it");
    let place = root.place("trial-1").expect("a place");
    assert_eq!(place.remove(), None);
    drop(root);
    assert!(place.data().exists() && !place.path.join(RECORD).exists());
    // Another search does not take it for something left behind.
    let root = Root::open(&path, false).expect("nobody has it");
    assert!(place.data().exists());
    drop(root);
}
