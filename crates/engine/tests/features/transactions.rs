//! Transactions: their databases are types of their own, which an autopilot
//! cannot be attached to (a `compile_fail` example of `Autopilot::attach` shows
//! it). Their directories are RocksDB's like any other.

use std::path::Path;

use lissom::Db;
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

#[test]
fn prepared_transactions_are_refused_with_what_to_do() {
    let directory = tempfile::tempdir().expect("a directory");
    drop(open(directory.path(), "fixed-3"));
    let db = open_pessimistic(directory.path());
    let transaction = db.transaction_opt(&WriteOptions::default(), &TransactionOptions::default());
    transaction.put("key", "value").expect("a put");
    transaction.set_name(b"one").expect("named");
    transaction.prepare().expect("prepared");
    // Dropped without an end, as by a crash, it stays in the log.
    std::mem::forget(transaction);
    drop(db);
    let refused = || {
        let outcome = Db::open(directory.path(), settings("fixed-3"));
        let error = outcome.err().expect("a log");
        let words = "was last opened as a TransactionDB and its log is not empty: open it with \
                     TransactionDB, commit or roll back its prepared transactions, write and flush";
        assert!(error.to_string().contains(words), "{error}");
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
