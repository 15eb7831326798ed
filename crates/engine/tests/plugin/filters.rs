use std::sync::atomic::{AtomicBool, Ordering};

use lissom::ffi::filter::LevelBloom;
use lissom::ffi::options::live_options;
use lissom::ffi::perf::{Counts, Sample};
use lissom::ffi::snapshot::table_properties;
use rust_rocksdb::{DB, Options};

use crate::store::{LEVELS, Store, key, options};

const KEYS: u32 = 4000;

fn installed(bloom: &LevelBloom) -> Options {
    let mut options = options();
    bloom.install(&mut options).expect("the policy fits");
    options
}

/// Bits per key of the only file.
fn filter_bits(store: &Store) -> f64 {
    let tables = table_properties(store.cf()).expect("properties");
    assert_eq!(tables.len(), 1, "{tables:?}");
    let table = tables.values().next().expect("one file");
    table.filter_size as f64 * 8.0 / table.entries as f64
}

/// RocksDB rounds a filter to whole cache lines and may balance rounding errors
/// between filters.
fn assert_near(found: f64, wanted: f64) {
    assert!(
        (found - wanted).abs() <= 0.15 * wanted + 0.2,
        "{found} bits, not {wanted}"
    );
}

#[test]
fn each_level_has_its_own_bits() {
    let mut bits = [10.0; LEVELS];
    bits[3] = 4.0;
    bits[5] = 0.0;
    let bloom = LevelBloom::new(&bits).expect("valid bits");
    let store = Store::open(&installed(&bloom));
    store.flush(0..KEYS);
    assert_near(filter_bits(&store), 10.0);
    store.compact(0, 3, false).expect("compaction");
    assert_near(filter_bits(&store), 4.0);
    store.compact(3, 5, false).expect("compaction");
    assert_eq!(filter_bits(&store), 0.0);
    store.compact(5, 6, false).expect("compaction");
    assert_near(filter_bits(&store), 10.0);
    store.assert_reads(0..KEYS);
}

#[test]
fn bits_change_while_the_database_is_open() {
    let bloom = LevelBloom::new(&[10.0; LEVELS]).expect("valid bits");
    let store = Store::open(&installed(&bloom));
    bloom.set_bits(0, 20.0).expect("level 0 exists");
    assert_eq!(bloom.bits(0), 20.0);
    store.flush(0..KEYS);
    assert_near(filter_bits(&store), 20.0);
    bloom.set_bits(4, 6.5).expect("level 4 exists");
    store.compact(0, 4, false).expect("compaction");
    assert_near(filter_bits(&store), 6.5);
}

