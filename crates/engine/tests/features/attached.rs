//! The application opens RocksDB itself and keeps using its handle.

use std::path::Path;
use std::sync::Arc;

use lissom::core::observation::OperationMix;
use lissom::{Autopilot, Db, ErrorKind, Preparation, RocksDb, Settings};
use rust_rocksdb::statistics::StatsLevel;
use rust_rocksdb::{BlockBasedOptions, ColumnFamilyDescriptor, DBCompactionStyle};

use super::store::{
    Model, agree, attach, key, load, pieces, prepared, scattered, settings, settle, value,
    went_deep, with_plain_rocksdb,
};
use super::table::says;

#[test]
fn a_database_that_the_application_opened_is_driven() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut model = Model::new();
    for version in 1..=2 {
        let (db, autopilot) = attach(directory.path(), |_| ()).expect("attached");
        load(&db, &mut model, 20_000, version);
        settle(&db, &autopilot);
        agree(&db, &model);
        went_deep(&db);
        assert!(pieces(&autopilot).merged > 0);
    }
    with_plain_rocksdb(directory.path(), |db| agree(db, &model));
}

#[test]
fn the_database_outlives_its_autopilot() {
    let directory = tempfile::tempdir().expect("a directory");
    let (db, autopilot) = attach(directory.path(), |_| ()).expect("attached");
    let mut model = Model::new();
    load(&db, &mut model, 5_000, 1);
    drop(autopilot);
    load(&db, &mut model, 20_000, 2);
    agree(&db, &model);
}

/// Opens a database of these column families with RocksDB's statistics.
fn counted(path: &Path, families: &[&str]) -> (Arc<RocksDb>, Preparation) {
    let settings = Settings {
        statistics: StatsLevel::ExceptHistogramOrTimers,
        ..settings("fixed-3")
    };
    let mut preparation = Preparation::new(&settings).expect("prepared");
    let mut of = |name: &str| preparation.options(name, &settings).expect("options");
    let mut options = of("default");
    options.create_missing_column_families(true);
    let families: Vec<_> = families
        .iter()
        .map(|name| ColumnFamilyDescriptor::new(*name, of(name)))
        .collect();
    let db = RocksDb::open_cf_descriptors(&options, path, families).expect("opened");
    (Arc::new(db), preparation)
}

#[test]
fn what_rocksdb_counts_since_the_attach_is_told() {
    let directory = tempfile::tempdir().expect("a directory");
    let (db, preparation) = counted(directory.path(), &["default"]);
    let mut model = Model::new();
    load(&db, &mut model, 1_000, 1);
    let autopilot = Autopilot::attach(db.clone(), preparation).expect("attached");
    load(&db, &mut model, 5_000, 2);
    settle(&db, &autopilot);
    for number in 0..100 {
        assert!(db.get(key(number)).expect("a get").is_some());
    }
    for number in 9_000..9_050 {
        assert!(db.get(key(number)).expect("a get").is_none());
    }
    let keys: Vec<_> = (4_970..5_020).map(key).collect();
    let found = db.multi_get(&keys).into_iter();
    let found = found.filter(|it| matches!(it, Ok(Some(_)))).count();
    assert_eq!(found, 30);

    let statistics = autopilot.statistics().expect("statistics");
    let total = &statistics.families["default"].total;
    let expected = OperationMix {
        gets_found: 100 + 30,
        gets_absent: 50 + 20,
        writes: 5_000,
        ..OperationMix::default()
    };
    assert_eq!(total.operations, expected);
    assert_eq!(total.read_amplification(), None, "nobody looks at reads");
    let bytes = 5_000 * (key(0).len() + value(0, 2).len()) as u64;
    let around = bytes..2 * bytes;
    assert!(around.contains(&total.user_write_bytes), "{total:?}");
    assert_eq!(statistics.user_write_bytes, total.user_write_bytes);
    assert!(total.write_amplification().is_some_and(|it| it > 0.5));
}

/// RocksDB tells the bytes of all families together: divided by those, no family's
/// amplification would be true.
#[test]
fn of_several_families_none_is_given_the_bytes_of_all() {
    let directory = tempfile::tempdir().expect("a directory");
    let (db, preparation) = counted(directory.path(), &["default", "other"]);
    let autopilot = Autopilot::attach(db.clone(), preparation).expect("attached");
    let mut model = Model::new();
    load(&db, &mut model, 5_000, 1);
    let other = db.cf_handle("other").expect("there");
    for number in scattered(2_000) {
        db.put_cf(&other, key(number), value(number, 1))
            .expect("a put");
    }
    db.flush_cf(&other).expect("a flush");
    settle(&db, &autopilot);
    let statistics = autopilot.statistics().expect("statistics");
    for family in statistics.families.values() {
        assert_eq!(family.total.operations.writes, 7_000, "of all");
        assert_eq!(family.total.user_write_bytes, 0);
        assert_eq!(family.total.write_amplification(), None);
    }
    let bytes = 7_000 * (key(0).len() + value(0, 1).len()) as u64;
    let around = bytes..2 * bytes;
    assert!(around.contains(&statistics.user_write_bytes), "{bytes}");
    assert!(statistics.write_amplification().is_some_and(|it| it > 0.5));
}

