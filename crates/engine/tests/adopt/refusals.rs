//! What cannot be taken over is refused in one sentence, and left as it was.

use std::fs;
use std::path::Path;

use lissom::adopt::{Adopter, Detacher};
use lissom::apply::{Applier, SettingsText};
use lissom::control::Compactor;
use rust_rocksdb::{
    ColumnFamilyDescriptor, DB, DBPath, DBRecoveryMode, Options, SingleThreaded, TransactionDB,
    TransactionDBOptions, TransactionOptions, WriteOptions,
};

use super::damaged_log::with_damaged_log;
use super::on_record::{join, made, new_options, refused, refused_at};

#[test]
fn merge_operators_are_taken_over_by_who_has_them() {
    let with = |options: &mut Options| options.set_merge_operator_associative("join", join);
    refused(with, "merge operator is join");
    let directory = tempfile::tempdir().expect("a directory");
    made(directory.path(), with);
    let mut options = Options::default();
    with(&mut options);
    let db = DB::open(&options, directory.path()).expect("it opens");
    for _ in 0..3 {
        db.merge("key", "+").expect("a merge");
        db.flush().expect("a flush");
    }
    drop(db);
    Adopter::new(directory.path())
        .customise(move |_, options| with(options))
        .adopt(&mut |_| ())
        .expect("adopted");
    let db = lissom::Db::opening(directory.path(), lissom::Settings::default())
        .customise(move |_, options| with(options))
        .open()
        .expect("it opens");
    assert_eq!(
        db.get(b"key").expect("a get").as_deref(),
        Some(&b"value+++"[..])
    );
}

/// RocksDB escapes some of these letters in its OPTIONS file.
#[test]
fn merge_operators_of_column_families_of_any_name() {
    for name in ["user:1", "a\\b", "a#b", "a\"b", "a]b", "a\nb"] {
        let directory = tempfile::tempdir().expect("a directory");
        let mut merging = new_options();
        merging.set_merge_operator_associative("join", join);
        let families = [
            ColumnFamilyDescriptor::new("default", new_options()),
            ColumnFamilyDescriptor::new(name, merging),
        ];
        let db = DB::open_cf_descriptors(&new_options(), directory.path(), families);
        drop(db.expect("a new database"));
        let words = format!("column family \"{name}\": its merge operator is join");
        refused_at(directory.path(), &words);
    }
}

#[test]
fn a_directory_elsewhere_and_an_open_one() {
    let directory = tempfile::tempdir().expect("a directory");
    let error = Adopter::new(directory.path())
        .forecast()
        .expect_err("empty");
    assert!(error.to_string().contains("has no file CURRENT"), "{error}");
    let missing = directory.path().join("missing");
    let error = Adopter::new(&missing).forecast().expect_err("missing");
    assert!(
        error.to_string().contains("there is no directory"),
        "{error}"
    );
    // As one whose parent may not be looked into.
    let around = directory.path().join("loop");
    std::os::unix::fs::symlink("loop", &around).expect("linked");
    let error = Adopter::new(&around).forecast().expect_err("a loop");
    assert!(error.to_string().contains("cannot look at"), "{error}");
    fs::remove_file(&around).expect("removed");

    let mut options = Options::default();
    options.create_if_missing(true);
    let db = DB::open(&options, directory.path()).expect("a new database");
    db.put("key", "value").expect("a put");
    let error = Adopter::new(directory.path())
        .adopt(&mut |_| ())
        .expect_err("open");
    assert!(
        error.to_string().contains("close it there first"),
        "{error}"
    );
    assert!(!directory.path().join("LISSOM").exists());
    drop(db);
    Adopter::new(directory.path())
        .adopt(&mut |_| ())
        .expect("closed now");
}

fn open_transactions(path: &Path) -> TransactionDB<SingleThreaded> {
    let mut options = Options::default();
    options.create_if_missing(true);
    TransactionDB::open(&options, &TransactionDBOptions::default(), path).expect("opened")
}

/// A transaction that was prepared in one log and committed in another is lost by
/// whoever opens the directory without transactions.
#[test]
fn a_log_that_only_a_transaction_db_reads_in_whole() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    let db = open_transactions(path);
    let transaction = db.transaction_opt(&WriteOptions::default(), &TransactionOptions::default());
    transaction.put("key", "value").expect("a put");
    transaction.set_name(b"one").expect("named");
    transaction.prepare().expect("prepared");
    // Dropped without an end, as by a crash, it stays in the log.
    std::mem::forget(transaction);
    drop(db);
    let adopter = Adopter::new(path);
    let refused = || {
        let words = "was last opened as a TransactionDB and its log is not empty";
        for error in [
            adopter.forecast().expect_err("a log"),
            adopter.adopt(&mut |_| ()).expect_err("a log"),
        ] {
            assert!(error.to_string().contains(words), "{error}");
        }
        assert!(!path.join("LISSOM").exists());
    };
    refused();
    let db = open_transactions(path);
    for transaction in db.prepared_transactions() {
        transaction.commit().expect("committed");
    }
    drop(db);
    refused();

    let db = open_transactions(path);
    db.put("other", "value").expect("a put");
    db.flush().expect("a flush");
    drop(db);
    adopter.adopt(&mut |_| ()).expect("adopted");
    let db = lissom::Db::open(path, lissom::Settings::default()).expect("it opens");
    for key in ["key", "other"] {
        assert_eq!(db.get(key).expect("a get").as_deref(), Some(&b"value"[..]));
    }
}

