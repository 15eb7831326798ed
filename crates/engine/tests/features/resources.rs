//! Disk space, bandwidth and paths.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use lissom::{Db, Settings};
use rust_rocksdb::{Cache, DBPath, SstFileManager};

use super::store::{
    Model, agree, key, load, open_with, pieces, put, settings, settle_and_agree, value,
};

#[test]
fn an_sst_file_manager_counts_the_files() {
    let directory = tempfile::tempdir().expect("a directory");
    let manager = SstFileManager::new();
    let shared = manager.clone();
    let db = open_with(directory.path(), move |options| {
        options.set_sst_file_manager(&shared)
    });
    let mut model = Model::new();
    load(&db, &mut model, 15_000, 1);
    settle_and_agree(&db, &model);
    let live: u64 = db
        .live_files()
        .expect("files")
        .iter()
        .map(|file| file.size as u64)
        .sum();
    assert!(
        manager.get_total_size() >= live,
        "{} of {live}",
        manager.get_total_size()
    );
}

#[test]
fn compactions_wait_for_space_and_go_on() {
    let directory = tempfile::tempdir().expect("a directory");
    let manager = SstFileManager::new();
    // What a compaction is asked to leave free: more than is allowed at all.
    manager.set_max_allowed_space_usage(1 << 40);
    manager.set_compaction_buffer_size(1 << 41);
    let shared = manager.clone();
    let db = open_with(directory.path(), move |options| {
        options.set_sst_file_manager(&shared)
    });
    let mut model = Model::new();
    load(&db, &mut model, 4_000, 1);
    db.flush().expect("a flush");
    std::thread::sleep(Duration::from_secs(3));
    let waiting = pieces(db.autopilot());
    assert_eq!(waiting.merged, 0, "{waiting:?}");
    assert!(db.health().unreadable.is_empty(), "{:?}", db.health());
    agree(&db, &model);
    manager.set_compaction_buffer_size(0);
    assert!(
        db.autopilot().wait_until_idle(super::store::PATIENCE),
        "{:?}",
        db.health()
    );
    load(&db, &mut model, 8_000, 2);
    db.flush().expect("a flush");
    assert!(
        db.autopilot().wait_until_idle(super::store::PATIENCE),
        "{:?}",
        db.health()
    );
    agree(&db, &model);
    assert!(pieces(db.autopilot()).merged > 0);
    assert!(db.health().unreadable.is_empty(), "{:?}", db.health());
}

/// RocksDB reserves space for what it moves, and forgets to give it back.
#[test]
fn moves_leave_no_space_reserved() {
    let directory = tempfile::tempdir().expect("a directory");
    let manager = SstFileManager::new();
    let shared = manager.clone();
    let db = open_with(directory.path(), move |options| {
        options.set_sst_file_manager(&shared)
    });
    let mut model = Model::new();
    // Ascending keys: what goes down meets nothing.
    for number in 0..15_000 {
        put(&db, &mut model, key(number), value(number, 1));
    }
    settle_and_agree(&db, &model);
    assert!(pieces(db.autopilot()).moved > 0);
    // A byte more than there is: no room for any reservation.
    manager.set_max_allowed_space_usage(manager.get_total_size() + 1);
    assert!(!manager.is_max_allowed_space_reached_including_compactions());
    manager.set_max_allowed_space_usage(0);
    load(&db, &mut model, 5_000, 2);
    settle_and_agree(&db, &model);
}

#[test]
fn a_rate_limiter_of_the_application_or_of_the_settings_holds() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open_with(directory.path(), |options| {
        options.set_ratelimiter(64 << 20, 100_000, 10);
    });
    let mut model = Model::new();
    load(&db, &mut model, 12_000, 1);
    settle_and_agree(&db, &model);
    let error = db.set_rate_limit(1).expect_err("not from the settings");
    assert!(
        error
            .to_string()
            .contains("opened without rate_limit_bytes_per_second"),
        "{error}"
    );
    drop(db);

    let limited = lissom::Settings {
        rate_limit_bytes_per_second: Some(64 << 20),
        ..settings("fixed-3")
    };
    let db = Db::open(directory.path(), limited).expect("opened");
    load(&db, &mut model, 6_000, 2);
    db.set_rate_limit(32 << 20).expect("changed");
    let error = db.set_rate_limit(0).expect_err("out of range").to_string();
    assert!(error.contains("choose from 65536"), "{error}");
    settle_and_agree(&db, &model);
}

#[test]
fn a_rate_limit_under_which_nothing_would_be_flushed_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let limited = lissom::Settings {
        rate_limit_bytes_per_second: Some(64 << 20),
        ..settings("fixed-3")
    };
    let db = Db::open(directory.path(), limited).expect("opened");
    for rate in [0, 1, 39, (64 << 10) - 1] {
        let error = db.set_rate_limit(rate).expect_err("too low").to_string();
        let words = format!("rate_limit_bytes_per_second is {rate}: choose from 65536");
        assert!(error.contains(&words), "{error}");
    }
    // At any of these rates the flushes of this load would not come to an end.
    let mut model = Model::new();
    load(&db, &mut model, 6_000, 1);
    settle_and_agree(&db, &model);
    db.set_rate_limit(64 << 10).expect("the least rate");
}

