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

/// A directory in which a search has loaded something for its trials.
fn loaded(path: &Path) -> Root {
    let root = Root::open(path, false).expect("nobody has it");
    root.share().expect("writable");
    fs::write(root.shared().join("set"), "data").expect("writable");
    root
}

#[test]
fn what_trials_share_waits_for_the_search_to_go_on_and_goes_with_its_end() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("trials");
    drop(loaded(&path));
    let mut again = Root::open(&path, false).expect("free again");
    again.share().expect("it is there");
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
    assert_eq!(clear_leftovers(&path, false), Ok(0));
    assert!(!path.exists());
    let root = loaded(&path);
    fs::write(root.shared().join("set"), vec![1; 1 << 20]).expect("writable");
    let place = root.place("trial-1").expect("a place");
    let error = clear_leftovers(&path, false).expect_err("it is at work");
    assert!(error.to_string().contains("another search"), "{error}");
    drop(root);
    let bytes = clear_leftovers(&path, false).expect("free again");
    assert!(bytes >= 1 << 20, "{bytes}");
    assert!(!place.data().exists() && path.join(SHARED).join("set").exists());
    fs::remove_dir_all(path.join(SHARED)).expect("there");
    fs::create_dir(path.join(SHARED)).expect("gone");
    fs::write(path.join(SHARED).join("mine"), "precious").expect("writable");
    assert_eq!(clear_leftovers(&path, false), Ok(0), "that is the user's");
}

#[test]
fn another_search_does_not_find_what_one_has_left() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("trials");
    drop(loaded(&path));
    let other = Root::open(&path, false).expect("free again");
    other.share_anew().expect("writable");
    assert!(!other.shared().join("set").exists());
    drop(other);
    assert!(!path.exists(), "nothing was loaded");
    drop(loaded(&path));
    let keeping = Root::open(&path, true).expect("free again");
    keeping.share_anew().expect("it is there");
    assert!(keeping.shared().join("set").exists(), "it is kept");
}

#[test]
fn a_shared_directory_of_the_users_stays() {
    let directory = tempfile::tempdir().expect("a directory");
    let mine = directory.path().join(SHARED);
    fs::create_dir(&mine).expect("new");
    fs::write(mine.join("precious"), "").expect("writable");
    let mut root = Root::open(directory.path(), false).expect("nobody has it");
    root.share_anew().expect("it is there");
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
