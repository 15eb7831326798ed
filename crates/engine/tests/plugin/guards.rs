use lissom::ffi::guards::GuardTable;
use lissom::ffi::options::live_options;

use crate::store::{LEVELS, Store, key, options};

fn open(guards: &GuardTable) -> Store {
    let mut options = options();
    guards.install(&mut options).expect("bytewise order");
    Store::open(&options)
}

/// The key ranges of the files of a level, as numbers.
fn ranges(store: &Store, level: u32) -> Vec<(Vec<u8>, Vec<u8>)> {
    store
        .files_at(level)
        .into_iter()
        .map(|file| (file.smallest, file.largest))
        .collect()
}

#[test]
fn outputs_are_cut_at_the_guards_of_their_level() {
    let guards = GuardTable::new(LEVELS).expect("a table");
    // One guard is a key, one lies between keys, one follows directly on another
    // with no key between, one lies above all keys.
    let keys = [
        key(100),
        b"key000199x".to_vec(),
        b"key000199y".to_vec(),
        key(999),
    ];
    guards.set(3..5, &keys).expect("ascending");
    assert_eq!((guards.guards(2), guards.guards(3)), (0, 4));
    let store = open(&guards);
    store.flush(0..300);
    store.compact(0, 2, false).expect("compaction");
    assert_eq!(ranges(&store, 2), [(key(0), key(299))]);
    store.compact(2, 3, false).expect("compaction");
    let cut = [
        (key(0), key(99)),
        (key(100), key(199)),
        (key(200), key(299)),
    ];
    assert_eq!(ranges(&store, 3), cut);
    guards.set::<&[u8]>(3..5, &[]).expect("no guards");
    store.compact(3, 4, false).expect("compaction");
    assert_eq!(ranges(&store, 4), [(key(0), key(299))]);
    store.assert_reads(0..300);
}

#[test]
fn many_guards_cut_many_files() {
    let guards = GuardTable::new(LEVELS).expect("a table");
    let keys: Vec<_> = (0..300).map(|n| key(n * 10)).collect();
    guards.set(0..LEVELS, &keys).expect("ascending");
    let store = open(&guards);
    store.flush(0..3000);
    store.compact(0, 6, false).expect("compaction");
    let expected: Vec<_> = (0..300).map(|n| (key(n * 10), key(n * 10 + 9))).collect();
    assert_eq!(ranges(&store, 6), expected);
    store.assert_reads(0..3000);
}

#[test]
fn runs_that_share_guards_share_borders() {
    let guards = GuardTable::new(LEVELS).expect("a table");
    guards
        .set(2..LEVELS, &[key(1000), key(2000)])
        .expect("ascending");
    let store = open(&guards);
    store.flush((0..3000).filter(|n| n % 2 == 0));
    store.compact(0, 4, false).expect("compaction");
    store.flush((0..3000).filter(|n| n % 3 == 0));
    store.compact(0, 3, false).expect("compaction");
    for border in [key(1000), key(2000)] {
        for level in [3, 4] {
            assert!(
                ranges(&store, level)
                    .iter()
                    .all(|(smallest, largest)| *largest < border || *smallest >= border),
                "a file of level {level} straddles a guard"
            );
        }
    }
}

#[test]
fn a_trivial_move_is_never_refused() {
    let guards = GuardTable::new(LEVELS).expect("a table");
    let store = open(&guards);
    store.flush(0..300);
    store.compact(0, 3, false).expect("compaction");
    guards.set(0..LEVELS, &[key(150)]).expect("ascending");
    let before = store.files_at(3);
    store.compact(3, 8, true).expect("move");
    let after = store.files_at(8);
    assert_eq!(before.len(), 1);
    assert_eq!(after.len(), 1);
    assert_eq!(after[0].number, before[0].number, "the file was rewritten");
    assert_eq!(after[0].smallest, key(0));
    assert_eq!(after[0].largest, key(299));
}

#[test]
fn an_options_file_with_the_partitioner_loads() {
    let guards = GuardTable::new(LEVELS).expect("a table");
    let store = open(&guards);
    store.flush(0..10);
    let Store { db, directory } = store;
    drop(db);
    let cache = rust_rocksdb::Cache::new_lru_cache(1 << 20);
    let env = rust_rocksdb::Env::new().expect("the default environment");
    let (db_options, families) =
        rust_rocksdb::Options::load_latest(directory.path(), env, false, cache).expect("OPTIONS");
    let db = rust_rocksdb::DB::open_cf_descriptors(&db_options, directory.path(), families)
        .expect("open");
    let store = Store { db, directory };
    let live = live_options(store.cf()).expect("options");
    assert_eq!(
        live.cf.sst_partitioner_factory.as_deref(),
        Some("lissom.GuardPartitioner")
    );
    store.compact(0, 3, false).expect("compaction");
    store.assert_reads(0..10);
}

#[test]
fn bad_guards_are_refused_with_a_sentence() {
    let guards = GuardTable::new(4).expect("a table");
    let error = guards
        .set(0..1, &["b", "a"])
        .expect_err("guards out of order");
    assert!(error.to_string().contains("ascend"), "{error}");
    assert!(guards.set(0..1, &["a", "a"]).is_err());
    let error = guards.set(3..5, &["a"]).expect_err("no level 4");
    assert!(error.to_string().contains("4 levels"), "{error}");
    #[allow(clippy::reversed_empty_ranges)]
    let reversed = guards.set(3..2, &["a"]);
    assert!(reversed.is_err());
    assert!((0..4).all(|level| guards.guards(level) == 0));
}

#[test]
fn guards_need_byte_order() {
    let guards = GuardTable::new(4).expect("a table");
    let mut reversed = options();
    reversed.set_comparator("reversed", Box::new(|a, b| b.cmp(a)));
    let error = guards.install(&mut reversed).expect_err("another order");
    assert!(error.to_string().contains("reversed"), "{error}");
}
