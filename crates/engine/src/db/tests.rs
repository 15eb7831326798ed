use std::fs;

use rust_rocksdb::compaction_filter::Decision;

use super::directory::check_log;
use crate::apply::OptionsText;
use crate::{Db, Settings};

fn families_with_options(db: &Db) -> Vec<String> {
    db.created.names()
}

/// An application may make a column family a day for years.
#[test]
fn nothing_stays_of_families_that_were_dropped() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), Settings::default()).expect("opened");
    db.create_cf("stays").expect("made");
    for day in 0..3 {
        let name = format!("day-{day}");
        db.create_cf(&name).expect("made");
        let family = db.family(&name).expect("there");
        family.put("key", "value").expect("a put");
        drop(family);
        db.drop_cf(&name).expect("dropped");
        assert!(!db.preparation.lock().hooks.contains_key(&name));
    }
    assert_eq!(families_with_options(&db), ["default", "stays"]);
}

/// The options alone keep it, and RocksDB has a bare pointer to it.
#[test]
fn a_compaction_filter_stays_as_long_as_the_database() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::opening(directory.path(), Settings::default())
        .customise(|_, options| {
            options.set_compaction_filter("keeps", |_, _, _| Decision::Keep);
        })
        .open()
        .expect("opened");
    db.create_cf("goes").expect("made");
    db.drop_cf("goes").expect("dropped");
    assert_eq!(families_with_options(&db), ["default", "goes"]);
}

/// RocksDB escapes the name of its directory, and reads a file as somebody may have edited it.
#[test]
fn a_log_of_a_transaction_db_is_found_elsewhere() {
    let directory = tempfile::tempdir().expect("a directory");
    let logs = directory.path().join("a:b");
    fs::create_dir(&logs).expect("made");
    fs::write(directory.path().join("LOCK"), "").expect("written");
    fs::write(logs.join("000004.log"), "prepared, and not committed").expect("written");
    let escaped = logs.display().to_string().replace(':', "\\:");
    for lines in [
        format!("  allow_2pc=true\n  wal_dir={escaped}\n"),
        format!("allow_2pc = true # prepared\nwal_dir = {escaped}"),
    ] {
        let (options, _) = OptionsText::recorded(&format!("[DBOptions]\n{lines}"));
        let error = check_log(directory.path(), &options).expect_err("a log");
        let words = "was last opened as a TransactionDB and its log is not empty";
        assert!(error.to_string().contains(words), "{error}");
    }
}
