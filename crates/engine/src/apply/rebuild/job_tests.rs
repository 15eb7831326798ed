//! Copies that go on.

use rust_rocksdb::DB;

use super::*;

fn job(path: &Path) -> Job {
    let directory = Directory::look(path).expect("a database");
    Job {
        place: Place::of(path).expect("a place"),
        names: directory.names,
        present: directory.options.clone(),
        mistakes: directory.mistakes,
        target: directory.options,
        wanted: String::new(),
        customise: Arc::new(|_, _| ()),
    }
}

#[test]
fn a_copy_that_goes_on_is_of_what_is_asked_for_now() {
    let parent = tempfile::tempdir().expect("a directory");
    let path = parent.path().join("data");
    drop(DB::open_default(&path).expect("a new database"));
    let mut job = job(&path);
    job.wanted = "1".into();
    let mut progress = begin(&job).expect("begun");
    let copied = FamilyProgress::default();
    progress.families.insert("default".into(), copied);
    save(&job, &progress).expect("saved");
    job.wanted = "2".into();
    progress.wanted = "2".into();
    assert_eq!(begin(&job).expect("it goes on"), progress);
    let found = mark::load(&job.place.rebuild).expect("readable");
    assert_eq!(found, Some(Mark::Copy(progress)));
}

/// As after a kill between the comparison and the exchange.
#[test]
fn a_copy_that_was_compared_is_taken_as_it_is() {
    let parent = tempfile::tempdir().expect("a directory");
    let path = parent.path().join("data");
    let db = DB::open_default(&path).expect("a new database");
    db.put("key", "value").expect("a put");
    drop(db);
    let job = job(&path);
    let source = job.open_source().expect("readable");
    let mut progress = begin(&job).expect("begun");
    copy_all(&job, &source, &mut progress, &mut |_| ()).expect("copied");
    check_all(&job, &source, &mut progress, &mut |_| ()).expect("equal");
    drop(source);
    let seen = job.place.seen().expect("readable");
    assert_eq!(seen.rebuild, State::Verified);

    let mut told = 0;
    let rebuilt = run(&job, &mut |_| told += 1).expect("exchanged");
    assert_eq!(told, 0, "nothing was copied or compared again");
    assert_eq!(rebuilt.families.len(), 1);
    assert_eq!(rebuilt.families[0].entries, 1);
    let seen = job.place.seen().expect("readable");
    assert_eq!((seen.path, seen.before), (State::Bare, State::Before));
}
