//! Opening, writing, reading, reopening; and what is refused.

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::{key, load, settle, small, value};
use lissom::adopt::Detacher;
use lissom::control::Compactor;
use lissom::{Db, ErrorKind, Preparation, Settings};

#[test]
fn what_is_written_is_read_also_after_a_reopening() {
    let directory = tempfile::tempdir().expect("a directory");
    {
        let db = Db::open(directory.path(), small("fixed-2")).expect("opened");
        load(&db, 0..20_000, 1);
        db.delete(key(7)).expect("deleted");
        settle(&db);
        let pieces = &db.statistics().expect("statistics").families["default"]
            .pieces
            .clone();
        assert!(pieces.merged > 0, "{pieces:?}");
        assert_eq!((pieces.mismatched, pieces.failed), (0, 0), "{pieces:?}");
    }
    let db = Db::open(directory.path(), small("fixed-2")).expect("reopened");
    for number in 0..20_000 {
        let expected = (number != 7).then(|| value(number, 1));
        assert_eq!(db.get(key(number)).expect("a get"), expected, "{number}");
    }
    let mut count = 0;
    db.scan("", usize::MAX, |_, _| count += 1).expect("a scan");
    assert_eq!(count, 19_999);
}

fn refused(settings: Settings, words: &str) {
    let directory = tempfile::tempdir().expect("a directory");
    let error = Db::open(directory.path(), settings).err().expect(words);
    assert_eq!(error.kind(), ErrorKind::Fix);
    assert!(error.to_string().contains(words), "{error}");
    let left = std::fs::read_dir(directory.path())
        .expect("readable")
        .count();
    assert_eq!(left, 0, "nothing is written before settings are checked");
}

#[test]
fn settings_out_of_range_are_refused_before_anything_is_written() {
    let with = |change: fn(&mut Settings)| {
        let mut settings = small("fixed-1");
        change(&mut settings);
        settings
    };
    refused(with(|s| s.size_ratio = 101), "size_ratio is 101");
    refused(with(|s| s.workers = 0), "workers is 0");
    refused(
        with(|s| s.max_space_amplification = 1.0),
        "max_space_amplification is 1: choose a number of at least 1.1",
    );
}

#[test]
fn paths_that_are_no_database_are_told_apart() {
    let directory = tempfile::tempdir().expect("a directory");
    let fails = |path: &std::path::Path, settings: Settings, words: &str| {
        let error = Db::open(path, settings).err().expect(words).to_string();
        assert!(error.contains(words), "{error}");
    };
    let file = directory.path().join("file");
    std::fs::write(&file, "text").expect("written");
    fails(
        &file,
        small("fixed-1"),
        "is a file, a database is a directory",
    );
    fails(
        directory.path(),
        small("fixed-1"),
        "not a database: it has no file CURRENT",
    );
    let missing = directory.path().join("missing");
    let settings = Settings {
        create_if_missing: false,
        ..small("fixed-1")
    };
    fails(&missing, settings, "create_if_missing is off");
    assert!(!missing.exists());

    // A file system of its own, as ext4 makes it.
    let new = directory.path().join("new");
    std::fs::create_dir_all(new.join("lost+found")).expect("made");
    drop(Db::open(&new, small("fixed-1")).expect("opened"));

    let good = directory.path().join("good");
    let db = Db::open(&good, small("fixed-1")).expect("opened");
    fails(&good, small("fixed-1"), "it is open already");
    drop(db);
    Db::open(&good, small("fixed-1")).expect("closed and opened");
}

/// RocksDB's DestroyDB leaves what is not its own.
#[test]
fn a_database_made_where_another_was_destroyed_begins_anew() {
    let directory = tempfile::tempdir().expect("a directory");
    let limits = |policy: &str| {
        let db = Db::open(directory.path(), small(policy)).expect("opened");
        load(&db, 0..100, 1);
        settle(&db);
        let statistics = db.statistics().expect("statistics");
        statistics.families["default"].limits.clone()
    };
    let three = limits("fixed-3");
    let pin = directory.path().join("LISSOM-PIN");
    std::fs::write(&pin, "").expect("pinned");
    assert_eq!(limits("thresholds-20-80"), three, "it is the same database");
    rust_rocksdb::DB::destroy(&rust_rocksdb::Options::default(), directory.path())
        .expect("destroyed");
    assert!(!directory.path().join("CURRENT").exists());
    assert!(directory.path().join("LISSOM").exists() && pin.exists());
    assert_ne!(limits("thresholds-20-80"), three);
    assert!(!pin.exists());
}

