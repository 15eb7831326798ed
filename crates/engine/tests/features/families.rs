//! Column families that come and go.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lissom::{Autopilot, Db, Preparation, RocksDb, Settings};
use rust_rocksdb::checkpoint::Checkpoint;
use rust_rocksdb::properties::NUM_RUNNING_COMPACTIONS;
use rust_rocksdb::{ColumnFamilyDescriptor, ImportColumnFamilyOptions, WriteBatch};

use super::store::{
    Model, PATIENCE, agree, key, load, open, prepared, scattered, settings, settle,
    settle_and_agree, value,
};

#[test]
fn writes_to_a_dropped_family_are_refused_and_stop_nobody_else() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-2");
    for _ in 0..20 {
        db.create_cf("goes").expect("made");
        let family = db.family("goes").expect("there");
        std::thread::scope(|scope| {
            let writing = scope
                .spawn(|| (0..).find_map(|number| family.put(key(number), value(number, 1)).err()));
            db.drop_cf("goes").expect("dropped");
            let error = writing.join().expect("a thread").expect("refused");
            assert!(error.to_string().contains("was dropped"), "{error}");
        });
        assert!(family.delete(key(1)).is_err());
        assert!(family.delete_range(key(1), key(2)).is_err());
        db.put("key", "value").expect("the others go on");
    }
    db.create_cf("goes").expect("made again");
    let family = db.family("goes").expect("there");
    family
        .put("key", "value")
        .expect("another one of that name");
}

#[test]
fn families_are_made_filled_and_dropped_at_run_time() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-2");
    let mut model = Model::new();
    db.create_cf("keeps").expect("made");
    db.create_cf_with("tiers", &settings("fixed-4"))
        .expect("made");
    db.create_cf("goes").expect("made");
    for name in ["keeps", "tiers", "goes"] {
        let family = db.family(name).expect("there");
        for number in scattered(8_000) {
            family.put(key(number), value(number, 1)).expect("a put");
        }
    }
    load(&db, &mut model, 8_000, 1);
    db.drop_cf("goes").expect("dropped");
    assert!(db.family("goes").is_none());
    assert!(db.autopilot().wait_until_idle(PATIENCE));
    settle_and_agree(&db, &model);
    // The same name again is another column family.
    db.create_cf("goes").expect("made again");
    assert_eq!(
        db.family("goes")
            .expect("there")
            .get(key(1))
            .expect("a get"),
        None
    );
    drop(db);

    let db = open(directory.path(), "fixed-2");
    settle_and_agree(&db, &model);
    for name in ["keeps", "tiers"] {
        let family = db.family(name).expect("there");
        assert_eq!(
            family.scan("", usize::MAX, |_, _| ()).expect("a scan"),
            8_000
        );
        assert_eq!(family.get(key(77)).expect("a get"), Some(value(77, 1)));
    }
    let statistics = db.statistics().expect("statistics");
    assert_eq!(statistics.families.len(), 4);
}

#[test]
fn a_family_may_be_dropped_in_the_midst_of_its_compactions() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-4");
    for round in 0..60 {
        db.create_cf("goes").expect("made");
        let family = db.family("goes").expect("there");
        for number in scattered(1_500 + 40 * round) {
            family
                .put(key(number), value(number, round))
                .expect("a put");
        }
        db.drop_cf("goes").expect("dropped");
        // The others still take writes.
        db.put(key(round), value(round, round)).expect("a put");
        db.flush().expect("a flush");
    }
    assert!(db.health().background_error.is_none());
    drop(db);
    let journal = std::fs::read_to_string(directory.path().join("LISSOM-JOURNAL"));
    let was_cancelled = |line: &str| {
        [r#""column_family":"goes""#, r#""result":"cancelled""#]
            .iter()
            .all(|words| line.contains(words))
    };
    assert!(
        journal.expect("a journal").lines().any(was_cancelled),
        "nothing was under way at any drop"
    );
}