/// RocksDB writes and verifies its OPTIONS file at each of these calls.
#[test]
fn changed_bits_do_not_fail_the_options_check() {
    let bloom = LevelBloom::new(&[10.0; LEVELS]).expect("valid bits");
    let mut store = Store::open(&installed(&bloom));
    let stop = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        let changer = bloom.clone();
        scope.spawn(move || {
            let mut step = 0u32;
            while !stop.load(Ordering::Relaxed) {
                let bits = f64::from(step % 1000) / 50.0;
                changer.set_bits(2, bits).expect("valid bits");
                step += 1;
            }
        });
        for n in 0..20 {
            let base = (100 + n).to_string();
            store
                .db
                .set_options(&[("level0_stop_writes_trigger", base.as_str())])
                .expect("set_options");
            store
                .db
                .create_cf(format!("cf{n}"), &installed(&bloom))
                .expect("create_cf");
        }
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn plain_rocksdb_reads_the_files_and_uses_their_filters() {
    let bloom = LevelBloom::new(&[10.0; LEVELS]).expect("valid bits");
    let store = Store::open(&installed(&bloom));
    store.flush((0..KEYS).map(|n| n * 2));
    let store = store.reopen(&options());
    assert_eq!(
        live_options(store.cf()).expect("options").cf.filter_policy,
        None
    );
    store.assert_reads((0..KEYS).map(|n| n * 2));
    let mut plain = options();
    let mut table = rust_rocksdb::BlockBasedOptions::default();
    table.set_bloom_filter(10.0, false);
    plain.set_block_based_table_factory(&table);
    let store = store.reopen(&plain);
    let mut counts = Counts::default();
    let sample = Sample::begin().expect("this thread counts nothing yet");
    for n in 0..KEYS - 1 {
        assert_eq!(store.db.get(key(n * 2 + 1)).expect("get"), None);
    }
    sample.end(&mut counts);
    let useful = counts.levels[0].bloom_filter_useful;
    assert!(
        useful > 3800,
        "the filter kept out {useful} of {KEYS} reads"
    );
}

#[test]
fn the_options_file_brings_the_policy_back() {
    let mut bits = [10.0; LEVELS];
    bits[3] = 9.5;
    bits[4..].fill(0.0);
    let bloom = LevelBloom::new(&bits).expect("valid bits");
    let id = bloom.id().expect("an id");
    assert_eq!(id, "lissom.LevelBloom:10x3/9.5/0x16");
    let store = Store::open(&installed(&bloom));
    store.flush(0..KEYS);
    let crate::store::Store { db, directory } = store;
    drop(db);
    let cache = rust_rocksdb::Cache::new_lru_cache(1 << 20);
    let env = rust_rocksdb::Env::new().expect("the default environment");
    let (db_options, families) =
        Options::load_latest(directory.path(), env, false, cache).expect("OPTIONS load");
    let db = DB::open_cf_descriptors(&db_options, directory.path(), families).expect("open");
    let store = Store { db, directory };
    let live = live_options(store.cf()).expect("options");
    assert_eq!(live.cf.filter_policy.as_deref(), Some(id.as_str()));
    store.compact(0, 3, false).expect("compaction");
    assert_near(filter_bits(&store), 9.5);
    store.compact(3, 4, false).expect("compaction");
    assert_eq!(filter_bits(&store), 0.0);
}

#[test]
fn earlier_copies_of_the_options_keep_their_table() {
    let mut first = options();
    let copy = first.clone();
    let bloom = LevelBloom::new(&[10.0]).expect("valid bits");
    bloom.install(&mut first).expect("the policy fits");
    let store = Store::open(&copy);
    store.flush(0..100);
    assert_eq!(filter_bits(&store), 0.0);
}

#[test]
fn bad_bits_are_refused_with_a_sentence() {
    assert!(LevelBloom::new(&[]).is_err());
    let error = LevelBloom::new(&[10.0, f64::NAN]).err().expect("no number");
    assert!(error.to_string().contains("level 1"), "{error}");
    assert!(LevelBloom::new(&[100.01]).is_err());
    let bloom = LevelBloom::new(&[10.0; 3]).expect("valid bits");
    let error = bloom.set_bits(3, 1.0).expect_err("there is no level 3");
    assert!(error.to_string().contains("3 levels"), "{error}");
    assert!(bloom.set_bits(0, f64::INFINITY).is_err());
    bloom.set_bits(0, -1.0).expect("no filter");
    assert_eq!(bloom.bits(0), 0.0);
    assert_eq!(bloom.bits(99), 10.0);
}

#[test]
fn filters_need_the_block_based_format() {
    let mut plain = options();
    plain.set_plain_table_factory(&rust_rocksdb::PlainTableFactoryOptions {
        user_key_length: 0,
        bloom_bits_per_key: 10,
        hash_table_ratio: 0.75,
        index_sparseness: 16,
        huge_page_tlb_size: 0,
        encoding_type: rust_rocksdb::KeyEncodingType::Plain,
        full_scan_mode: false,
        store_index_in_file: false,
    });
    let bloom = LevelBloom::new(&[10.0]).expect("valid bits");
    let error = bloom.install(&mut plain).expect_err("another format");
    assert!(error.to_string().contains("block-based"), "{error}");
}
