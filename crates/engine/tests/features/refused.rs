//! What is refused at open, each with its sentence.

use std::ffi::CStr;

use lissom::{Db, ErrorKind};
use rust_rocksdb::{
    BlockBasedOptions, CompactionService, CompactionServiceJobInfo, CompactionServiceJobStatus,
    DBCompactionStyle, DBCompressionType, DBPath, Env, KeyEncodingType, Options,
    PlainTableFactoryOptions, ScheduleResponse, SstPartitionerFactory,
};

use super::store::settings;
use super::table::says;

/// A new store customised so is refused with this sentence, as the table quotes it, before
/// anything is written.
fn refused(words: &str, change: impl Fn(&mut Options) + Send + Sync + 'static) {
    let directory = tempfile::tempdir().expect("a directory");
    let error = Db::opening(directory.path(), settings("fixed-1"))
        .customise(move |_, options| change(options))
        .open()
        .err()
        .unwrap_or_else(|| panic!("{words}"));
    assert_eq!(error.kind(), ErrorKind::Fix);
    let error = error.to_string();
    assert!(
        error.contains("the column family \"default\" cannot be driven: "),
        "{error}"
    );
    assert!(says(&error, words), "{error}");
    let left = std::fs::read_dir(directory.path())
        .expect("readable")
        .count();
    assert_eq!(left, 0, "something was written: {error}");
}

#[test]
fn other_orders_of_keys() {
    refused(
        "its comparator is mine; guard keys and ranges need RocksDB's bytewise order, so store keys \
         in a form that sorts bytewise",
        |options| {
            options.set_comparator("mine", Box::new(|a, b| b.cmp(a)));
        },
    );
}

#[test]
fn user_timestamps() {
    refused(
        "its keys carry user timestamps, which order versions of one key; store the time in the \
         key or open it with RocksDB alone",
        |options| {
            options.set_comparator_with_ts(
                "stamped",
                8,
                Box::new(|a, b| a.cmp(b)),
                Box::new(|a, b| a.cmp(b)),
                Box::new(|a, _, b, _| a.cmp(b)),
            );
        },
    );
}

#[test]
fn ages() {
    refused("its ttl is 60 s; set it to 0", |options| {
        options.set_ttl(60)
    });
    refused(
        "periodic_compaction_seconds is 60; set it to 0",
        |options| {
            options.set_periodic_compaction_seconds(60);
        },
    );
}

#[test]
fn the_last_level() {
    refused(
        "preclude_last_level_data_seconds is set, which knows RocksDB's last level only; set it \
         to 0",
        |options| options.set_preclude_last_level_data_seconds(60),
    );
    refused(
        "last_level_temperature is set, which is for RocksDB's last level only; Lissom's oldest \
         run lies above it, so leave it kUnknown",
        |options| options.set_last_level_temperature(0x0c),
    );
    let words = "ingest-behind keeps RocksDB's last level free for older data, which Lissom \
                 uses; turn it off";
    refused(words, |options| options.set_allow_ingest_behind(true));
    refused(words, |options| options.set_cf_allow_ingest_behind(true));
}

#[test]
fn other_compaction_styles() {
    for (style, name) in [
        (DBCompactionStyle::Universal, "kCompactionStyleUniversal"),
        (DBCompactionStyle::Fifo, "kCompactionStyleFIFO"),
    ] {
        let words = format!("it was opened with {name}; open it with kCompactionStyleLevel");
        refused(&words, move |options| options.set_compaction_style(style));
    }
}

#[test]
fn other_table_formats() {
    refused(
        "its table factory is PlainTable; per-level filters need a BlockBasedTable",
        |options| {
            options.set_plain_table_factory(&PlainTableFactoryOptions {
                user_key_length: 0,
                bloom_bits_per_key: 10,
                hash_table_ratio: 0.75,
                index_sparseness: 16,
                huge_page_tlb_size: 0,
                encoding_type: KeyEncodingType::Plain,
                full_scan_mode: false,
                store_index_in_file: false,
            });
        },
    );
}

#[test]
fn filters_and_partitioners_of_the_application() {
    refused(
        "its filter policy is NAME; Lissom has its own, so set none and use the setting \
         bloom_bits_per_key",
        |options| {
            let mut table = BlockBasedOptions::default();
            table.set_bloom_filter(10.0, false);
            options.set_block_based_table_factory(&table);
        },
    );
    refused(
        "its sst_partitioner_factory is NAME; Lissom cuts files at guard keys with its own, so \
         set none",
        |options| {
            let factory = SstPartitionerFactory::fixed_prefix(4);
            options.set_sst_partitioner_factory(&factory);
        },
    );
}

#[test]
fn compressions_that_count_other_levels() {
    refused(
        "its bottommost_compression is kZSTD, for which every move would be a rewrite; use the \
         setting compression, whose last entry holds for all deeper levels",
        |options| options.set_bottommost_compression_type(DBCompressionType::Zstd),
    );
    refused(
        "its compression_per_level is set, which counts RocksDB's levels; use the setting \
         compression, which counts Lissom's",
        |options| {
            options.set_compression_per_level(&[DBCompressionType::None, DBCompressionType::Zstd]);
        },
    );
}

#[test]
fn several_paths() {
    let words = "it has 2 paths, and CompactFiles cannot choose among them; give it one";
    let paths = || {
        ["/tmp/lissom-first", "/tmp/lissom-second"]
            .map(|path| DBPath::new(path, 1 << 30).expect("a path"))
    };
    refused(words, move |options| options.set_db_paths(&paths()));
    refused(words, move |options| options.set_cf_paths(&paths()));
}

struct Elsewhere;

impl CompactionService for Elsewhere {
    fn name(&self) -> &CStr {
        c"elsewhere"
    }

    fn schedule(&self, _: &CompactionServiceJobInfo<'_>, _: &[u8]) -> ScheduleResponse {
        ScheduleResponse::from_status(CompactionServiceJobStatus::UseLocal)
    }

    fn wait(&self, _: &CStr, _: &mut Vec<u8>) -> CompactionServiceJobStatus {
        CompactionServiceJobStatus::UseLocal
    }
}

#[test]
fn compaction_services() {
    refused(
        "a compaction service is set, whose workers know neither the guard keys nor the filters \
         of a level; open it without one",
        |options| options.set_compaction_service(Elsewhere),
    );
}

#[test]
fn other_environments() {
    refused(
        "its env is not the default one, and Lissom keeps its own files in the directory on \
         disk; open it without one",
        |options| options.set_env(&Env::mem_env().expect("an environment")),
    );
}
