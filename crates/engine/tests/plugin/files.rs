use lissom::ffi::CfRef;
use lissom::ffi::snapshot::{table_properties, table_properties_at, tree_snapshot};
use rust_rocksdb::{DBWithThreadMode, MultiThreaded};

use crate::store::{LEVELS, Store, key, name, options};

fn build() -> Store {
    let store = Store::open(&options());
    store.flush(0..1000);
    store.compact(0, 7, false).expect("compaction");
    store.flush(200..400);
    for n in 0..50 {
        store.db.delete(key(n)).expect("delete");
    }
    store.flush(500..600);
    store
}

#[test]
fn the_snapshot_equals_rocksdbs_metadata() {
    let store = build();
    let snapshot = tree_snapshot(store.cf()).expect("a snapshot");
    assert_eq!(snapshot.levels as usize, LEVELS);
    let metadata = store.db.get_column_family_metadata();
    assert_eq!(snapshot.files.len(), metadata.file_count);
    let size: u64 = snapshot.files.iter().map(|file| file.size).sum();
    assert_eq!(size, metadata.size);
    let live = store.db.live_files().expect("live files");
    for file in &snapshot.files {
        let same = live
            .iter()
            .find(|l| l.name.trim_start_matches('/') == name(file))
            .expect("a live file of that name");
        assert_eq!(same.level, file.level as i32);
        assert_eq!(same.size as u64, file.size);
        assert_eq!(same.start_key.as_deref(), Some(&file.smallest[..]));
        assert_eq!(same.end_key.as_deref(), Some(&file.largest[..]));
        assert_eq!(same.num_entries, file.entries);
        assert_eq!(same.num_deletions, file.deletions);
        assert_eq!(same.smallest_seqno, file.smallest_seqno);
        assert_eq!(same.largest_seqno, file.largest_seqno);
        assert!(!file.being_compacted);
        assert!(file.created > 0);
    }
}

#[test]
fn level_0_comes_first_and_newest_first() {
    let store = build();
    let files = store.files();
    let levels: Vec<_> = files.iter().map(|file| file.level).collect();
    assert_eq!(levels, [0, 0, 7]);
    assert!(files[0].epoch > files[1].epoch);
    assert!(files[0].smallest_seqno > files[1].largest_seqno);
    assert_eq!(files[0].deletions, 50);
}

#[test]
fn properties_are_there_after_a_reopening() {
    let store = build();
    let before = table_properties(store.cf()).expect("properties");
    let store = store.reopen(&options());
    let after = table_properties(store.cf()).expect("properties");
    assert_eq!(before, after);
    let files = store.files();
    assert_eq!(after.len(), files.len());
    let deepest = &after[&files.last().expect("a file").number];
    assert_eq!((deepest.entries, deepest.deletions), (1000, 0));
    assert_eq!(deepest.raw_value_size, 1000 * 100);
    // A key's sequence number and type, 8 bytes, count too.
    assert_eq!(deepest.raw_key_size, 1000 * (9 + 8));
    assert!(deepest.data_size >= 1000 * 100);
    assert!(deepest.compression.ends_with(";;"), "no compression");
    assert_eq!(after[&files[0].number].deletions, 50);
}

#[test]
fn properties_are_read_at_some_keys_alone() {
    let store = build().reopen(&options());
    let all = table_properties(store.cf()).expect("properties");
    let deepest = store.files().last().expect("a file").number;
    let at = |keys: &[Vec<u8>]| table_properties_at(store.cf(), keys).expect("properties");
    assert_eq!(at(&[key(0), key(300), key(550)]), all);
    let alone = at(&[key(999)]);
    assert_eq!(alone.keys().copied().collect::<Vec<_>>(), [deepest]);
    assert_eq!(alone[&deepest], all[&deepest]);
    assert!(at(&[key(1_000)]).is_empty());
    assert!(at(&[]).is_empty());
}

#[test]
fn the_compression_of_a_file_is_recorded() {
    let mut compressed = options();
    compressed.set_compression_type(rust_rocksdb::DBCompressionType::Lz4);
    let store = Store::open(&compressed);
    store.flush(0..1000);
    let tables = table_properties(store.cf()).expect("properties");
    let table = tables.values().next().expect("a file");
    assert!(table.compression.ends_with(";04;"), "{}", table.compression);
    assert!(table.data_size < table.raw_value_size / 2);
}

#[test]
fn range_tombstones_are_counted() {
    let store = Store::open(&options());
    let mut batch = rust_rocksdb::WriteBatch::default();
    batch.delete_range(key(1), key(5));
    store.db.write(&batch).expect("write");
    store.flush(7..9);
    let tables = table_properties(store.cf()).expect("properties");
    assert_eq!(tables.values().next().expect("a file").range_deletions, 1);
    assert_eq!(store.files()[0].smallest, key(1));
}

#[test]
fn keys_may_hold_any_bytes() {
    let store = Store::open(&options());
    let nasty: [&[u8]; 3] = [b"", b"\0\0", b"\xff\xfe\0"];
    for bytes in nasty {
        store.db.put(bytes, b"v").expect("put");
    }
    store.db.flush().expect("flush");
    let files = store.files();
    assert_eq!(files[0].smallest, nasty[0]);
    assert_eq!(files[0].largest, nasty[2]);
}

#[test]
fn an_empty_tree_has_no_files() {
    let store = Store::open(&options());
    let snapshot = tree_snapshot(store.cf()).expect("a snapshot");
    assert_eq!(
        (snapshot.levels as usize, snapshot.files.len()),
        (LEVELS, 0)
    );
    assert!(table_properties(store.cf()).expect("properties").is_empty());
}

#[test]
fn a_handle_alone_leads_to_its_own_database() {
    let one = tempfile::TempDir::new().expect("a temporary directory");
    let two = tempfile::TempDir::new().expect("a temporary directory");
    let mut create = options();
    create.create_missing_column_families(true);
    type Many = DBWithThreadMode<MultiThreaded>;
    let first = Many::open_cf(&create, one.path(), ["default", "x"]).expect("open");
    let second = Many::open_cf(&create, two.path(), ["default", "x"]).expect("open");
    let (a, b) = (
        first.cf_handle("x").expect("x exists"),
        second.cf_handle("x").expect("x exists"),
    );
    first.put_cf(&a, "k", "v").expect("put");
    first.flush_cf(&a).expect("flush");
    let (a, b) = (
        CfRef::of(&a).expect("the layout fits"),
        CfRef::of(&b).expect("the layout fits"),
    );
    assert_eq!(tree_snapshot(a).expect("a snapshot").files.len(), 1);
    assert_eq!(tree_snapshot(b).expect("a snapshot").files.len(), 0);
    a.verify("x", one.path()).expect("it is x of one");
    let error = a.verify("x", two.path()).expect_err("it is not x of two");
    assert!(error.to_string().contains("\"x\""), "{error}");
    assert!(b.verify("default", two.path()).is_err());
}

#[test]
fn a_transaction_database_works_too() {
    let directory = tempfile::TempDir::new().expect("a temporary directory");
    let mut create = options();
    create.create_missing_column_families(true);
    let db: rust_rocksdb::TransactionDB<MultiThreaded> = rust_rocksdb::TransactionDB::open_cf(
        &create,
        &rust_rocksdb::TransactionDBOptions::default(),
        directory.path(),
        ["default", "x"],
    )
    .expect("open");
    let cf = db.cf_handle("x").expect("x exists");
    let cf = CfRef::of(&cf).expect("the layout fits");
    cf.verify("x", directory.path()).expect("it is x");
    assert!(tree_snapshot(cf).expect("a snapshot").files.is_empty());
}