#[test]
fn changed_options_are_refused_at_attach() {
    type Change = fn(&mut rust_rocksdb::Options);
    let refused: [(Change, &str); 9] = [
        (
            |options| options.set_ttl(60),
            "its ttl is 60 s; set it to 0",
        ),
        (
            |options| options.set_periodic_compaction_seconds(60),
            "periodic_compaction_seconds is 60; set it to 0",
        ),
        (
            |options| options.set_compaction_style(DBCompactionStyle::Universal),
            "it was opened with kCompactionStyleUniversal; open it with kCompactionStyleLevel",
        ),
        (
            |options| options.set_num_levels(200),
            "it has 200 levels, Lissom's layout has 194",
        ),
        (
            |options| options.set_max_bytes_for_level_base(1 << 28),
            "so that RocksDB would compact levels too",
        ),
        (
            |options| options.set_level_zero_file_num_compaction_trigger(4),
            "so that RocksDB would take L0 before the autopilot; make them equal",
        ),
        (
            |options| options.set_block_based_table_factory(&BlockBasedOptions::default()),
            "its filter policy is not set, not Lissom's; set block-based table options through \
             Lissom's settings only",
        ),
        (
            |options| options.set_preclude_last_level_data_seconds(60),
            "preclude_last_level_data_seconds is set, which knows RocksDB's last level only; \
             set it to 0",
        ),
        (
            |options| options.set_allow_ingest_behind(true),
            "ingest-behind keeps RocksDB's last level free for older data, which Lissom uses; \
             turn it off",
        ),
    ];
    for (change, words) in refused {
        let directory = tempfile::tempdir().expect("a directory");
        let error = attach(directory.path(), change).err().expect(words);
        assert_eq!(error.kind(), ErrorKind::Fix);
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn level_targets_that_follow_the_data_are_refused_at_attach() {
    let directory = tempfile::tempdir().expect("a directory");
    let error = attach(directory.path(), |options| {
        options.set_level_compaction_dynamic_level_bytes(true);
    });
    let error = error.err().expect("dynamic").to_string();
    assert!(
        error.contains("level_compaction_dynamic_level_bytes is on; turn it off"),
        "{error}"
    );
}

/// Also after the start.
#[test]
fn policies_that_follow_what_is_not_seen_are_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let (db, autopilot) = attach(directory.path(), |_| ()).expect("attached");
    for (name, words) in [
        (
            "learned",
            "the policy NAME of column family \"NAME\" learns from latencies, ...",
        ),
        (
            "thresholds-20-80",
            "the policy NAME of column family \"NAME\" follows the operations, ...",
        ),
    ] {
        let policy = name.parse().expect("a policy");
        let error = autopilot.set_policy("default", &policy).expect_err(words);
        assert_eq!(error.kind(), ErrorKind::Fix);
        assert!(says(&error.to_string(), words), "{error}");

        let mut later = Preparation::new(&settings(name)).expect("prepared");
        let options = later.options(name, &settings(name)).expect("options");
        db.create_cf(name, &options).expect("made");
        let error = autopilot.attach_cf(name, &later).expect_err(words);
        assert!(says(&error.to_string(), words), "{error}");
    }
    let policy = "fixed-2".parse().expect("a policy");
    autopilot
        .set_policy("default", &policy)
        .expect("it looks at nothing");
    settle(&db, &autopilot);
}

#[test]
fn a_preparation_of_another_database_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let (options, _) = prepared(|_| ()).expect("prepared");
    let family = ColumnFamilyDescriptor::new("default", options.clone());
    let db = RocksDb::open_cf_descriptors(&options, directory.path(), [family]).expect("opened");
    let other = Preparation::new(&settings("fixed-3")).expect("prepared");
    let error = Autopilot::attach(Arc::new(db), other)
        .err()
        .expect("no options");
    let words = "the column family \"default\" was opened without options from this \
                 preparation; call Preparation::options for it and open the database with them";
    assert!(error.to_string().contains(words), "{error}");
}