/// Without its log a database lacks what only the log holds, and from its next flush on for ever.
#[test]
fn a_log_that_lies_elsewhere_is_given_along_or_nothing_is_done() {
    let directory = tempfile::tempdir().expect("a directory");
    let logs = tempfile::tempdir().expect("a directory");
    // RocksDB escapes the colon in its OPTIONS file.
    let (path, log) = (directory.path(), logs.path().join("log:1"));
    let customise = move |_: &str, options: &mut Options| options.set_wal_dir(&log);
    let opened = || {
        let opening = lissom::Db::opening(path, lissom::Settings::default());
        opening.customise(customise.clone()).open().expect("opened")
    };
    let put = |key: &str| opened().put(key, "value").expect("a put");
    put("first");
    let nothing = &mut |_: lissom::adopt::Progress| ();
    let settings = SettingsText::parse("{\"size_ratio\": 4}").expect("well-formed");
    for error in [
        Detacher::new(path).forecast().expect_err("its log"),
        Detacher::new(path).detach(nothing).expect_err("its log"),
        Compactor::new(path).compact(nothing).expect_err("its log"),
        Applier::new(path, settings.clone())
            .apply(&mut |_| ())
            .expect_err("its log"),
    ] {
        assert!(
            error.to_string().contains("was last written in "),
            "{error}"
        );
        assert!(error.to_string().contains("::customise"), "{error}");
    }
    Applier::new(path, settings)
        .customise(customise.clone())
        .apply(&mut |_| ())
        .expect("applied");
    put("second");
    let compactor = Compactor::new(path).customise(customise.clone());
    compactor.compact(nothing).expect("compacted");
    put("third");
    let detacher = Detacher::new(path).customise(customise.clone());
    detacher.detach(nothing).expect("detached");
    let mut options = Options::default();
    customise("default", &mut options);
    let db = DB::open(&options, path).expect("plain");
    for key in ["first", "second", "third"] {
        assert_eq!(db.get(key).expect("a get").as_deref(), Some(&b"value"[..]));
    }
}

/// With a `wal_dir` that it did not have, what only its own log holds would be left behind.
#[test]
fn a_log_that_is_its_own_is_read_or_nothing_is_done() {
    let directory = tempfile::tempdir().expect("a directory");
    let plain = tempfile::tempdir().expect("a directory");
    let logs = tempfile::tempdir().expect("a directory");
    let (path, log) = (directory.path(), logs.path().to_owned());
    let customise = move |_: &str, options: &mut Options| options.set_wal_dir(&log);
    let db = lissom::Db::open(path, lissom::Settings::default()).expect("opened");
    db.put("key", "value").expect("a put");
    drop(db);
    let db = DB::open(&new_options(), plain.path()).expect("a new database");
    db.put("key", "value").expect("a put");
    drop(db);
    let nothing = &mut |_: lissom::adopt::Progress| ();
    let settings = SettingsText::parse("{\"size_ratio\": 4}").expect("well-formed");
    let detacher = Detacher::new(path).customise(customise.clone());
    let compactor = Compactor::new(path).customise(customise.clone());
    let applier = Applier::new(path, settings).customise(customise.clone());
    let adopter = Adopter::new(plain.path()).customise(customise.clone());
    for error in [
        detacher.detach(nothing).expect_err("its log"),
        compactor.compact(nothing).expect_err("its log"),
        applier.apply(&mut |_| ()).expect_err("its log"),
        adopter.adopt(nothing).expect_err("its log"),
    ] {
        assert!(
            error.to_string().contains("was last written in "),
            "{error}"
        );
    }
    for path in [path, plain.path()] {
        Adopter::new(path).adopt(nothing).expect("adopted");
        Detacher::new(path).detach(nothing).expect("detached");
        let db = DB::open(&Options::default(), path).expect("plain");
        assert!(db.get("key").expect("a get").is_some());
    }
}

/// By RocksDB's defaults the log would end where it is damaged.
#[test]
fn a_log_is_read_by_the_rule_that_it_was_written_under() {
    let directory = tempfile::tempdir().expect("a directory");
    with_damaged_log(
        directory.path(),
        new_options(),
        DBRecoveryMode::SkipAnyCorruptedRecord,
    );
    Adopter::new(directory.path())
        .adopt(&mut |_| ())
        .expect("adopted");
    let db = lissom::Db::open(directory.path(), lissom::Settings::default()).expect("it opens");
    let is_there = |letter: u8| db.get([letter]).expect("a get").is_some();
    assert_eq!([0x80, 0x81, 0x82].map(is_there), [true, false, true]);
}

