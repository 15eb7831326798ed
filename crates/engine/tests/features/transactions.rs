//! Transactions: their databases are types of their own, which an autopilot
//! cannot be attached to (a `compile_fail` example of `Autopilot::attach` shows
//! it). Their directories are RocksDB's like any other.

use std::path::Path;

use lissom::Db;
use lissom::adopt::Adopter;
use lissom::apply::{Applier, SettingsText};
use rust_rocksdb::{
    ColumnFamilyDescriptor, MultiThreaded, OptimisticTransactionDB, TransactionDB,
    TransactionDBOptions, TransactionOptions, WriteBatchWithIndex, WriteOptions,
};

use super::store::{
    Model, agree, key, open, prepared, put, scattered, settings, settle_and_agree, value,
};

type Pessimistic = TransactionDB<MultiThreaded>;
type Optimistic = OptimisticTransactionDB<MultiThreaded>;

fn open_pessimistic(path: &Path) -> Pessimistic {
    let (options, _) = prepared(|_| ()).expect("prepared");
    let family = ColumnFamilyDescriptor::new("default", options.clone());
    Pessimistic::open_cf_descriptors(&options, &TransactionDBOptions::default(), path, [family])
        .expect("opened")
}

#[test]
fn a_directory_goes_from_the_autopilot_to_transactions_and_back() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut model = Model::new();
    let db = open(directory.path(), "fixed-3");
    super::store::load(&db, &mut model, 10_000, 1);
    settle_and_agree(&db, &model);
    drop(db);

    let db = open_pessimistic(directory.path());
    for number in scattered(6_000) {
        let transaction = db.transaction();
        assert!(transaction.get(key(number)).expect("a get").is_some());
        transaction
            .put(key(number), value(number, 2))
            .expect("a put");
        transaction.commit().expect("committed");
        model.insert(key(number), value(number, 2));
    }
    db.flush().expect("a flush");
    drop(db);
    settle_and_agree(&open(directory.path(), "fixed-3"), &model);

    let (options, _) = prepared(|_| ()).expect("prepared");
    let family = ColumnFamilyDescriptor::new("default", options.clone());
    let db = Optimistic::open_cf_descriptors(&options, directory.path(), [family]).expect("opened");
    for number in scattered(6_000) {
        let transaction = db.transaction();
        transaction
            .put(key(number), value(number, 3))
            .expect("a put");
        transaction.commit().expect("committed");
        model.insert(key(number), value(number, 3));
    }
    drop(db);
    settle_and_agree(&open(directory.path(), "fixed-3"), &model);
}

/// Makes a store whose log holds a transaction that was prepared and did not end.
fn leave_prepared(path: &Path) {
    drop(open(path, "fixed-3"));
    let db = open_pessimistic(path);
    let transaction = db.transaction_opt(&WriteOptions::default(), &TransactionOptions::default());
    transaction.put("key", "value").expect("a put");
    transaction.set_name(b"one").expect("named");
    transaction.prepare().expect("prepared");
    // Dropped without an end, as by a crash, it stays in the log.
    std::mem::forget(transaction);
    drop(db);
}

#[test]
fn prepared_transactions_are_refused_with_what_to_do() {
    let directory = tempfile::tempdir().expect("a directory");
    leave_prepared(directory.path());
    let refused = || {
        let outcome = Db::open(directory.path(), settings("fixed-3"));
        // Another one than the store had: where nothing is to change nothing is opened.
        let wanted = SettingsText::parse("{\"size_ratio\": 5}").expect("well-formed");
        let applied = Applier::new(directory.path(), wanted).apply(&mut |_| ());
        let words = "was last opened as a TransactionDB and its log is not empty: open it with \
                     TransactionDB, commit or roll back its prepared transactions, write and flush";
        for error in [outcome.err(), applied.err()] {
            let error = error.expect("a log").to_string();
            assert!(error.contains(words), "{error}");
        }
    };
    refused();
    let db = open_pessimistic(directory.path());
    let prepared = db.prepared_transactions();
    assert_eq!(prepared.len(), 1);
    for transaction in prepared {
        transaction.commit().expect("committed");
    }
    drop(db);
    // RocksDB itself would open it now, and lose what was committed last.
    refused();
    let db = open_pessimistic(directory.path());
    db.put("other", "value").expect("a put");
    db.flush().expect("a flush");
    drop(db);
    let mut model = Model::new();
    model.insert(b"other".to_vec(), b"value".to_vec());
    model.insert(b"key".to_vec(), b"value".to_vec());
    agree(&open(directory.path(), "fixed-3"), &model);
}

#[test]
fn batches_with_an_index_are_written_at_once() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-3");
    let mut model = Model::new();
    for start in (0..8_000).step_by(100) {
        let mut batch = WriteBatchWithIndex::new(0, true);
        for number in start..start + 100 {
            batch.put(key(number), value(number, 1));
            model.insert(key(number), value(number, 1));
        }
        db.write_wbwi(&batch).expect("written");
    }
    put(&db, &mut model, key(7), value(7, 2));
    settle_and_agree(&db, &model);
}

/// What looks into a directory before RocksDB does cannot look under such a path.
#[cfg(target_os = "linux")]
#[test]
fn a_path_that_is_not_utf_8_is_refused_and_nothing_is_written() {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;

    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join(OsStr::from_bytes(b"caf\xe9"));
    let missing = path.with_extension("new");
    leave_prepared(&place.path().join("named"));
    fs::rename(place.path().join("named"), &path).expect("renamed");
    let contents = || -> Model {
        let entries = fs::read_dir(&path).expect("a directory");
        let files = entries.map(|entry| entry.expect("an entry").path());
        files
            .map(|file| {
                let name = file.file_name().expect("a name").as_bytes().to_vec();
                (name, fs::read(&file).expect("readable"))
            })
            .collect()
    };
    let before = contents();
    let open = |path| Db::open(path, settings("fixed-3")).err().expect("refused");
    let adopted = Adopter::new(&path).forecast().expect_err("refused");
    for (error, path) in [
        (open(&path), &path),
        (open(&missing), &missing),
        (adopted, &path),
    ] {
        let sentence = format!(
            "the path {} is not UTF-8, which Lissom needs: rename the directory, or give a link to it",
            path.display()
        );
        assert!(error.to_string().contains(&sentence), "{error}");
    }
    assert_eq!(contents(), before);
    assert!(!missing.exists());
}
