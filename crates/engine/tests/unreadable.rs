//! A file that compactions cannot read: writes go on, the file is left alone,
//! and the health report names it.

mod common;

use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{PATIENCE, key, load, settle, small, value};
use lissom::core::filters::FilterAllocation;
use lissom::{Autopilot, Db, Preparation, RocksDb, Settings};
use rust_rocksdb::ColumnFamilyDescriptor;

/// The files below L0.
fn deep_files(db: &RocksDb, directory: &Path) -> Vec<(u64, PathBuf)> {
    let files = db.live_files().expect("a list of files");
    let deep = files.iter().filter(|file| file.level > 0);
    deep.map(|file| {
        let name = file.name.trim_start_matches('/');
        let number = name.trim_end_matches(".sst").parse().expect("a number");
        (number, directory.join(name))
    })
    .collect()
}

fn a_deep_file(db: &Db, directory: &Path) -> (u64, PathBuf) {
    deep_files(db, directory).swap_remove(0)
}

/// A file below L0 that this process does not have open.
fn a_closed_file(db: &RocksDb, directory: &Path) -> (u64, PathBuf) {
    let open: Vec<PathBuf> = std::fs::read_dir("/proc/self/fd")
        .expect("readable")
        .flatten()
        .filter_map(|entry| std::fs::read_link(entry.path()).ok())
        .collect();
    let mut files = deep_files(db, directory).into_iter();
    files
        .find(|(_, path)| !open.contains(path))
        .expect("RocksDB has all files open")
}

fn damage(file: &Path) {
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .open(file)
        .expect("writable");
    file.seek(SeekFrom::Start(100)).expect("long enough");
    file.write_all(&[0xff; 64]).expect("written");
}

#[test]
fn writes_go_on_beside_a_damaged_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let (number, path) = {
        let db = Db::open(directory.path(), small("fixed-1")).expect("opened");
        load(&db, 0..12_000, 1);
        settle(&db);
        a_deep_file(&db, directory.path())
    };
    damage(&path);
    let named = |db: &Db| {
        let unreadable = db.health().unreadable;
        unreadable
            .get("default")
            .is_some_and(|files| files.contains(&number))
    };
    {
        let db = Db::open(directory.path(), small("fixed-1")).expect("opened");
        load(&db, 20_000..60_000, 1);
        settle(&db);
        let health = db.health();
        assert!(named(&db), "{health:?}");
        assert_eq!(health.background_error, None);
        assert_eq!(db.get(key(50_000)).expect("a get"), Some(value(50_000, 1)));
        let pieces = db.statistics().expect("statistics").families["default"]
            .pieces
            .clone();
        assert!(pieces.failed < 10, "retries are bounded: {pieces:?}");
    }
    let db = Db::open(directory.path(), small("fixed-1")).expect("opened");
    load(&db, 60_000..70_000, 1);
    settle(&db);
    assert!(named(&db), "it is remembered");
    let journal = std::fs::read_to_string(directory.path().join("LISSOM-JOURNAL")).expect("there");
    assert!(journal.contains("are left out of compactions"));
}

/// The operating system does not give it for a moment, as where descriptors or a
/// network's disk are missing.
#[test]
fn a_file_that_is_away_for_a_moment_is_merged_once_it_is_back() {
    comes_back(FilterAllocation::Uniform);
}

/// Monkey's allocation asks the files how many entries they have.
#[test]
fn merging_goes_on_where_a_file_does_not_tell_its_entries() {
    comes_back(FilterAllocation::Monkey);
}

fn comes_back(filters: FilterAllocation) {
    let settings = Settings {
        filters,
        ..small("fixed-1")
    };
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().canonicalize().expect("it is there");
    let held = hold_back_a_file(&directory, &settings);
    let autopilot = &held.autopilot;
    // Statistics would read the file.
    let failed = || autopilot.glance("default").expect("driven").pieces.failed;
    let begun = Instant::now();
    while failed() == 0 {
        assert!(begun.elapsed() < PATIENCE, "nothing reads {:?}", held.path);
        std::thread::sleep(Duration::from_millis(5));
    }
    held.give_back();
    held.db.flush().expect("a flush");
    assert!(autopilot.wait_until_idle(PATIENCE));
    let health = autopilot.health();
    assert!(health.unreadable.is_empty(), "{health:?}");
    assert_eq!(health.background_error, None);
    is_merged_and_whole(&held.db, &directory, held.number);
}

/// After five attempts it is left alone, but for longer than to the next open only
/// where RocksDB calls it damaged.
#[test]
fn a_file_that_is_away_for_long_is_merged_after_the_next_open() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().canonicalize().expect("it is there");
    let held = hold_back_a_file(&directory, &small("fixed-1"));
    let left_out = || held.autopilot.health().unreadable.remove("default");
    let begun = Instant::now();
    while left_out().is_none() {
        assert!(begun.elapsed() < PATIENCE, "nothing reads {:?}", held.path);
        std::thread::sleep(Duration::from_millis(5));
    }
    let number = held.number;
    assert!(left_out().is_some_and(|files| files.contains(&number)));
    held.give_back();
    drop(held);
    let db = Db::open(&directory, small("fixed-1")).expect("opened");
    db.autopilot().compact("default").expect("asked");
    settle(&db);
    let health = db.health();
    assert!(health.unreadable.is_empty(), "{health:?}");
    is_merged_and_whole(&db, &directory, number);
}

/// A store that is driven while one of its files is away.
struct Held {
    // Before `db`: its threads end before the database closes.
    autopilot: Autopilot,
    db: Arc<RocksDb>,
    number: u64,
    path: PathBuf,
    away: PathBuf,
}

impl Held {
    fn give_back(&self) {
        std::fs::rename(&self.away, &self.path).expect("back again");
    }
}

fn hold_back_a_file(directory: &Path, settings: &Settings) -> Held {
    {
        let db = Db::open(directory, settings.clone()).expect("opened");
        load(&db, 0..12_000, 1);
        settle(&db);
    }
    let mut preparation = Preparation::new(settings).expect("prepared");
    let mut options = preparation.options("default", settings).expect("options");
    // Files are opened when they are read.
    options.set_max_open_files(20);
    options.set_skip_stats_update_on_db_open(true);
    let family = ColumnFamilyDescriptor::new("default", options.clone());
    let db = RocksDb::open_cf_descriptors(&options, directory, [family]).expect("opened");
    let db = Arc::new(db);
    let (number, path) = a_closed_file(&db, directory);
    let away = path.with_extension("away");
    std::fs::rename(&path, &away).expect("renamed");
    let autopilot = Autopilot::attach(db.clone(), preparation).expect("attached");
    for number in 20_000..30_000 {
        db.put(key(number), value(number, 1)).expect("a put");
    }
    Held {
        autopilot,
        db,
        number,
        path,
        away,
    }
}

fn is_merged_and_whole(db: &RocksDb, directory: &Path, number: u64) {
    let left = deep_files(db, directory);
    assert!(left.iter().all(|(file, _)| *file != number), "{left:?}");
    for at in (0..12_000).chain(20_000..30_000) {
        assert_eq!(db.get(key(at)).expect("a get"), Some(value(at, 1)));
    }
}
