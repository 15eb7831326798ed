//! Data that goes away with time.

use std::sync::Arc;
use std::time::Duration;

use lissom::{Autopilot, RocksDb};
use rust_rocksdb::{ColumnFamilyDescriptor, ColumnFamilyTtl};

use super::store::{Model, agree, key, load, prepared, settle};

#[test]
fn a_database_with_ttl_loses_what_is_old_when_it_is_merged() {
    let directory = tempfile::tempdir().expect("a directory");
    let (options, preparation) = prepared(|_| ()).expect("prepared");
    let ttl = Duration::from_secs(1);
    let family =
        ColumnFamilyDescriptor::new_with_ttl("default", options.clone(), ColumnFamilyTtl::SameAsDb);
    let db = RocksDb::open_cf_descriptors_with_ttl(&options, directory.path(), [family], ttl);
    let db = Arc::new(db.expect("opened"));
    let autopilot = Autopilot::attach(db.clone(), preparation).expect("attached");
    let mut model = Model::new();
    load(&db, &mut model, 10_000, 1);
    settle(&db, &autopilot);
    std::thread::sleep(ttl * 2);
    // Deletes all over the keys: a tree of one run would be left as it is.
    for number in (0..10_000).step_by(10) {
        db.delete(key(number)).expect("a delete");
    }
    settle(&db, &autopilot);
    autopilot.compact("default").expect("asked");
    settle(&db, &autopilot);
    agree(&db, &Model::new());
}
