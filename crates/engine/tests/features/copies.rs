//! Copies of a store, and a repaired one.

use std::path::Path;

use lissom::adopt::Detacher;
use lissom::apply::{Applier, SettingsText};
use lissom::control::Compactor;
use lissom::{Db, RocksDb};
use rust_rocksdb::backup::{BackupEngine, BackupEngineOptions, RestoreOptions};
use rust_rocksdb::checkpoint::Checkpoint;
use rust_rocksdb::{DBPath, Env, FileChecksumGenFactory, Options};

use super::store::{
    Model, agree, key, load, open, open_with, prepared, put, settings, settle_and_agree, value,
    went_deep, with_plain_rocksdb,
};

/// A store of several levels that is at work.
fn busy(path: &Path, model: &mut Model) -> Db {
    let db = open(path, "fixed-3");
    load(&db, model, 20_000, 1);
    load(&db, model, 8_000, 2);
    db
}

fn checkpoint(db: &RocksDb, to: &Path) {
    Checkpoint::new(db)
        .and_then(|checkpoint| checkpoint.create_checkpoint(to))
        .expect("a checkpoint");
}

/// A copy opens as plain RocksDB and with Lissom, and converges without the
/// state file.
fn opens_everywhere(copy: &Path, model: &Model) {
    assert!(
        !copy.join("LISSOM").exists(),
        "RocksDB copies its own files only"
    );
    let options = lissom_options(copy);
    assert!(options.contains("num_levels=194"), "{options}");
    with_plain_rocksdb(copy, |db| agree(db, model));
    let db = open(copy, "fixed-3");
    let mut model = model.clone();
    settle_and_agree(&db, &model);
    load(&db, &mut model, 8_000, 3);
    settle_and_agree(&db, &model);
    went_deep(&db);
}

/// The text of the newest OPTIONS file.
fn lissom_options(directory: &Path) -> String {
    let entries = std::fs::read_dir(directory).expect("readable");
    let newest = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("OPTIONS-"))
        })
        .max()
        .expect("an OPTIONS file");
    std::fs::read_to_string(newest).expect("readable")
}

/// Its OPTIONS file names the log of the store that goes on.
#[test]
fn a_checkpoint_of_a_store_whose_log_lies_elsewhere_has_its_own() {
    let [directory, logs] = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
    let wal = logs.path().to_owned();
    let db = open_with(directory.path(), move |options| options.set_wal_dir(&wal));
    db.put("before", "there").expect("a put");
    let copy = directory.path().join("checkpoint");
    checkpoint(&db, &copy);
    db.put("after", "there").expect("a put");
    let copied = open(&copy, "fixed-3");
    let found = |key: &str| copied.get(key).expect("a get").is_some();
    assert!(found("before") && !found("after"));
    assert!(db.get("after").expect("a get").is_some());
}

/// What its store writes would be read, and removed.
#[test]
fn a_checkpoint_is_not_opened_with_the_log_of_its_store() {
    let [directory, logs] = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
    let wal = logs.path().to_owned();
    let with_log = move |_: &str, options: &mut Options| options.set_wal_dir(&wal);
    let settings = settings("fixed-3");
    let opening = |path: &Path| Db::opening(path, settings.clone()).customise(with_log.clone());
    let db = opening(directory.path()).open().expect("opened");
    db.put("before", "there").expect("a put");
    let copy = directory.path().join("checkpoint");
    checkpoint(&db, &copy);
    db.put("after", "there").expect("a put");
    let ratio = SettingsText::parse("{\"size_ratio\": 4}").expect("well-formed");
    let nothing = &mut |_: lissom::adopt::Progress| ();
    let applier = Applier::new(&copy, ratio);
    applier.plan().expect("a plan, which makes no file LOCK");
    let compactor = Compactor::new(&copy).customise(with_log.clone());
    let detacher = Detacher::new(&copy).customise(with_log.clone());
    for error in [
        opening(&copy).open().err().expect("another one's log"),
        applier
            .customise(with_log.clone())
            .apply(&mut |_| ())
            .expect_err("another one's log"),
        compactor.compact(nothing).expect_err("another one's log"),
        detacher.detach(nothing).expect_err("another one's log"),
    ] {
        assert!(error.to_string().contains("has no file LOCK"), "{error}");
    }
    let elsewhere = logs.path().to_owned();
    for option in [0, 1] {
        let elsewhere = elsewhere.clone();
        let with_paths = move |_: &str, options: &mut Options| {
            let path = DBPath::new(&elsewhere, 1 << 40).expect("a path");
            match option {
                0 => options.set_db_paths(&[path]),
                _ => options.set_cf_paths(&[path]),
            }
        };
        let opening = Db::opening(&copy, settings.clone()).customise(with_paths.clone());
        let detacher = Detacher::new(&copy).customise(with_paths);
        for error in [
            opening.open().err().expect("another one's tables"),
            detacher.detach(nothing).expect_err("another one's tables"),
        ] {
            assert!(error.to_string().contains("has no file LOCK"), "{error}");
        }
    }
    Detacher::new(&copy)
        .detach(nothing)
        .expect("by its own log");
    with_plain_rocksdb(&copy, |copied| {
        let found = |key: &str| copied.get(key).expect("a get").is_some();
        assert!(found("before") && !found("after"));
    });
    drop(db);
    let db = opening(directory.path()).open().expect("opened");
    assert!(db.get("after").expect("a get").is_some());
}

