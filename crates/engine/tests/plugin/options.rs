use lissom::ffi::CfRef;
use lissom::ffi::filter::LevelBloom;
use lissom::ffi::guards::GuardTable;
use lissom::ffi::options::{CompactionStyle, Compression, assert_level_style, live_options};
use lissom::ffi::options_file::load_latest_options;
use lissom::ffi::rate_limit::RateLimiter;
use rust_rocksdb::{DB, DBCompactionStyle, DBCompressionType, MergeOperands, Options};

use crate::store::{LEVELS, Store, options};

fn concatenate(_: &[u8], old: Option<&[u8]>, operands: &MergeOperands) -> Option<Vec<u8>> {
    let mut value = old.unwrap_or_default().to_vec();
    operands.iter().for_each(|operand| value.extend(operand));
    Some(value)
}

fn unusual() -> Options {
    let mut o = options();
    o.set_merge_operator_associative("my.concatenation", concatenate);
    o.set_compaction_filter("my.filter", |_, _, _| {
        rust_rocksdb::CompactionDecision::Keep
    });
    o.set_level_zero_file_num_compaction_trigger(11);
    o.set_level_zero_slowdown_writes_trigger(-1);
    o.set_level_zero_stop_writes_trigger(33);
    o.set_write_buffer_size(3 << 20);
    o.set_max_write_buffer_number(5);
    o.set_target_file_size_base(7 << 20);
    o.set_max_bytes_for_level_base(1 << 60);
    o.set_max_bytes_for_level_multiplier(1.5);
    o.set_ttl(4321);
    o.set_periodic_compaction_seconds(8765);
    o.set_enable_blob_files(true);
    o.set_compression_per_level(&[DBCompressionType::None, DBCompressionType::Lz4]);
    o.set_bottommost_compression_type(DBCompressionType::Zstd);
    o.set_max_background_jobs(3);
    o.set_max_open_files(-1);
    o.set_use_direct_reads(true);
    o.enable_statistics();
    let limiter = RateLimiter::new(1 << 40).expect("a rate");
    limiter.install(&mut o).expect("the layout fits");
    let bloom = LevelBloom::new(&[7.25; LEVELS]).expect("valid bits");
    bloom.install(&mut o).expect("the policy fits");
    let guards = GuardTable::new(LEVELS).expect("a table");
    guards.install(&mut o).expect("bytewise order");
    o
}

#[test]
fn live_options_are_those_that_were_set() {
    let store = Store::open(&unusual());
    let live = live_options(store.cf()).expect("options");
    assert_eq!(live.db.max_background_jobs, 3);
    assert_eq!(live.db.max_open_files, -1);
    assert!(live.db.use_direct_reads && !live.db.use_direct_io_for_flush_and_compaction);
    assert!(live.db.has_rate_limiter && live.db.has_statistics);
    assert!(!live.db.allow_ingest_behind && !live.db.atomic_flush);
    let cf = live.cf;
    assert_eq!(cf.name, "default");
    assert_eq!(cf.comparator, "leveldb.BytewiseComparator");
    assert_eq!(cf.timestamp_size, 0);
    assert_eq!(cf.merge_operator.as_deref(), Some("my.concatenation"));
    assert_eq!(cf.compaction_filter.as_deref(), Some("my.filter"));
    assert_eq!(cf.compaction_filter_factory, None);
    assert_eq!(
        cf.sst_partitioner_factory.as_deref(),
        Some("lissom.GuardPartitioner")
    );
    assert_eq!(cf.prefix_extractor, None);
    assert_eq!(cf.table_factory.as_deref(), Some("BlockBasedTable"));
    assert_eq!(
        cf.filter_policy.as_deref(),
        Some("lissom.LevelBloom:7.25x20")
    );
    assert_eq!(cf.compaction_style, CompactionStyle::Level);
    assert_eq!(cf.num_levels as usize, LEVELS);
    assert_eq!(cf.level0_file_num_compaction_trigger, 11);
    assert_eq!(cf.level0_stop_writes_trigger, 33);
    assert_eq!(cf.write_buffer_size, 3 << 20);
    assert_eq!(cf.max_write_buffer_number, 5);
    assert_eq!(cf.target_file_size_base, 7 << 20);
    assert_eq!(cf.max_bytes_for_level_base, 1 << 60);
    assert_eq!(cf.max_bytes_for_level_multiplier, 1.5);
    assert!(!cf.level_compaction_dynamic_level_bytes && cf.disable_auto_compactions);
    assert_eq!(cf.max_compaction_bytes, 1 << 60);
    assert_eq!((cf.ttl, cf.periodic_compaction_seconds), (4321, 8765));
    assert_eq!(cf.preclude_last_level_data_seconds, 0);
    assert!(cf.enable_blob_files && !cf.cf_allow_ingest_behind);
    assert_eq!(cf.compression_per_level, [Compression(0), Compression(4)]);
    assert_eq!(cf.bottommost_compression.to_string(), "kZSTD");
}

