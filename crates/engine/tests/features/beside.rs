//! Other handles beside a running store.

use lissom::{Db, RocksDb};

use super::store::{Model, agree, key, load, open, plain_options, put, settle_and_agree, value};

fn running(path: &std::path::Path, model: &mut Model) -> Db {
    let db = open(path, "fixed-3");
    load(&db, model, 15_000, 1);
    settle_and_agree(&db, model);
    db
}

#[test]
fn a_read_only_handle_sees_the_store_as_it_was() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut model = Model::new();
    let db = running(directory.path(), &mut model);
    let before = model.clone();
    let reader = RocksDb::open_for_read_only(&plain_options(), directory.path(), false)
        .expect("opened beside");
    // What the reader sees stays, though its files are merged away meanwhile.
    load(&db, &mut model, 15_000, 2);
    settle_and_agree(&db, &model);
    let sample = before.iter().next().expect("a key");
    assert_eq!(
        reader.get(sample.0).expect("a get").as_ref(),
        Some(sample.1)
    );
    drop(reader);
    let reader = RocksDb::open_for_read_only(&plain_options(), directory.path(), false)
        .expect("opened beside");
    agree(&reader, &model);
}

#[test]
fn a_secondary_catches_up_with_the_store() {
    let directory = tempfile::tempdir().expect("a directory");
    let own = tempfile::tempdir().expect("a directory");
    let mut model = Model::new();
    let db = running(directory.path(), &mut model);
    let mut options = plain_options();
    options.set_max_open_files(-1);
    let secondary =
        RocksDb::open_as_secondary(&options, directory.path(), own.path()).expect("opened beside");
    agree(&secondary, &model);
    load(&db, &mut model, 15_000, 2);
    put(&db, &mut model, key(3), value(3, 9));
    settle_and_agree(&db, &model);
    secondary.try_catch_up_with_primary().expect("caught up");
    agree(&secondary, &model);
}

#[test]
fn too_few_levels_are_refused_by_rocksdb() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut model = Model::new();
    drop(running(directory.path(), &mut model));
    let options = rust_rocksdb::Options::default();
    let error =
        RocksDb::open_for_read_only(&options, directory.path(), false).expect_err("7 levels");
    assert!(error.to_string().contains("num_levels"), "{error}");
}
