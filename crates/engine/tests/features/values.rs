//! Where and how values are stored.

use lissom::{Compression, Db, Settings};

use super::compression::follows_the_levels;
use super::store::{
    Model, files_by_level, key, open_with, put, scattered, settings, settle, settle_and_agree,
    went_deep,
};

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

/// A half of it compresses, so that levels fill though they are compressed.
fn half_random(number: u64, version: u64) -> Vec<u8> {
    let mut state = number * 8 + version;
    let mut value = vec![b'.'; 160];
    for byte in &mut value[..80] {
        // Knuth's generator, of which the upper bits are good.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        *byte = (state >> 56) as u8;
    }
    value
}

#[test]
fn each_level_may_be_compressed_in_its_own_way() {
    let directory = tempfile::tempdir().expect("a directory");
    let compression = [Compression::None, Compression::Lz4, Compression::Zstd];
    let settings = Settings {
        compression: compression.to_vec(),
        ..settings("fixed-3")
    };
    let mut model = Model::new();
    {
        let db = Db::open(directory.path(), settings).expect("opened");
        for version in 1..=2 {
            for number in scattered(30_000) {
                put(&db, &mut model, key(number), half_random(number, version));
            }
        }
        settle_and_agree(&db, &model);
        went_deep(&db);
        // Until each of the three levels holds files: shallow ones come and go.
        let mut more = scattered(30_000);
        while follows_the_levels(&db, &compression).len() < 3 {
            let part: Vec<u64> = more.by_ref().take(500).collect();
            assert!(!part.is_empty(), "{:?}", files_by_level(&db));
            for number in part {
                put(&db, &mut model, key(number), half_random(number, 3));
            }
            settle(&db, db.autopilot());
        }
    }
    // Other compressions read the same files.
    let db = open_with(directory.path(), |_| ());
    settle_and_agree(&db, &model);
}
