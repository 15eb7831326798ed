//! Texts written by hand, for each format.

mod options_files;

use super::*;
use crate::space::{BuiltIn, Change, Constants, Kind, Section, Setting, SpaceFile};

fn space(which: BuiltIn) -> Space {
    let file = which.file().expect("reads");
    file.with(&Constants::new()).expect("is legal")
}

fn word(word: &str) -> Setting {
    Setting::Choice(word.to_owned())
}

/// RocksDB's defaults, but for Ribbon filters.
fn with_ribbon(space: &Space) -> Configuration {
    let mut configuration = space.default_configuration();
    configuration.set("filter_policy", word("ribbonfilter"));
    configuration.set("bits_per_key", Setting::Integer(12));
    configuration.set("bloom_before_level", Setting::Integer(1));
    configuration
}

fn exported(format: Format, which: BuiltIn) -> Export {
    let space = space(which);
    write(format, &space, &space.default_configuration()).expect("written")
}

/// The names of which the remarks speak.
fn named(export: &Export) -> Vec<&str> {
    let remarks = export.remarks.iter();
    remarks
        .filter_map(|remark| Some(remark.split_once(" = ")?.0))
        .collect()
}

#[test]
fn an_options_file_has_every_setting_in_its_section() {
    let space = space(BuiltIn::RocksDb);
    let export = write(Format::RocksDb, &space, &with_ribbon(&space)).expect("written");
    let (_, sections) = export.text.split_once("\n[").expect("a section");
    let wanted = r#"Version]
  rocksdb_version=11.12.0
  options_file_version=1.1

[DBOptions]
  max_background_jobs=2
  max_subcompactions=1
  compaction_readahead_size=2097152
  bytes_per_sync=0

[CFOptions "default"]
  compaction_style=kCompactionStyleLevel
  level_compaction_dynamic_level_bytes=true
  num_levels=7
  max_bytes_for_level_base=268435456
  max_bytes_for_level_multiplier=10
  target_file_size_base=67108864
  target_file_size_multiplier=1
  level0_file_num_compaction_trigger=4
  level0_slowdown_writes_trigger=20
  level0_stop_writes_trigger=36
  write_buffer_size=67108864
  max_write_buffer_number=2
  min_write_buffer_number_to_merge=1
  memtable_prefix_bloom_size_ratio=0
  memtable_whole_key_filtering=false
  compaction_pri=kMinOverlappingRatio
  compaction_options_universal={size_ratio=1;min_merge_width=2;max_size_amplification_percent=200;}
  compression=kLZ4Compression
  bottommost_compression=kDisableCompressionOption
  optimize_filters_for_hits=false

[TableOptions/BlockBasedTable "default"]
  block_size=4096
  data_block_index_type=kDataBlockBinarySearch
  cache_index_and_filter_blocks=false
  pin_l0_filter_and_index_blocks_in_cache=false
  filter_policy=ribbonfilter:12:1
  block_cache=33554432
"#;
    assert_eq!(sections, wanted);
    assert!(export.remarks.is_empty(), "{:?}", export.remarks);
}

#[test]
fn what_all_trials_shared_stands_beside_the_configuration() {
    let direct = |section| Parameter {
        name: "use_direct_reads".to_owned(),
        kind: Kind::Boolean,
        default: Setting::Boolean(true),
        when: None,
        change: Change::Reopen,
        section,
        unit: None,
        note: None,
        source: "a test".to_owned(),
    };
    let written = |format, which, section| {
        let (space, shared) = (space(which), [direct(section)]);
        write_with(format, &space, &space.default_configuration(), &shared).expect("written")
    };
    let options = written(Format::RocksDb, BuiltIn::RocksDb, Some(Section::Db));
    let file = OptionsFile::parse(&options.text).expect("reads");
    assert_eq!(file.get(Section::Db, "use_direct_reads"), Some("true"));
    let json = written(Format::Json, BuiltIn::Lissom, None);
    assert!(
        json.text.contains("\"use_direct_reads\": true"),
        "{}",
        json.text
    );
    let flink = written(Format::Flink, BuiltIn::RocksDb, Some(Section::Db));
    assert!(named(&flink).contains(&"use_direct_reads"), "{flink:?}");
}

#[test]
fn the_published_space_is_an_options_file_too() {
    let export = exported(Format::RocksDb, BuiltIn::Dremel);
    let file = OptionsFile::parse(&export.text).expect("reads");
    let policy = file.get(Section::Table, "filter_policy");
    assert_eq!(policy, Some("bloomfilter:10:false"));
    let cache = file.get(Section::Table, "block_cache");
    assert_eq!(cache, Some("645922816"));
    assert_eq!(
        file.get(Section::Db, "max_background_compactions"),
        Some("1")
    );
    assert!(export.remarks.is_empty(), "{:?}", export.remarks);
}

