//! Files that nobody reads any more are deleted by and by.

use std::path::Path;

use lissom::{Db, RocksDb, Settings};
use rust_rocksdb::SstFileManager;

use super::store::{Model, PATIENCE, agree, load, open_with, settings, settle_and_agree};

/// Files that wait to be deleted, and those of tables.
fn files(path: &Path) -> (usize, usize) {
    let entries = std::fs::read_dir(path).expect("a directory");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let names: Vec<String> = names.map(|it| it.to_string_lossy().into_owned()).collect();
    let end = |end: &str| names.iter().filter(|name| name.ends_with(end)).count();
    (end(".trash"), end(".sst"))
}

fn with_rate(delete_rate_bytes_per_second: u64) -> Settings {
    Settings {
        delete_rate_bytes_per_second,
        ..settings("fixed-3")
    }
}

/// Merges leave far more than a mebibyte behind.
fn churn(path: &Path, rate: u64) -> (Db, Model) {
    let db = Db::open(path, with_rate(rate)).expect("opened");
    let mut model = Model::new();
    for version in 0..3 {
        load(&db, &mut model, 15_000, version);
    }
    assert!(db.autopilot().wait_until_idle(PATIENCE));
    (db, model)
}

#[test]
fn deleted_files_wait_at_a_rate_and_at_most_a_quarter_of_the_store() {
    let directory = tempfile::tempdir().expect("a directory");
    let (db, model) = churn(directory.path(), 1 << 20);
    let (waiting, tables) = files(directory.path());
    assert!(waiting > 0, "all were deleted at once");
    assert!(4 * waiting <= 2 * tables, "{waiting} beside {tables}");
    agree(&db, &model);
}

#[test]
fn without_a_rate_they_go_at_once() {
    let directory = tempfile::tempdir().expect("a directory");
    let (db, model) = churn(directory.path(), 0);
    assert_eq!(files(directory.path()).0, 0);
    agree(&db, &model);
}

/// What a store leaves behind when it closes goes after the next open, whoever opens it.
#[test]
fn what_waits_as_a_store_closes_goes_after_the_next_open() {
    let gone = |path: &Path| {
        let begun = std::time::Instant::now();
        while files(path).0 > 0 && begun.elapsed() < PATIENCE {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        files(path).0 == 0
    };
    for plain in [false, true] {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        let (db, model) = churn(path, 1 << 20);
        drop(db);
        assert!(files(path).0 > 0, "nothing waits");
        if plain {
            lissom::adopt::Detacher::new(path)
                .detach(&mut |_| ())
                .expect("detached");
            assert_eq!(files(path).0, 0, "detach leaves none");
            let rocks = RocksDb::open_default(path).expect("RocksDB opens it");
            agree(&rocks, &model);
        } else {
            let db = Db::open(path, with_rate(1 << 30)).expect("opened");
            assert!(gone(path), "{:?}", files(path));
            settle_and_agree(&db, &model);
        }
    }
}

#[test]
fn a_manager_of_the_application_keeps_its_rate() {
    let directory = tempfile::tempdir().expect("a directory");
    let manager = SstFileManager::new();
    let shared = manager.clone();
    let db = open_with(directory.path(), move |options| {
        options.set_sst_file_manager(&shared);
    });
    let mut model = Model::new();
    load(&db, &mut model, 15_000, 1);
    settle_and_agree(&db, &model);
    assert_eq!(manager.get_delete_rate_bytes_per_second(), 0);
    assert!(manager.get_total_size() > 0, "it is in use");
    assert_eq!(files(directory.path()).0, 0);
}
