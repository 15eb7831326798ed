//! The write-ahead log, and ways to write.

use std::path::Path;

use lissom::{Db, ErrorKind};
use rust_rocksdb::{DBRecoveryMode, Options, WriteBatch, WriteOptions};

use super::store::{
    Model, agree, key, load, open, open_with, put, scattered, settings, settle_and_agree, value,
};

const MODES: [DBRecoveryMode; 4] = [
    DBRecoveryMode::TolerateCorruptedTailRecords,
    DBRecoveryMode::AbsoluteConsistency,
    DBRecoveryMode::PointInTime,
    DBRecoveryMode::SkipAnyCorruptedRecord,
];

/// What a power cut would leave of an open store at rest.
fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).expect("readable") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name");
        if path.is_file() && name != "LOCK" {
            std::fs::copy(&path, to.join(name)).expect("copied");
        }
    }
}

/// A store at rest of whose newest 100 entries only the log knows.
fn crashed(model: &mut Model) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let crashed = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-3");
    load(&db, model, 10_000, 1);
    settle_and_agree(&db, model);
    for number in 0..100 {
        put(&db, model, key(number), value(number, 2));
    }
    db.flush_wal(true).expect("synced");
    copy(directory.path(), crashed.path());
    crashed
}

fn open_mode(path: &Path, mode: DBRecoveryMode) -> lissom::Result<Db> {
    Db::opening(path, settings("fixed-3"))
        .customise(move |_, options| options.set_wal_recovery_mode(mode))
        .open()
}

#[test]
fn every_recovery_mode_reads_a_whole_log() {
    for mode in MODES {
        let mut model = Model::new();
        let crashed = crashed(&mut model);
        let db = open_mode(crashed.path(), mode).expect("recovered");
        settle_and_agree(&db, &model);
    }
}

fn tear_log(path: &Path) {
    let logs = std::fs::read_dir(path).expect("readable");
    let newest = logs
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
        .max()
        .expect("a log");
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(newest)
        .expect("writable");
    let length = file.metadata().expect("its length").len();
    file.set_len(length - 20).expect("torn");
}

#[test]
fn a_torn_log_loses_its_last_entry_or_is_refused_as_the_mode_says() {
    for mode in MODES {
        let mut model = Model::new();
        let crashed = crashed(&mut model);
        tear_log(crashed.path());
        model.insert(key(99), value(99, 1));
        if mode as i32 == DBRecoveryMode::AbsoluteConsistency as i32 {
            let error = open_mode(crashed.path(), mode).err().expect("torn");
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
            continue;
        }
        let db = open_mode(crashed.path(), mode).expect("recovered");
        settle_and_agree(&db, &model);
    }
}

#[test]
fn every_way_to_write_is_driven() {
    type Change = fn(&mut Options);
    let ways: [Change; 5] = [
        |options| options.set_enable_pipelined_write(true),
        |options| options.set_unordered_write(true),
        |options| {
            options.set_two_write_queues(true);
            options.set_enable_pipelined_write(false);
        },
        |options| options.set_manual_wal_flush(true),
        |options| {
            options.set_inplace_update_support(true);
            options.set_allow_concurrent_memtable_write(false);
        },
    ];
    for way in ways {
        let directory = tempfile::tempdir().expect("a directory");
        let mut model = Model::new();
        let db = open_with(directory.path(), way);
        load(&db, &mut model, 8_000, 1);
        load(&db, &mut model, 4_000, 2);
        settle_and_agree(&db, &model);
        drop(db);
        agree(&open_with(directory.path(), way), &model);
    }
}

#[test]
fn without_a_log_what_was_flushed_stays() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-3");
    let mut model = Model::new();
    let mut options = WriteOptions::default();
    options.disable_wal(true);
    for number in scattered(10_000) {
        db.put_opt(key(number), value(number, 1), &options)
            .expect("a put");
        model.insert(key(number), value(number, 1));
    }
    settle_and_agree(&db, &model);
    let crashed = tempfile::tempdir().expect("a directory");
    copy(directory.path(), crashed.path());
    settle_and_agree(&open(crashed.path(), "fixed-3"), &model);
}

#[test]
fn an_atomic_flush_keeps_families_together() {
    let directory = tempfile::tempdir().expect("a directory");
    let open = || {
        open_with(directory.path(), |options| {
            options.set_atomic_flush(true);
            options.set_avoid_flush_during_shutdown(true);
        })
    };
    let count = |db: &Db, name: &str| {
        let family = db.family(name).expect("there");
        family.scan("", usize::MAX, |_, _| ()).expect("a scan")
    };
    let db = open();
    db.create_cf("other").expect("made");
    let other = db.family("other").expect("there");
    let mut options = WriteOptions::default();
    options.disable_wal(true);
    for number in scattered(9_000) {
        let mut batch = WriteBatch::default();
        batch.put(key(number), value(number, 1));
        batch.put_cf(other.handle(), key(number), "short");
        db.write_opt(&batch, &options).expect("written");
    }
    drop(other);
    drop(db);
    let db = open();
    let kept = count(&db, "default");
    assert!(kept > 5_000, "{kept}");
    assert_eq!(
        count(&db, "other"),
        kept,
        "a batch is in both or in neither"
    );
    assert!(db.autopilot().wait_until_idle(super::store::PATIENCE));
}

#[test]
fn the_log_can_be_followed() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open_with(directory.path(), |options| {
        options.set_wal_ttl_seconds(3_600)
    });
    let mut model = Model::new();
    load(&db, &mut model, 6_000, 1);
    let from = db.latest_sequence_number();
    load(&db, &mut model, 6_000, 2);
    settle_and_agree(&db, &model);
    let followed = db.get_updates_since(from).expect("kept");
    let updates: usize = followed.map(|batch| batch.expect("a batch").1.len()).sum();
    assert_eq!(updates, 6_000);
}