#[test]
fn json_is_one_object_in_the_order_of_the_alphabet() {
    let export = exported(Format::Json, BuiltIn::Lissom);
    let wanted = r#"{
  "bloom_bits_per_key": 10.0,
  "compaction_readahead_size": 131072,
  "compression": "lz4",
  "filters": "uniform",
  "level0_file_num_compaction_trigger": 4,
  "level0_slowdown_writes_trigger": 20,
  "level0_stop_writes_trigger": 36,
  "max_space_amplification": 3.0,
  "max_subcompactions": 1,
  "max_write_buffer_number": 2,
  "policy": "fixed-1",
  "size_ratio": 10,
  "target_file_size_base": 67108864,
  "tombstone_share": 0.5,
  "workers": 2,
  "writable_file_max_buffer_size": 131072,
  "write_buffer_size": 67108864
}
"#;
    assert_eq!(export.text, wanted);
    let space = space(BuiltIn::Lissom);
    let read: Configuration = serde_json::from_str(&export.text).expect("reads");
    assert_eq!(read, space.default_configuration());
}

#[test]
fn flags_have_the_names_of_db_bench() {
    let space = space(BuiltIn::RocksDb);
    let export = write(Format::Flags, &space, &with_ribbon(&space)).expect("written");
    let wanted = "\
--block_size=4096
--bloom_bits=12
--bytes_per_sync=0
--cache_index_and_filter_blocks=false
--cache_size=33554432
--compaction_pri=3
--compaction_readahead_size=2097152
--compaction_style=0
--compression_type=lz4
--level0_file_num_compaction_trigger=4
--level0_slowdown_writes_trigger=20
--level0_stop_writes_trigger=36
--level_compaction_dynamic_level_bytes=true
--max_background_jobs=2
--max_bytes_for_level_base=268435456
--max_bytes_for_level_multiplier=10
--max_write_buffer_number=2
--memtable_bloom_size_ratio=0
--memtable_whole_key_filtering=false
--min_write_buffer_number_to_merge=1
--num_levels=7
--optimize_filters_for_hits=false
--pin_l0_filter_and_index_blocks_in_cache=false
--subcompactions=1
--target_file_size_base=67108864
--target_file_size_multiplier=1
--universal_max_size_amplification_percent=200
--universal_min_merge_width=2
--universal_size_ratio=1
--use_data_block_hash_index=false
--use_ribbon_filter=true
--write_buffer_size=67108864
";
    assert_eq!(export.text, wanted);
    assert_eq!(
        export.remarks,
        [
            "filter_policy = ribbonfilter:12:1: db_bench has no flag for the level, and begins \
          Ribbon filters at level 0"
        ]
    );
}

#[test]
fn what_db_bench_cannot_do_is_remarked() {
    let space = space(BuiltIn::RocksDb);
    let mut configuration = space.default_configuration();
    configuration.set("bottommost_compression", word("kZSTD"));
    configuration.set("filter_policy", word("bloomfilter"));
    configuration.set("bits_per_key", Setting::Float(9.5));
    let export = write(Format::Flags, &space, &configuration).expect("written");
    assert!(export.text.contains("--bloom_bits=10\n"), "{}", export.text);
    assert_eq!(named(&export), ["filter_policy", "bottommost_compression"]);
}

#[test]
fn flink_has_keys_for_some() {
    let export = exported(Format::Flink, BuiltIn::Dremel);
    let wanted = "\
# For config.yaml of Flink 1.19.1 to 2.x. Write buffers and cache are those of each state of
# each slot; without managed memory nothing bounds their sum.
state.backend.rocksdb.memory.managed: false
state.backend.rocksdb.compaction.level.target-file-size-base: 64mb
state.backend.rocksdb.compaction.level.max-size-level-base: 256mb
state.backend.rocksdb.writebuffer.size: 64mb
state.backend.rocksdb.block.blocksize: 4kb
state.backend.rocksdb.block.cache-size: 616mb
state.backend.rocksdb.writebuffer.count: 6
state.backend.rocksdb.writebuffer.number-to-merge: 2
state.backend.rocksdb.use-bloom-filter: true
state.backend.rocksdb.bloom-filter.bits-per-key: 10
state.backend.rocksdb.thread.num: 2
";
    assert_eq!(export.text, wanted);
    let comments = "\
# The space does not set level_compaction_dynamic_level_bytes. Set \
state.backend.rocksdb.compaction.level.use-dynamic-size here to what the trials had:
# RocksDB 11.12 has true unless told otherwise, Flink false.
# The space does not set compression. Set state.backend.rocksdb.compression.per.level here to \
what the trials had:
# RocksDB 11.12 has LZ4_COMPRESSION unless told otherwise, Flink SNAPPY_COMPRESSION.
";
    assert_eq!(export.commented(), comments.to_owned() + wanted);
    assert_eq!(
        named(&export),
        [
            "level0_file_num_compaction_trigger",
            "level0_slowdown_writes_trigger",
            "level0_stop_writes_trigger",
            "max_bytes_for_level_multiplier",
            "target_file_size_multiplier",
            "num_levels",
        ]
    );
    let sentence = &export.remarks[0];
    assert!(sentence.contains("RocksDBOptionsFactory"), "{sentence}");
}