#[test]
fn live_options_follow_a_change() {
    let store = Store::open(&options());
    let change = [("disable_auto_compactions", "false"), ("ttl", "99")];
    store.db.set_options(&change).expect("set_options");
    let cf = live_options(store.cf()).expect("options").cf;
    assert!(!cf.disable_auto_compactions);
    assert_eq!(cf.ttl, 99);
}

#[test]
fn each_column_family_has_its_own_options() {
    let mut store = Store::open(&options());
    let mut other = options();
    other.set_num_levels(9);
    store.db.create_cf("other", &other).expect("create_cf");
    let handle = store.db.cf_handle("other").expect("it exists");
    let cf = CfRef::of(handle).expect("the layout fits");
    let live = live_options(cf).expect("options").cf;
    assert_eq!((live.name.as_str(), live.num_levels), ("other", 9));
}

#[test]
fn only_level_style_passes_as_level_style() {
    assert_level_style(Store::open(&options()).cf()).expect("level style");
    let mut universal = options();
    universal.set_compaction_style(DBCompactionStyle::Universal);
    let store = Store::open(&universal);
    let error = assert_level_style(store.cf()).expect_err("universal style");
    let text = error.to_string();
    assert!(text.contains("default") && text.contains("kCompactionStyleUniversal"));
}

#[test]
fn the_options_file_says_the_same_without_opening() {
    let Store { db, directory } = Store::open(&unusual());
    let live = live_options(CfRef::default_of(&db).expect("the layout fits")).expect("options");
    drop(db);
    let loaded = load_latest_options(directory.path()).expect("an OPTIONS file");
    assert!(loaded.file_name.starts_with("OPTIONS-"));
    assert_eq!(loaded.column_families.len(), 1);
    let family = &loaded.column_families[0];
    // A compaction filter is not in the file.
    let mut expected = live.cf;
    // A running column family lists the database's own directory, a file does not.
    expected.cf_paths = family.options.cf_paths;
    expected
        .compaction_filter
        .clone_from(&family.options.compaction_filter);
    assert_eq!(family.options, expected);
    assert!(
        family
            .unknown
            .contains(&"merge_operator=my.concatenation".to_owned()),
        "{:?}",
        family.unknown
    );
    assert_eq!(loaded.db.max_background_jobs, 3);
}

#[test]
fn a_foreign_comparator_is_named_and_not_taken_for_the_default() {
    let mut foreign = options();
    foreign.set_comparator(
        "my.order",
        Box::new(|a, b| a.len().cmp(&b.len()).then(a.cmp(b))),
    );
    foreign.create_missing_column_families(true);
    let directory = tempfile::TempDir::new().expect("a temporary directory");
    let families = [
        rust_rocksdb::ColumnFamilyDescriptor::new("default", options()),
        rust_rocksdb::ColumnFamilyDescriptor::new("b", foreign.clone()),
    ];
    drop(DB::open_cf_descriptors(&foreign, directory.path(), families).expect("open"));
    let loaded = load_latest_options(directory.path()).expect("an OPTIONS file");
    let names: Vec<_> = loaded
        .column_families
        .iter()
        .map(|family| (&family.options.name[..], &family.options.comparator[..]))
        .collect();
    assert_eq!(
        names,
        [("default", "leveldb.BytewiseComparator"), ("b", "my.order")]
    );
    assert!(loaded.column_families[0].unknown.is_empty());
    assert_eq!(loaded.column_families[1].unknown, ["comparator=my.order"]);
}

#[test]
fn unknown_options_are_passed_over() {
    let Store { db, directory } = Store::open(&options());
    drop(db);
    let before = load_latest_options(directory.path()).expect("an OPTIONS file");
    let file = directory.path().join(&before.file_name);
    let text = std::fs::read_to_string(&file).expect("a text file");
    let newer = text
        .replace("rocksdb_version=11.", "rocksdb_version=12.")
        .replace(
            "  num_levels=",
            "  an_option_of_the_future=7\n  num_levels=",
        );
    assert_ne!(text, newer);
    std::fs::write(&file, newer).expect("write");
    assert_eq!(load_latest_options(directory.path()), Ok(before));
}

#[test]
fn a_directory_that_is_no_database_is_an_error() {
    let directory = tempfile::TempDir::new().expect("a temporary directory");
    let error = load_latest_options(directory.path()).expect_err("no OPTIONS file");
    assert!(
        error.to_string().contains("no readable OPTIONS file in"),
        "{error}"
    );
    std::fs::write(directory.path().join("OPTIONS-000005"), "[nonsense").expect("write");
    assert!(load_latest_options(directory.path()).is_err());
    assert!(load_latest_options(&directory.path().join("absent")).is_err());
}