/// RocksDB makes and drops a column family before it writes the OPTIONS file, and calls both a
/// failure where it cannot write that.
#[test]
fn a_change_without_an_options_file_is_told_as_what_it_is() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-2");
    db.create_cf("old").expect("made");
    let old = db.family("old").expect("there");
    old.put("key", "value").expect("a put");
    let in_the_way: Vec<PathBuf> = (1..1_000)
        .map(|number| directory.path().join(format!("OPTIONS-{number:06}.dbtmp")))
        .collect();
    for path in &in_the_way {
        std::fs::create_dir(path).expect("a directory");
    }
    for _ in 0..2 {
        let error = db.drop_cf("old").expect_err("no OPTIONS file").to_string();
        assert!(error.contains("\"old\" was dropped"), "{error}");
        let again = db.family("old").expect("RocksDB's binding has it");
        for family in [&old, &again] {
            let error = family.put("key", "lost").expect_err("dropped").to_string();
            assert!(error.contains("was dropped"), "{error}");
        }
    }
    let error = db
        .create_cf("new")
        .expect_err("no OPTIONS file")
        .to_string();
    assert!(error.contains("\"new\" was made"), "{error}");
    db.put("key", "value").expect("the others go on");
    drop(old);
    drop(db);
    for path in &in_the_way {
        std::fs::remove_dir(path).expect("removed");
    }
    let db = open(directory.path(), "fixed-2");
    assert!(db.family("old").is_none());
    let new = db.family("new").expect("there");
    assert_eq!(new.get("key").expect("a get"), None);
    assert_eq!(db.get("key").expect("a get"), Some(b"value".to_vec()));
}

/// Dropping waits for an instant in which RocksDB has no job.
#[test]
fn memory_rate_and_other_families_do_not_wait_for_a_drop() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = Settings {
        level0_slowdown_writes_trigger: 5,
        rate_limit_bytes_per_second: Some(64 << 20),
        write_buffer_size: 1 << 20,
        ..settings("fixed-2")
    };
    let db = Db::open(directory.path(), settings).expect("opened");
    db.autopilot().pause();
    db.create_cf("goes").expect("made");
    for file in 0..4 {
        // No two files hold the same keys, and all overlap.
        for number in 0..2_000 {
            let number = 4 * number + file;
            db.put(key(number), value(number, 1)).expect("a put");
        }
        db.flush().expect("a flush");
    }
    // The fifth file begins RocksDB's own compaction, which takes some 20 s at this rate.
    // It lies among the others: RocksDB would move one beside them without a merge.
    db.set_rate_limit(64 << 10).expect("the least rate");
    db.put(key(4_000), value(4_000, 2)).expect("a put");
    db.flush().expect("a flush");
    let eventually = |what: &str, is_so: &dyn Fn() -> bool| {
        let begun = Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < PATIENCE, "never: {what}");
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    let running = || db.property_int_value(NUM_RUNNING_COMPACTIONS);
    eventually("a compaction", &|| running().expect("a property") > Some(0));
    std::thread::scope(|scope| {
        let dropping = scope.spawn(|| db.drop_cf("goes"));
        eventually("the drop", &|| db.cf_handle("goes").is_none());
        assert!(db.memory_bytes() > 0);
        db.create_cf("comes").expect("made");
        assert!(!dropping.is_finished(), "nobody was waited for");
        db.set_rate_limit(64 << 20).expect("a rate");
        dropping.join().expect("no panic").expect("dropped");
    });
    db.autopilot().unpause();
    settle(&db, db.autopilot());
}

/// RocksDB does not tell that the stall of a dropped family has ended.
#[test]
fn a_family_that_is_dropped_while_it_holds_writers_back_holds_nobody_back() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = Settings {
        level0_slowdown_writes_trigger: 5,
        rate_limit_bytes_per_second: Some(64 << 20),
        ..settings("fixed-2")
    };
    let db = Db::open(directory.path(), settings).expect("opened");
    let stall = || db.statistics().expect("statistics").stall;
    db.autopilot().pause();
    db.create_cf("goes").expect("made");
    let family = db.family("goes").expect("there");
    for version in 0..4 {
        for number in scattered(200) {
            family
                .put(key(number), value(number, version))
                .expect("a put");
        }
        db.flush_cf(family.handle()).expect("a flush");
    }
    // The fifth file begins the stall, and RocksDB's own compaction, which would end
    // it, takes seconds.
    db.set_rate_limit(64 << 10).expect("the least rate");
    family.put("key", "value").expect("a put");
    db.flush_cf(family.handle()).expect("a flush");
    let begun = Instant::now();
    while stall() == Duration::ZERO {
        assert!(begun.elapsed() < PATIENCE, "nobody is held back");
        db.put("key", "value").expect("a put");
    }
    drop(family);
    db.drop_cf("goes").expect("dropped");
    // The first writes may still wait for what had been let through before.
    let begun = Instant::now();
    loop {
        let before = stall();
        for number in 0..100 {
            db.put(key(number), value(number, 1)).expect("a put");
        }
        if stall() == before {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "they are held back for good");
    }
    db.set_rate_limit(64 << 20).expect("a rate");
}

