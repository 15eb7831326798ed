//! Table files from outside.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use lissom::{Db, Settings};
use rust_rocksdb::{IngestExternalFileOptions, Options, SstFileWriter};

use super::store::{
    Model, PATIENCE, files_by_level, key, load, open, put, settings, settle_and_agree, value,
    went_deep,
};

fn write_file(path: &Path, numbers: std::ops::Range<u64>, version: u64, model: &mut Model) {
    let options = Options::default();
    let mut writer = SstFileWriter::create(&options);
    writer.open(path).expect("a file");
    for number in numbers {
        let (key, value) = (key(number), value(number, version));
        writer.put(&key, &value).expect("a put");
        model.insert(key, value);
    }
    writer.finish().expect("finished");
}

#[test]
fn files_are_ingested_while_the_autopilot_works() {
    let directory = tempfile::tempdir().expect("a directory");
    let outside = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-3");
    let mut model = Model::new();
    let file = |name: &str| -> PathBuf { outside.path().join(name) };
    for round in 0..6 {
        load(&db, &mut model, 5_000, round);
        // One over old and new keys, one that overlaps nothing.
        write_file(&file("over"), 2_000..4_000, 100 + round, &mut model);
        let beyond = 100_000 + 1_000 * round;
        write_file(&file("beyond"), beyond..beyond + 500, 1, &mut model);
        db.ingest_external_file(vec![file("over"), file("beyond")])
            .expect("ingested");
        put(&db, &mut model, key(2_500), value(2_500, 200 + round));
    }
    settle_and_agree(&db, &model);
    went_deep(&db);
}

/// Flushes and merges of other families are committed together with those of
/// the family that takes the files.
#[test]
fn a_file_is_newer_than_what_it_meets_though_several_families_work() {
    let directory = tempfile::tempdir().expect("a directory");
    let outside = tempfile::tempdir().expect("a directory");
    let eager = Settings {
        level0_file_num_compaction_trigger: 1,
        ..settings("fixed-4")
    };
    let db = Db::open(directory.path(), eager).expect("opened");
    for name in ["one", "two"] {
        db.create_cf(name).expect("made");
    }
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for name in ["one", "two"] {
            scope.spawn(|| write_and_flush(&db, name, &over));
        }
        for round in 0..ROUNDS {
            for number in 0..600 {
                db.put(key(number), value(number, 2 * round))
                    .expect("a put");
            }
            let file = outside.path().join("file");
            write_file(&file, 100..300, 2 * round + 1, &mut Model::new());
            db.ingest_external_file(vec![&file]).expect("ingested");
            for number in 0..600 {
                let newest = 2 * round + u64::from((100..300).contains(&number));
                let found = db.get(key(number)).expect("a get");
                assert_eq!(found, Some(value(number, newest)), "round {round}");
            }
        }
        over.store(true, Relaxed);
    });
    let statistics = db.statistics().expect("statistics");
    for name in ["default", "one", "two"] {
        assert!(statistics.families[name].pieces.merged > 0, "{name}");
    }
}

const ROUNDS: u64 = 100;

fn write_and_flush(db: &Db, name: &str, over: &AtomicBool) {
    let family = db.family(name).expect("there");
    let mut version = 0;
    while !over.load(Relaxed) {
        version += 1;
        for number in 0..50 {
            let put = family.put(key(number * version % 1_000), value(number, version));
            put.expect("a put");
        }
        db.flush_cf(family.handle()).expect("a flush");
    }
}

/// RocksDB's own compactions are held before they commit, for a second at most: whoever
/// ingests may wait for writers that wait for them.
#[test]
fn a_compaction_of_rocksdbs_own_waits_for_an_ingestion_and_not_for_ever() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-2");
    db.autopilot().pause();
    let mut model = Model::new();
    for version in 0..2 {
        load(&db, &mut model, 200, version);
        db.flush().expect("a flush");
    }
    assert_eq!(files_by_level(&db).get(&0), Some(&2));
    let begun = Instant::now();
    db.autopilot().without_compactions("default", || {
        db.compact_range(None::<&[u8]>, None::<&[u8]>);
    });
    assert!(
        begun.elapsed() >= Duration::from_millis(900),
        "nothing held it"
    );
    assert_eq!(files_by_level(&db).get(&0), None);
    db.autopilot().unpause();
    settle_and_agree(&db, &model);
}