#[test]
fn a_checkpoint_of_a_busy_store_opens_everywhere() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut model = Model::new();
    let db = busy(directory.path(), &mut model);
    let copy = directory.path().with_extension("checkpoint");
    checkpoint(&db, &copy);
    let at_checkpoint = model.clone();
    load(&db, &mut model, 8_000, 4);
    settle_and_agree(&db, &model);
    opens_everywhere(&copy, &at_checkpoint);
    std::fs::remove_dir_all(&copy).expect("removed");
}

#[test]
fn backups_of_a_busy_store_restore_and_open_everywhere() {
    let directory = tempfile::tempdir().expect("a directory");
    let backups = tempfile::tempdir().expect("a directory");
    let restored = tempfile::tempdir().expect("a directory");
    let mut model = Model::new();
    let db = busy(directory.path(), &mut model);
    let options = BackupEngineOptions::new(backups.path()).expect("options");
    let env = Env::new().expect("an environment");
    let mut engine = BackupEngine::open(&options, &env).expect("an engine");
    engine
        .create_new_backup_flush(&*db, true)
        .expect("a backup");
    load(&db, &mut model, 8_000, 4);
    put(&db, &mut model, key(1), value(1, 9));
    engine
        .create_new_backup_flush(&*db, true)
        .expect("an incremental backup");
    let at_backup = model.clone();
    load(&db, &mut model, 2_000, 5);
    settle_and_agree(&db, &model);
    for backup in engine.get_backup_info() {
        engine
            .verify_backup(backup.backup_id)
            .expect("a whole backup");
    }
    engine
        .restore_from_latest_backup(restored.path(), restored.path(), &RestoreOptions::default())
        .expect("restored");
    opens_everywhere(restored.path(), &at_backup);
}

#[test]
fn a_repaired_store_converges_though_its_levels_are_lost() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut model = Model::new();
    let db = busy(directory.path(), &mut model);
    settle_and_agree(&db, &model);
    drop(db);
    for entry in std::fs::read_dir(directory.path()).expect("readable") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        if name.starts_with("MANIFEST-") || name == "CURRENT" {
            std::fs::remove_file(path).expect("removed");
        }
    }
    let (options, _) = prepared(|_| ()).expect("prepared");
    RocksDb::repair(&options, directory.path()).expect("repaired");
    let db = open(directory.path(), "fixed-3");
    settle_and_agree(&db, &model);
    load(&db, &mut model, 8_000, 3);
    settle_and_agree(&db, &model);
}

#[test]
fn file_deletions_may_wait_and_checksums_hold() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open_with(directory.path(), |options| {
        options.set_file_checksum_gen_factory(&FileChecksumGenFactory::crc32c());
    });
    let mut model = Model::new();
    load(&db, &mut model, 5_000, 1);
    db.disable_file_deletions().expect("disabled");
    load(&db, &mut model, 10_000, 2);
    settle_and_agree(&db, &model);
    let tables = || {
        let entries = std::fs::read_dir(directory.path()).expect("readable");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        paths
            .filter(|path| path.extension().is_some_and(|end| end == "sst"))
            .count()
    };
    let live = db.live_files().expect("files").len();
    assert!(tables() > live, "{} files, {live} of them live", tables());
    db.enable_file_deletions().expect("enabled");
    assert_eq!(tables(), live);
    db.verify_checksum().expect("whole blocks");
    db.verify_file_checksums().expect("whole files");
}