#[test]
fn a_batch_reaches_several_families_at_once() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-2");
    db.create_cf("other").expect("made");
    let other = db.family("other").expect("there");
    for number in scattered(6_000) {
        let mut batch = WriteBatch::default();
        batch.put(key(number), value(number, 1));
        batch.put_cf(other.handle(), key(number), value(number, 2));
        db.write(&batch).expect("written");
    }
    settle(&db, db.autopilot());
    for number in 0..6_000 {
        assert_eq!(db.get(key(number)).expect("a get"), Some(value(number, 1)));
        assert_eq!(
            other.get(key(number)).expect("a get"),
            Some(value(number, 2))
        );
    }
}

#[test]
fn an_exported_family_is_imported_with_its_levels() {
    let directory = tempfile::tempdir().expect("a directory");
    let source = open(directory.path(), "fixed-3");
    let mut model = Model::new();
    load(&source, &mut model, 20_000, 1);
    settle_and_agree(&source, &model);
    let export = directory.path().join("export");
    let default = source.cf_handle("default").expect("default");
    let metadata = Checkpoint::new(&*source)
        .and_then(|checkpoint| checkpoint.export_column_family(&default, &export))
        .expect("exported");

    let target = tempfile::tempdir().expect("a directory");
    let (options, preparation) = prepared(|_| ()).expect("prepared");
    let family = ColumnFamilyDescriptor::new("default", options.clone());
    let db = RocksDb::open_cf_descriptors(&options, target.path(), [family]).expect("opened");
    let db = Arc::new(db);
    let autopilot = Autopilot::attach(db.clone(), preparation).expect("attached");
    let mut later = Preparation::new(&settings("fixed-3")).expect("prepared");
    let options = later
        .options("imported", &settings("fixed-3"))
        .expect("options");
    let import = ImportColumnFamilyOptions::new();
    db.create_column_family_with_import(&options, "imported", &import, &metadata)
        .expect("imported");
    autopilot.attach_cf("imported", &later).expect("attached");
    settle(&db, &autopilot);
    let imported = db.cf_handle("imported").expect("there");
    for (key, value) in model.iter().step_by(13) {
        assert_eq!(
            db.get_cf(&imported, key).expect("a get").as_ref(),
            Some(value)
        );
    }
    agree(&db, &Model::new());
    drop(imported);
    autopilot.release_cf("imported");
    db.drop_cf("imported").expect("dropped");
    settle(&db, &autopilot);
}

/// The first of two drivers would go on with its compactions, unknown to the second and
/// to `without_compactions`.
#[test]
fn a_family_is_attached_once() {
    let directory = tempfile::tempdir().expect("a directory");
    let (db, autopilot) = super::store::attach(directory.path(), |_| ()).expect("attached");
    let mut later = Preparation::new(&settings("fixed-3")).expect("prepared");
    let options = later
        .options("extra", &settings("fixed-3"))
        .expect("options");
    for _ in 0..2 {
        db.create_cf("extra", &options).expect("made");
        autopilot.attach_cf("extra", &later).expect("attached");
        let error = autopilot.attach_cf("extra", &later).expect_err("driven");
        assert!(error.to_string().contains("is driven already"), "{error}");
        let extra = db.cf_handle("extra").expect("there");
        for number in scattered(2_000) {
            db.put_cf(&extra, key(number), value(number, 1))
                .expect("a put");
        }
        db.flush_cf(&extra).expect("a flush");
        assert!(autopilot.wait_until_idle(PATIENCE));
        drop(extra);
        autopilot.release_cf("extra");
        db.drop_cf("extra").expect("dropped");
    }
    settle(&db, &autopilot);
}

#[test]
fn a_family_that_the_application_made_by_itself_is_refused_at_attach() {
    let directory = tempfile::tempdir().expect("a directory");
    let (db, autopilot) = super::store::attach(directory.path(), |_| ()).expect("attached");
    db.create_cf("plain", &rust_rocksdb::Options::default())
        .expect("made");
    let mut preparation = Preparation::new(&settings("fixed-2")).expect("prepared");
    let error = autopilot
        .attach_cf("plain", &preparation)
        .expect_err("no options");
    assert!(
        error
            .to_string()
            .contains("call Preparation::options first"),
        "{error}"
    );
    let _unused = preparation
        .options("plain", &settings("fixed-2"))
        .expect("options");
    let error = autopilot
        .attach_cf("plain", &preparation)
        .expect_err("foreign");
    assert!(
        error
            .to_string()
            .contains("\"plain\" cannot be driven: it has 7 levels"),
        "{error}"
    );
    settle(&db, &autopilot);
}