/// Where levels are of a fixed size and nothing is compressed, whatever the program's defaults.
#[test]
fn what_a_space_holds_where_it_is_stands_in_the_file() {
    let parameter = |name: &str, word: &str| {
        format!(
            "[[parameter]]\nname = \"{name}\"\nkind = \"choice\"\nvalues = [\"{word}\"]\n\
             default = \"{word}\"\nchange = \"rebuild\"\nsection = \"cf\"\nsource = \"a test\"\n"
        )
    };
    let text = "name = \"held\"\nabout = \"A test.\"\n".to_owned()
        + &parameter("level_compaction_dynamic_level_bytes", "false")
        + &parameter("compression", "kNoCompression");
    let file = SpaceFile::parse(&text).expect("reads");
    let held = file.with(&Constants::new()).expect("is legal");
    let flink = write(Format::Flink, &held, &held.default_configuration()).expect("written");
    for line in [
        "state.backend.rocksdb.compaction.level.use-dynamic-size: false\n",
        "state.backend.rocksdb.compression.per.level: NO_COMPRESSION\n",
    ] {
        assert!(flink.text.contains(line), "{}", flink.text);
    }
    assert!(flink.unset.is_empty(), "{:?}", flink.unset);
    let flags = write(Format::Flags, &held, &held.default_configuration()).expect("written");
    let wanted = "--compression_type=none\n--level_compaction_dynamic_level_bytes=false\n";
    assert_eq!(flags.text, wanted);
    assert!(flags.remarks.is_empty() && flink.remarks.is_empty());
}

#[test]
fn flags_of_the_published_space_say_what_it_does_not_set() {
    let export = exported(Format::Flags, BuiltIn::Dremel);
    let commented = export.commented();
    let comments: Vec<&str> = commented.lines().filter(|it| it.starts_with('#')).collect();
    assert_eq!(
        comments,
        [
            "# The space does not set level_compaction_dynamic_level_bytes. Set \
             --level_compaction_dynamic_level_bytes here to what the trials had:",
            "# RocksDB 11.12 has true unless told otherwise, db_bench false.",
            "# The space does not set compression. Set --compression_type here to what the trials \
             had:",
            "# RocksDB 11.12 has lz4 unless told otherwise, db_bench snappy.",
            "# The space does not set enable_pipelined_write. Set --enable_pipelined_write here to \
             what the trials had:",
            "# RocksDB 11.12 has false unless told otherwise, db_bench true.",
            "# The space does not set delayed_write_rate. Set --delayed_write_rate here to what the \
             trials had:",
            "# RocksDB 11.12 has 0 unless told otherwise, db_bench 8388608.",
            "# The space does not set hard_pending_compaction_bytes_limit. Set \
             --hard_pending_compaction_bytes_limit here to what the trials had:",
            "# RocksDB 11.12 has 274877906944 unless told otherwise, db_bench 137438953472.",
        ]
    );
    // A trial's program may split each line at its sign.
    let mut flags = export.text.lines();
    assert!(flags.all(|it| it.starts_with("--")), "{}", export.text);
    assert!(export.remarks.is_empty(), "{:?}", export.remarks);
}

#[test]
fn flink_names_styles_and_compressions_as_java_does() {
    let space = space(BuiltIn::RocksDb);
    let mut configuration = with_ribbon(&space);
    configuration.set("compaction_style", word("kCompactionStyleUniversal"));
    configuration.set("block_size", Setting::Integer(5000));
    let export = write(Format::Flink, &space, &configuration).expect("written");
    for line in [
        "compaction.style: UNIVERSAL\n",
        "compression.per.level: LZ4_COMPRESSION\n",
        "compaction.level.use-dynamic-size: true\n",
        "block.blocksize: 5000b\n",
        "bloom-filter.bits-per-key: 12\n",
    ] {
        assert!(export.text.contains(line), "{}", export.text);
    }
    assert_eq!(named(&export).first(), Some(&"filter_policy"));
}