fn tables(directory: &Path) -> usize {
    let entries = std::fs::read_dir(directory).expect("readable");
    entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sst"))
        .count()
}

/// Only the commit waits for whoever must be alone, and compactions for it: a copy may take
/// minutes.
#[test]
fn a_file_is_copied_while_compactions_go_on() {
    let directory = tempfile::tempdir().expect("a directory");
    let outside = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-2");
    let mut model = Model::new();
    let file = outside.path().join("file");
    write_file(&file, 0..2_000, 1, &mut model);
    std::thread::scope(|scope| {
        let ingestion = db.autopilot().without_compactions("default", || {
            let ingestion = scope.spawn(|| db.ingest_external_file(vec![&file]));
            let begun = Instant::now();
            while tables(directory.path()) == 0 {
                assert!(begun.elapsed() < PATIENCE, "the copy waits, too");
                std::thread::sleep(Duration::from_millis(5));
            }
            std::thread::sleep(Duration::from_millis(100));
            assert!(files_by_level(&db).is_empty(), "it is committed already");
            ingestion
        });
        let ingested = ingestion.join().expect("no panic");
        ingested.expect("ingested");
    });
    settle_and_agree(&db, &model);
}

#[test]
fn files_at_the_very_last_level_are_taken_as_they_lie() {
    let directory = tempfile::tempdir().expect("a directory");
    let outside = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-2");
    let mut model = Model::new();
    let file = outside.path().join("all");
    write_file(&file, 0..5_000, 1, &mut model);
    let mut options = IngestExternalFileOptions::default();
    options.set_move_files(true);
    db.ingest_external_file_opts(&options, vec![&file])
        .expect("ingested");
    assert_eq!(
        files_by_level(&db).keys().copied().collect::<Vec<_>>(),
        [193]
    );
    settle_and_agree(&db, &model);
    for version in 2..=4 {
        load(&db, &mut model, 10_000, version);
    }
    settle_and_agree(&db, &model);
    db.autopilot().compact("default").expect("asked");
    settle_and_agree(&db, &model);
    assert_eq!(files_by_level(&db).len(), 1, "{:?}", files_by_level(&db));
}

#[test]
fn ingesting_behind_is_refused_by_rocksdb() {
    let directory = tempfile::tempdir().expect("a directory");
    let outside = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-2");
    let file = outside.path().join("behind");
    write_file(&file, 0..10, 1, &mut Model::new());
    let mut options = IngestExternalFileOptions::default();
    options.set_ingest_behind(true);
    let error = db
        .ingest_external_file_opts(&options, vec![&file])
        .expect_err("behind");
    assert!(error.to_string().contains("allow_ingest_behind"), "{error}");
}

/// The other one's autopilot would not be held back.
#[test]
fn files_for_a_family_of_another_database_are_refused() {
    let [here, there] = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
    let outside = tempfile::tempdir().expect("a directory");
    let stores = [here.path(), there.path()].map(|path| open(path, "fixed-2"));
    for store in &stores {
        store.create_cf("x").expect("made");
    }
    let file = outside.path().join("file");
    write_file(&file, 0..10, 1, &mut Model::new());
    let other = stores[1].family("x").expect("there");
    let error = stores[0]
        .ingest_external_file_cf(other.handle(), vec![&file])
        .expect_err("another database")
        .to_string();
    for path in [here.path(), there.path()] {
        assert!(error.contains(&path.display().to_string()), "{error}");
    }
    for store in &stores {
        let family = store.family("x").expect("there");
        assert_eq!(family.get(key(1)).expect("a get"), None);
    }
    stores[1]
        .ingest_external_file_cf(other.handle(), vec![&file])
        .expect("its own");
    assert_eq!(other.get(key(1)).expect("a get"), Some(value(1, 1)));
}