#[test]
fn a_damaged_log_is_refused_where_it_must_be_whole() {
    let directory = tempfile::tempdir().expect("a directory");
    with_damaged_log(
        directory.path(),
        new_options(),
        DBRecoveryMode::AbsoluteConsistency,
    );
    let logs = || {
        let entries = fs::read_dir(directory.path()).expect("readable");
        let files = entries.map(|entry| entry.expect("an entry").path());
        let logs = files.filter(|file| file.extension().is_some_and(|end| end == "log"));
        logs.map(|log| fs::read(log).expect("readable"))
            .filter(|log| !log.is_empty())
            .collect::<Vec<_>>()
    };
    let before = logs();
    let refused = Adopter::new(directory.path()).adopt(&mut |_| ());
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(logs(), before);
}

/// Its tree fits a plain RocksDB as it is, and all data lie in the log.
#[test]
fn the_log_of_a_young_store_is_given_back_by_its_rule() {
    let young = |rule| {
        let directory = tempfile::tempdir().expect("a directory");
        let settings = lissom::Settings::default();
        let mut preparation = lissom::Preparation::new(&settings).expect("in range");
        let mut options = preparation.options("default", &settings).expect("options");
        options.create_if_missing(true);
        with_damaged_log(directory.path(), options, rule);
        directory
    };
    let skips = young(DBRecoveryMode::SkipAnyCorruptedRecord);
    Detacher::new(skips.path())
        .detach(&mut |_| ())
        .expect("detached");
    let db = DB::open(&Options::default(), skips.path()).expect("plain");
    let is_there = |letter: u8| db.get([letter]).expect("a get").is_some();
    assert_eq!([0x80, 0x81, 0x82].map(is_there), [true, false, true]);
    drop(db);

    let whole = young(DBRecoveryMode::AbsoluteConsistency);
    let refused = Detacher::new(whole.path()).detach(&mut |_| ());
    assert!(refused.is_err(), "{refused:?}");
    let mut options = Options::default();
    options.set_num_levels(194);
    options.set_wal_recovery_mode(DBRecoveryMode::SkipAnyCorruptedRecord);
    let db = DB::open(&options, whole.path()).expect("its log is still there");
    assert!(db.get([0x82]).expect("a get").is_some());
}

/// Which RocksDB, that opens a few of them to begin with, does not notice.
#[test]
fn a_table_that_is_not_there_is_missed_before_anything_is_written() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    let mut options = new_options();
    options.set_disable_auto_compactions(true);
    let db = DB::open(&options, path).expect("a new database");
    for number in 0..40_u32 {
        db.put(number.to_be_bytes(), "value").expect("a put");
        db.flush().expect("a flush");
    }
    let oldest = db
        .live_files()
        .expect("files")
        .into_iter()
        .map(|file| file.name);
    let oldest = oldest.min().expect("a file");
    drop(db);
    fs::remove_file(path.join(oldest.trim_start_matches('/'))).expect("removed");
    let error = Adopter::new(path)
        .adopt(&mut |_| ())
        .expect_err("a file less");
    assert_eq!(error.kind(), lissom::ErrorKind::Corrupt, "{error}");
    assert!(
        error.to_string().contains("db_paths or cf_paths"),
        "{error}"
    );
    assert!(!path.join("LISSOM").exists());
}

/// The OPTIONS file does not say where they lie: whoever has the database does.
#[test]
fn tables_that_lie_elsewhere_are_given_along() {
    let [directory, tables] = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
    let (path, at) = (directory.path(), tables.path().to_owned());
    let customise = move |_: &str, options: &mut Options| {
        options.set_db_paths(&[DBPath::new(&at, 1 << 40).expect("a path")]);
    };
    let mut options = new_options();
    customise("default", &mut options);
    let db = DB::open(&options, path).expect("a new database");
    for number in 0..2_000_u32 {
        db.put(number.to_be_bytes(), "value").expect("a put");
    }
    db.flush().expect("a flush");
    drop(db);
    assert!(Adopter::new(path).forecast().is_err(), "where are they?");
    let nothing = &mut |_: lissom::adopt::Progress| ();
    let adopter = Adopter::new(path).customise(customise.clone());
    adopter.adopt(nothing).expect("adopted");
    assert!(
        Detacher::new(path).detach(nothing).is_err(),
        "where are they?"
    );
    let detacher = Detacher::new(path).customise(customise.clone());
    detacher.detach(nothing).expect("detached");
    let mut options = Options::default();
    customise("default", &mut options);
    let db = DB::open(&options, path).expect("plain");
    assert!(db.get(1_999_u32.to_be_bytes()).expect("a get").is_some());
}