#[test]
fn cassandra_gets_two_parts() {
    let export = exported(Format::Cassandra, BuiltIn::Dremel);
    let wanted = "\
# ---- for cassandra.yaml ----
# Either space bounds the memtables that memtable_allocation_type puts there; a flush
# begins at 1 / (memtable_flush_writers + 1) of it.
memtable_heap_space: 384MiB
memtable_offheap_space: 384MiB
memtable_flush_writers: 5
file_cache_enabled: true
file_cache_size: 648MiB
concurrent_compactors: 1

-- ---- for cqlsh, with your own names of keyspace and table ----
ALTER TABLE keyspace_name.table_name WITH
    compaction = {'class': 'LeveledCompactionStrategy', 'sstable_size_in_mb': 64, 'fanout_size': 10}
    AND compression = {'class': 'LZ4Compressor', 'chunk_length_in_kb': 4}
    AND bloom_filter_fp_chance = 0.0082;
";
    assert_eq!(export.text, wanted);
    assert_eq!(
        named(&export),
        [
            "level0_file_num_compaction_trigger",
            "level0_slowdown_writes_trigger",
            "level0_stop_writes_trigger",
            "max_bytes_for_level_base",
            "target_file_size_multiplier",
            "num_levels",
            "min_write_buffer_number_to_merge",
            "max_background_flushes",
        ]
    );
}

#[test]
fn cassandra_tiers_where_rocksdb_is_universal() {
    let space = space(BuiltIn::RocksDb);
    let mut configuration = space.default_configuration();
    configuration.set("compaction_style", word("kCompactionStyleUniversal"));
    configuration.set("compression", word("kNoCompression"));
    configuration.set("filter_policy", word("bloomfilter"));
    configuration.set("bits_per_key", Setting::Integer(20));
    let export = write(Format::Cassandra, &space, &configuration).expect("written");
    let (_, table) = export.text.split_once("cqlsh").expect("two parts");
    let (_, statement) = table.split_once('\n').expect("lines");
    let wanted = "\
-- Cassandra 5.0: compaction = {'class': 'UnifiedCompactionStrategy', 'scaling_parameters': 'T4'}
ALTER TABLE keyspace_name.table_name WITH
    compaction = {'class': 'SizeTieredCompactionStrategy', 'min_threshold': 4, 'max_threshold': 32}
    AND compression = {'enabled': 'false'}
    AND bloom_filter_fp_chance = 0.0001;
";
    assert_eq!(statement, wanted);
    let names = named(&export);
    for name in ["filter_policy", "block_size", "target_file_size_base"] {
        assert!(names.contains(&name), "{names:?}");
    }
}

#[test]
fn no_filter_is_said_in_every_format() {
    for (format, words) in [
        (Format::RocksDb, "filter_policy=nullptr\n"),
        (Format::Flags, "--bloom_bits=0\n"),
        (Format::Flink, "use-bloom-filter: false\n"),
        (Format::Cassandra, "bloom_filter_fp_chance = 1.0;\n"),
    ] {
        let export = exported(format, BuiltIn::RocksDb);
        assert!(export.text.contains(words), "{}", export.text);
    }
}

#[test]
fn formats_are_named() {
    for format in Format::ALL {
        assert_eq!(format.to_string().parse::<Format>(), Ok(format));
    }
    let error = "yaml".parse::<Format>().expect_err("no format");
    assert_eq!(
        error.to_string(),
        "\"yaml\" is no format: choose rocksdb, json, flags, flink or cassandra"
    );
}

#[test]
fn mistakes_get_a_sentence() {
    let lissom = space(BuiltIn::Lissom);
    let default = lissom.default_configuration();
    let error = write(Format::RocksDb, &lissom, &default).expect_err("no options");
    assert_eq!(
        error.to_string(),
        "no parameter of the space lissom is an option of RocksDB: write its configurations as \
         json or flags"
    );
    let flags = write(Format::Flags, &lissom, &default).expect("by their own names");
    assert!(flags.text.starts_with("--") && flags.remarks.is_empty());
    assert_eq!(flags.text.lines().count(), lissom.parameters().len());
    let rocksdb = space(BuiltIn::RocksDb);
    let error = write(Format::Flags, &rocksdb, &default).expect_err("another space");
    assert!(error.to_string().contains("has no parameter"), "{error}");
    let file = SpaceFile::parse(
        "name = \"small\"\nabout = \"A test.\"\n[[parameter]]\nname = \"filter_policy\"\n\
         kind = \"choice\"\nvalues = [\"bloomfilter\"]\ndefault = \"bloomfilter\"\n\
         change = \"reopen\"\nsection = \"table\"\nsource = \"a test\"\n",
    );
    let small = file.expect("reads").with(&Constants::new()).expect("legal");
    let error = write(Format::RocksDb, &small, &small.default_configuration());
    let sentence = error.expect_err("no bits").to_string();
    assert!(sentence.contains("bits_per_key"), "{sentence}");
}
