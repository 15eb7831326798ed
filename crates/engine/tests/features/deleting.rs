//! Files that nobody reads any more are deleted by and by.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use lissom::{Db, RocksDb, Settings};
use rust_rocksdb::SstFileManager;

use super::store::{
    Model, PATIENCE, agree, load, open_with, plain_options, settings, settle, settle_and_agree,
};

/// It only looks like one of RocksDB's.
const OF_A_USER: &str = "archive/app.log.trash";

/// Bytes of table files that wait to be deleted, and of the others.
fn bytes(path: &Path) -> (u64, u64) {
    let entries = std::fs::read_dir(path).expect("a directory").flatten();
    let (mut waiting, mut tables) = (0, 0);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        // It may be gone by now.
        let bytes = entry.metadata().map_or(0, |it| it.len());
        match name {
            name if name.ends_with(".sst.trash") => waiting += bytes,
            name if name.ends_with(".sst") => tables += bytes,
            _ => (),
        }
    }
    (waiting, tables)
}

/// Whether nothing waits any more, soon.
fn is_gone(path: &Path) -> bool {
    let begun = Instant::now();
    while bytes(path).0 > 0 && begun.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(10));
    }
    bytes(path).0 == 0
}

fn with_rate(delete_rate_bytes_per_second: u64) -> Settings {
    Settings {
        delete_rate_bytes_per_second,
        ..settings("fixed-3")
    }
}

/// What waited at most while merges left many times as much behind, and whether that was ever more
/// than a part of the store.
fn churned(db: &Db, path: &Path, model: &mut Model) -> (u64, bool) {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let (mut most, mut more) = (0, false);
            while !over.load(Relaxed) {
                let (waiting, tables) = bytes(path);
                most = most.max(waiting);
                // A file may be on its way from the one to the other.
                more |= waiting > tables / 2 + (1 << 20);
                std::thread::sleep(Duration::from_millis(1));
            }
            (most, more)
        });
        for version in 0..3 {
            load(db, model, 15_000, version);
        }
        settle(db, db.autopilot());
        over.store(true, Relaxed);
        watch.join().expect("watched")
    })
}

#[test]
fn deleted_files_wait_and_are_a_part_of_the_store() {
    for (rate, waits) in [(1 << 20, true), (0, false)] {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        let db = Db::open(path, with_rate(rate)).expect("opened");
        let mut model = Model::new();
        let (most, more) = churned(&db, path, &mut model);
        assert_eq!(most > 0, waits, "{most} at {rate}");
        assert!(!more, "{most} at {rate}");
        agree(&db, &model);
        assert!(is_gone(path), "{:?}", bytes(path));
    }
}

/// What a store leaves behind when it closes goes after the next open, whoever opens it.
#[test]
fn what_waits_as_a_store_closes_goes_after_the_next_open() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    let mut model = Model::new();
    let db = Db::open(path, with_rate(1 << 20)).expect("opened");
    load(&db, &mut model, 5_000, 1);
    settle_and_agree(&db, &model);
    drop(db);
    let leave = || {
        std::fs::create_dir_all(path.join("archive")).expect("a directory");
        for name in ["777777.sst.trash", "archive/777776.log.trash", OF_A_USER] {
            std::fs::write(path.join(name), [7; 100]).expect("written");
        }
    };
    leave();
    let db = Db::open(path, with_rate(1 << 20)).expect("opened");
    assert!(is_gone(path), "{:?}", bytes(path));
    assert!(!path.join("archive/777776.log.trash").exists());
    assert!(path.join(OF_A_USER).exists());
    agree(&db, &model);
    drop(db);
    leave();
    let plain = RocksDb::open(&plain_options(), path).expect("RocksDB opens it");
    assert!(is_gone(path), "{:?}", bytes(path));
    agree(&plain, &model);
    drop(plain);
    leave();
    lissom::adopt::Detacher::new(path)
        .detach(&mut |_| ())
        .expect("detached");
    assert_eq!(bytes(path).0, 0, "detach leaves none");
}

/// No file is cut shorter under whoever has it open.
#[test]
fn large_files_stay_whole_for_a_reader_beside_the_store() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    let settings = Settings {
        write_buffer_size: 70 << 20,
        target_file_size_base: 128 << 20,
        memory_budget_bytes: 512 << 20,
        compression: vec![lissom::Compression::None],
        ..with_rate(1 << 30)
    };
    let db = Db::open(path, settings).expect("opened");
    // A file of more than 64 MiB, which RocksDB's own manager would take in pieces.
    let value = vec![7; 1 << 20];
    let write = || {
        for number in 0_u32..66 {
            db.put(number.to_be_bytes(), &value).expect("a put");
        }
        db.flush().expect("a flush");
    };
    write();
    let mut options = plain_options();
    options.set_max_open_files(-1);
    let reader = RocksDb::open_for_read_only(&options, path, false).expect("opened beside");
    write();
    db.autopilot().compact("default").expect("asked");
    settle(&db, db.autopilot());
    assert!(is_gone(path), "{:?}", bytes(path));
    for number in 0_u32..66 {
        let read = reader.get(number.to_be_bytes()).expect("a get");
        assert_eq!(read.as_deref(), Some(&value[..]), "{number}");
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
    assert_eq!(bytes(directory.path()).0, 0);
}