/// Guard keys and bits for filters would go to objects that nobody uses.
#[test]
fn options_that_the_preparation_replaced_are_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let (options, mut preparation) = prepared(|_| ()).expect("prepared");
    let family = ColumnFamilyDescriptor::new("default", options.clone());
    let db = RocksDb::open_cf_descriptors(&options, directory.path(), [family]).expect("opened");
    let _same = preparation
        .options("default", &settings("fixed-3"))
        .expect("options");
    let _others = preparation
        .options("default", &settings("fixed-2"))
        .expect("options");
    let words = "the column family \"default\" was not opened with the options that this \
                 preparation made last for it: open it with those, or make options for it once \
                 only";
    let error = Autopilot::attach(Arc::new(db), preparation);
    let error = error.err().expect(words);
    assert_eq!(error.kind(), ErrorKind::Fix);
    assert!(error.to_string().contains(words), "{error}");

    // The same settings again are the same objects.
    let (options, mut preparation) = prepared(|_| ()).expect("prepared");
    let _same = preparation
        .options("default", &settings("fixed-3"))
        .expect("options");
    let family = ColumnFamilyDescriptor::new("default", options.clone());
    let db = RocksDb::open_cf_descriptors(&options, directory.path(), [family]).expect("opened");
    Autopilot::attach(Arc::new(db), preparation).expect("attached");
}

/// Each of two would take the other's compactions for somebody else's.
#[test]
fn a_database_has_one_autopilot() {
    let directory = tempfile::tempdir().expect("a directory");
    let (db, autopilot) = attach(directory.path(), |_| ()).expect("attached");
    let second = || prepared(|_| ()).expect("prepared").1;
    let words = format!(
        "an autopilot drives the database in {} already, as every Db has one inside: use that \
         one, or drop it first",
        directory.path().display()
    );
    let error = Autopilot::attach(db.clone(), second())
        .err()
        .expect("a second one");
    assert_eq!(error.kind(), ErrorKind::Fix);
    assert!(error.to_string().contains(&words), "{error}");
    let mut model = Model::new();
    load(&db, &mut model, 5_000, 1);
    settle(&db, &autopilot);
    drop(autopilot);
    drop(db);

    let db = Db::open(directory.path(), settings("fixed-3")).expect("free again");
    let error = Autopilot::attach(db.rocksdb().clone(), second());
    let error = error.err().expect("a third one").to_string();
    assert!(error.contains(&words), "{error}");
    agree(&db, &model);
}

/// It would write its files into the directory of somebody else's store.
#[test]
fn a_handle_for_reading_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let (db, autopilot) = attach(directory.path(), |_| ()).expect("attached");
    let mut model = Model::new();
    load(&db, &mut model, 5_000, 1);
    settle(&db, &autopilot);
    drop(autopilot);
    let journal = || std::fs::read(directory.path().join("LISSOM-JOURNAL")).expect("a journal");
    let before = journal();
    let (options, preparation) = prepared(|_| ()).expect("prepared");
    let family = ColumnFamilyDescriptor::new("default", options.clone());
    let reader =
        RocksDb::open_cf_descriptors_read_only(&options, directory.path(), [family], false)
            .expect("readable");
    let error = Autopilot::attach(Arc::new(reader), preparation)
        .err()
        .expect("for reading");
    assert_eq!(error.kind(), ErrorKind::Fix);
    let words = "the database was opened for reading, and an autopilot compacts";
    assert!(error.to_string().contains(words), "{error}");
    assert_eq!(journal(), before);
    agree(&db, &model);
}

#[test]
fn a_database_without_handles_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let (options, preparation) = prepared(|_| ()).expect("prepared");
    let db = RocksDb::open(&options, directory.path()).expect("opened");
    let error = Autopilot::attach(Arc::new(db), preparation)
        .err()
        .expect("no handles");
    let words = "the database was opened without handles of its column families, which the \
                 autopilot needs; open it with open_cf_descriptors and name them all, \
                 \"default\" too";
    assert!(error.to_string().contains(words), "{error}");
}

#[test]
fn options_may_be_made_for_a_family_that_comes_later() {
    let directory = tempfile::tempdir().expect("a directory");
    let (options, mut preparation) = prepared(|_| ()).expect("prepared");
    let later = preparation
        .options("later", &settings("fixed-2"))
        .expect("options");
    let family = ColumnFamilyDescriptor::new("default", options.clone());
    let db = RocksDb::open_cf_descriptors(&options, directory.path(), [family]).expect("opened");
    let db = Arc::new(db);
    let autopilot = Autopilot::attach(db.clone(), preparation).expect("attached");
    let mut model = Model::new();
    load(&db, &mut model, 5_000, 1);
    settle(&db, &autopilot);
    drop(later);
}
