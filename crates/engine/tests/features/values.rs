//! Where and how values are stored.

use lissom::{Compression, Db, Settings};

use super::store::{Model, key, load, open_with, scattered, settings, settle_and_agree, went_deep};

fn blob_count(db: &Db) -> u64 {
    db.property_int_value("rocksdb.num-blob-files")
        .expect("a property")
        .expect("a number")
}

#[test]
fn blob_files_are_written_read_and_collected() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open_with(directory.path(), |options| {
        options.set_enable_blob_files(true);
        options.set_min_blob_size(500);
        options.set_enable_blob_gc(true);
        options.set_blob_gc_age_cutoff(1.0);
    });
    let mut model = Model::new();
    for version in 0..4 {
        for number in scattered(6_000) {
            // Every second value is a blob.
            let length = if number % 2 == 0 { 1_000 } else { 100 };
            let value = vec![b'a' + version; length];
            db.put(key(number), &value).expect("a put");
            model.insert(key(number), value);
        }
    }
    settle_and_agree(&db, &model);
    assert!(blob_count(&db) > 0);
    let blobs = || {
        db.property_int_value("rocksdb.total-blob-file-size")
            .expect("a property")
            .expect("a number")
    };
    let before = blobs();
    db.autopilot().compact("default").expect("asked");
    settle_and_agree(&db, &model);
    assert!(blobs() < before, "{} of {before} bytes", blobs());
}

#[test]
fn each_level_may_be_compressed_in_its_own_way() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = Settings {
        compression: vec![Compression::None, Compression::Lz4, Compression::Zstd],
        ..settings("fixed-3")
    };
    let mut model = Model::new();
    {
        let db = Db::open(directory.path(), settings).expect("opened");
        load(&db, &mut model, 30_000, 1);
        load(&db, &mut model, 30_000, 2);
        settle_and_agree(&db, &model);
        went_deep(&db);
        let bytes: u64 = db
            .live_files()
            .expect("files")
            .iter()
            .map(|file| file.size as u64)
            .sum();
        let raw: usize = model
            .iter()
            .map(|(key, value)| key.len() + value.len())
            .sum();
        assert!(bytes < raw as u64 / 2, "{bytes} of {raw}");
    }
    // Other compressions read the same files.
    let db = open_with(directory.path(), |_| ());
    settle_and_agree(&db, &model);
}