#[test]
fn names_that_no_column_family_can_have_are_refused_before_anything_is_written() {
    let parent = tempfile::tempdir().expect("a directory");
    let path = parent.path().join("db");
    let settings = || small("fixed-1");
    let wrong = [
        ("", "empty name"),
        ("\0", r#""\0" cannot name"#),
        ("a\0b", r#""a\0b" cannot name"#),
    ];
    for (name, words) in wrong {
        let opening = Db::opening(&path, settings()).family(name, settings());
        let error = opening.open().err().expect(words).to_string();
        assert!(error.contains(words) && !error.contains('\0'), "{error}");
        assert!(!path.exists(), "{words}");
    }
    let db = Db::open(&path, settings()).expect("opened");
    for (name, words) in wrong {
        let error = db.create_cf(name).expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    }
    let mut preparation = Preparation::new(&settings()).expect("in range");
    let error = preparation.options("a\0b", &settings()).err();
    let error = error.expect("a zero byte").to_string();
    assert!(error.contains("zero byte"), "{error}");
}

/// What an open database goes on writing.
fn log_and_manifest(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(directory).expect("readable");
    let names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name())
        .map(|name| name.into_string().expect("UTF-8"))
        .collect();
    // RocksDB removes older ones when it likes.
    let log = names.iter().filter(|name| name.ends_with(".log")).max();
    names
        .iter()
        .filter(|name| *name == "CURRENT" || name.starts_with("MANIFEST-") || Some(*name) == log)
        .map(|name| {
            let bytes = std::fs::read(directory.join(name)).expect("readable");
            (name.clone(), bytes)
        })
        .collect()
}

/// To whoever lets RocksDB open a directory for writing.
fn refused_to_all(path: &Path) {
    let errors = [
        Db::open(path, small("fixed-1")).err(),
        Compactor::new(path).compact(&mut |_| ()).err(),
        Detacher::new(path).detach(&mut |_| ()).err(),
    ];
    for error in errors {
        let error = error.expect("it is open").to_string();
        assert!(error.contains("this process has its lock"), "{error}");
        assert!(error.contains("close it there first"), "{error}");
    }
}

/// RocksDB would take it for another directory, and remove what the first handle writes.
#[test]
fn an_open_directory_is_not_opened_under_another_name() {
    let parent = tempfile::tempdir().expect("a directory");
    let (real, link) = (parent.path().join("db"), parent.path().join("link"));
    let db = Db::open(&real, small("fixed-1")).expect("opened");
    std::os::unix::fs::symlink(&real, &link).expect("linked");
    load(&db, 0..2_000, 1);
    settle(&db);
    // A file of L0 is left, so that there is something to compact.
    db.autopilot().pause();
    load(&db, 0..100, 2);
    db.flush().expect("a flush");
    load(&db, 100..200, 2);
    let before = log_and_manifest(&real);
    for name in ["db", "./db", "db/", "db/../db", "link"] {
        refused_to_all(&parent.path().join(name));
        assert_eq!(log_and_manifest(&real), before, "{name}");
    }
    load(&db, 200..300, 2);
    let handle = db.rocksdb().clone();
    drop(db);
    refused_to_all(&link);
    drop(handle);
    let db = Db::open(&link, small("fixed-1")).expect("closed and opened");
    for number in 0..2_000 {
        let version = if number < 300 { 2 } else { 1 };
        let found = db.get(key(number)).expect("a get");
        assert_eq!(found, Some(value(number, version)), "{number}");
    }
}

#[test]
fn a_plain_database_is_adopted_first() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut options = rust_rocksdb::Options::default();
    options.create_if_missing(true);
    drop(lissom::RocksDb::open(&options, directory.path()).expect("a plain database"));
    let error = Db::open(directory.path(), small("fixed-1"))
        .err()
        .expect("plain")
        .to_string();
    assert!(error.contains("adopt the directory first"), "{error}");
}

#[test]
fn features_that_do_not_go_with_the_autopilot_are_refused() {
    type Change = fn(&mut rust_rocksdb::Options);
    let refused: [(Change, &str); 4] = [
        (
            |options| options.set_comparator("mine", Box::new(|a, b| b.cmp(a))),
            "mine",
        ),
        (
            |options| options.set_preclude_last_level_data_seconds(60),
            "preclude_last_level_data_seconds",
        ),
        (|options| options.set_allow_ingest_behind(true), "ingest"),
        (|options| options.set_cf_allow_ingest_behind(true), "ingest"),
    ];
    for (change, words) in refused {
        let directory = tempfile::tempdir().expect("a directory");
        let error = Db::opening(directory.path(), small("fixed-1"))
            .customise(move |_, options| change(options))
            .open()
            .err()
            .expect(words)
            .to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_damaged_state_file_or_a_newer_one_costs_no_data() {
    let directory = tempfile::tempdir().expect("a directory");
    let state = directory.path().join("LISSOM");
    {
        let db = Db::open(directory.path(), small("fixed-2")).expect("opened");
        load(&db, 0..20_000, 1);
    }
    let whole = std::fs::read(&state).expect("a state file");
    std::fs::write(&state, &whole[..whole.len() / 2]).expect("torn");
    {
        let db = Db::open(directory.path(), small("fixed-2")).expect("opened");
        assert_eq!(db.get(key(3)).expect("a get"), Some(value(3, 1)));
        load(&db, 0..20_000, 2);
        settle(&db);
    }
    let journal = std::fs::read_to_string(directory.path().join("LISSOM-JOURNAL")).expect("there");
    assert!(journal.contains("is damaged"));

    let newer = "{\"lissom_state\":2,\"checksum\":\"\"}\n{}\n";
    std::fs::write(&state, newer).expect("newer");
    {
        let db = Db::open(directory.path(), small("fixed-2")).expect("opened");
        load(&db, 0..20_000, 3);
        settle(&db);
    }
    let journal = std::fs::read_to_string(directory.path().join("LISSOM-JOURNAL")).expect("there");
    assert!(journal.contains("has format 2"));
    let kept = std::fs::read_to_string(directory.path().join("LISSOM.format-2"));
    assert_eq!(kept.expect("kept"), newer);
    let db = Db::open(directory.path(), small("fixed-2")).expect("opened");
    assert_eq!(db.get(key(3)).expect("a get"), Some(value(3, 3)));
}