#[test]
fn files_may_lie_in_one_other_path_and_logs_in_a_third() {
    let directory = tempfile::tempdir().expect("a directory");
    let tables = tempfile::tempdir().expect("a directory");
    let logs = tempfile::tempdir().expect("a directory");
    let (at, wal) = (tables.path().to_owned(), logs.path().to_owned());
    let mut model = Model::new();
    for version in 1..=2 {
        let (at, wal) = (at.clone(), wal.clone());
        let db = open_with(directory.path(), move |options| {
            options.set_db_paths(&[DBPath::new(&at, 1 << 40).expect("a path")]);
            options.set_wal_dir(&wal);
        });
        load(&db, &mut model, 12_000, version);
        settle_and_agree(&db, &model);
    }
    let tables = std::fs::read_dir(tables.path()).expect("readable").count();
    assert!(tables > 5, "{tables} files");
}

/// Opens a store whose log lies there, or beside its files.
fn open_logged(path: &Path, logs: Option<&Path>) -> lissom::Result<Db> {
    let logs = logs.map(Path::to_owned);
    Db::opening(path, settings("fixed-3"))
        .customise(move |_, options| {
            if let Some(logs) = &logs {
                options.set_wal_dir(logs);
            }
        })
        .open()
}

#[test]
fn a_log_that_would_not_be_read_is_not_left_behind() {
    let [directory, one, two] = [(); 3].map(|()| tempfile::tempdir().expect("a directory"));
    let (path, one, two) = (directory.path(), one.path(), two.path());
    let refused = |now: Option<&Path>, log: &Path| {
        let error = open_logged(path, now).err().expect("a log elsewhere");
        let error = error.to_string();
        let words = format!("its write-ahead log was last written in {}", log.display());
        assert!(error.contains(&words), "{error}");
    };
    // Each time one more key that only the log has.
    for (version, logs) in [None, Some(one), Some(two)].into_iter().enumerate() {
        let db = open_logged(path, logs).expect("opened");
        for before in 0..version {
            let found = db.get(format!("key {before}")).expect("a get");
            assert_eq!(found.as_deref(), Some(&b"there"[..]));
        }
        db.put(format!("key {version}"), "there").expect("a put");
        drop(db);
        let log = logs.unwrap_or(path);
        for other in [None, Some(one), Some(two)] {
            if other != logs {
                refused(other, log);
            }
        }
        // What was flushed needs no log. One that was read may outlive the first close.
        for _ in 0..10 {
            let db = open_logged(path, logs).expect("opened where its log is");
            db.rocksdb().flush().expect("flushed");
        }
    }
    // Moved by hand.
    let db = open_logged(path, Some(two)).expect("opened");
    db.put("key 3", "there").expect("a put");
    drop(db);
    for entry in std::fs::read_dir(two).expect("readable") {
        let file = entry.expect("readable").path();
        if file.extension().is_some_and(|end| end == "log") {
            let name = file.file_name().expect("a name");
            std::fs::copy(&file, one.join(name)).expect("copied");
            std::fs::remove_file(&file).expect("removed");
        }
    }
    let db = open_logged(path, Some(one)).expect("opened where they are now");
    for version in 0..=3 {
        let found = db.get(format!("key {version}")).expect("a get");
        assert_eq!(found.as_deref(), Some(&b"there"[..]));
    }
}

#[test]
fn a_row_cache_gives_new_answers() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open_with(directory.path(), |options| {
        options.set_row_cache(&Cache::new_lru_cache(1 << 20));
    });
    let mut model = Model::new();
    for version in 1..=3 {
        load(&db, &mut model, 8_000, version);
        settle_and_agree(&db, &model);
    }
}

/// Tells this test, in a process that may open few files, which directory is its own.
const FEW_FILES: &str = "LISSOM_TEST_FEW_FILES";

fn make_more_files_than_may_be_open(path: &Path) {
    let many = Settings {
        target_file_size_base: 4 << 10,
        ..settings("fixed-3")
    };
    let mut model = Model::new();
    for version in 1..=2 {
        let db = Db::open(path, many.clone()).expect("opened");
        load(&db, &mut model, 15_000, version);
        settle_and_agree(&db, &model);
        let files = db.live_files().expect("files").len();
        assert!(files > 256, "{files} files are no test");
    }
}

#[test]
fn a_tree_may_have_more_files_than_the_process_may_open() {
    if let Some(path) = std::env::var_os(FEW_FILES) {
        return make_more_files_than_may_be_open(Path::new(&path));
    }
    let directory = tempfile::tempdir().expect("a directory");
    let test = "resources::a_tree_may_have_more_files_than_the_process_may_open";
    let child = Command::new("sh")
        .args(["-c", "ulimit -n 256 && exec \"$@\"", "sh"])
        .arg(std::env::current_exe().expect("this program"))
        .args(["--exact", test, "--nocapture"])
        .env(FEW_FILES, directory.path().join("db"))
        .output()
        .expect("the child starts");
    let said = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{said}");
    let done = String::from_utf8_lossy(&child.stdout);
    assert!(done.contains("1 passed"), "{done}");
}

/// RocksDB shares it out among the shards of the cache, which keep nothing where that overflows.
#[test]
fn the_largest_budget_keeps_blocks() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = Settings {
        memory_budget_bytes: i64::MAX as u64,
        ..settings("fixed-3")
    };
    let db = Db::open(directory.path(), settings).expect("opened");
    let mut model = Model::new();
    load(&db, &mut model, 10_000, 1);
    settle_and_agree(&db, &model);
    // More than is charged for the write buffers.
    assert!(db.memory_bytes() > 1 << 20, "{}", db.memory_bytes());
}
