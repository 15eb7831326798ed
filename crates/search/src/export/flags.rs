//! Flags of `db_bench`, whose names are RocksDB's but for some; of any other program
//! as its space names them.
//!
//! From tools/db_bench_tool.cc of RocksDB 7.8 and later, which agree on these.

use super::Export;
use super::filter::Filter;
use super::settings::{Differing, Settings};
use crate::error::Result;

const WHY: &str = "db_bench has no flag for it";

const DIFFERING: [Differing; 5] = [
    Differing {
        name: "level_compaction_dynamic_level_bytes",
        key: "--level_compaction_dynamic_level_bytes",
        rocksdb: "true",
        own: "false",
    },
    Differing {
        name: "compression",
        key: "--compression_type",
        rocksdb: "lz4",
        own: "snappy",
    },
    Differing {
        name: "enable_pipelined_write",
        key: "--enable_pipelined_write",
        rocksdb: "false",
        own: "true",
    },
    // 0 is the rate of a rate limiter, or 16 MiB a second.
    Differing {
        name: "delayed_write_rate",
        key: "--delayed_write_rate",
        rocksdb: "0",
        own: "8388608",
    },
    Differing {
        name: "hard_pending_compaction_bytes_limit",
        key: "--hard_pending_compaction_bytes_limit",
        rocksdb: "274877906944",
        own: "137438953472",
    },
];

/// Flags with the option's own name.
const SAME: [&str; 38] = [
    "allow_concurrent_memtable_write",
    "arena_block_size",
    "block_restart_interval",
    "block_size",
    "bytes_per_sync",
    "cache_index_and_filter_blocks",
    "cache_size",
    "compaction_readahead_size",
    "db_write_buffer_size",
    "delayed_write_rate",
    "disable_auto_compactions",
    "enable_pipelined_write",
    "format_version",
    "hard_pending_compaction_bytes_limit",
    "level0_file_num_compaction_trigger",
    "level0_slowdown_writes_trigger",
    "level0_stop_writes_trigger",
    "level_compaction_dynamic_level_bytes",
    "max_background_compactions",
    "max_background_flushes",
    "max_background_jobs",
    "max_bytes_for_level_base",
    "max_bytes_for_level_multiplier",
    "max_compaction_bytes",
    "max_write_buffer_number",
    "memtable_whole_key_filtering",
    "min_write_buffer_number_to_merge",
    "num_levels",
    "optimize_filters_for_hits",
    "optimize_filters_for_memory",
    "pin_l0_filter_and_index_blocks_in_cache",
    "rate_limiter_bytes_per_sec",
    "soft_pending_compaction_bytes_limit",
    "target_file_size_base",
    "target_file_size_multiplier",
    "use_direct_io_for_flush_and_compaction",
    "use_direct_reads",
    "write_buffer_size",
];

/// Flags with a name of their own, and the same values.
const RENAMED: [(&str, &str); 5] = [
    ("block_cache", "cache_size"),
    ("max_subcompactions", "subcompactions"),
    (
        "memtable_prefix_bloom_size_ratio",
        "memtable_bloom_size_ratio",
    ),
    ("max_open_files", "open_files"),
    ("ttl", "ttl_seconds"),
];

/// Of these a flag of 0 means RocksDB's default.
const UNIVERSAL: [&str; 4] = [
    "size_ratio",
    "min_merge_width",
    "max_merge_width",
    "max_size_amplification_percent",
];

const STYLES: [(&str, &str); 3] = [
    ("kCompactionStyleLevel", "0"),
    ("kCompactionStyleUniversal", "1"),
    ("kCompactionStyleFIFO", "2"),
];

const PRIORITIES: [(&str, &str); 5] = [
    ("kByCompensatedSize", "0"),
    ("kOldestLargestSeqFirst", "1"),
    ("kOldestSmallestSeqFirst", "2"),
    ("kMinOverlappingRatio", "3"),
    ("kRoundRobin", "4"),
];

const COMPRESSIONS: [(&str, &str); 7] = [
    ("kNoCompression", "none"),
    ("kSnappyCompression", "snappy"),
    ("kZlibCompression", "zlib"),
    ("kBZip2Compression", "bzip2"),
    ("kLZ4Compression", "lz4"),
    ("kLZ4HCCompression", "lz4hc"),
    ("kZSTD", "zstd"),
];

/// `--name=value`, one a line, sorted. Comments may stand before: gflags passes over them.
pub(super) fn write(mut settings: Settings<'_>) -> Result<Export> {
    settings.note_unset(&DIFFERING, "db_bench");
    let mut lines = filter_flags(&mut settings)?;
    lines.extend(word_flags(&mut settings));
    lines.extend(universal_flags(&mut settings));
    for (option, flag) in SAME.into_iter().map(|name| (name, name)).chain(RENAMED) {
        lines.extend(settings.text(option).map(|value| line(flag, value)));
    }
    lines.sort_unstable();
    Ok(settings.export(lines.concat(), WHY))
}

/// All settings by their own names: for a program with a space of its own.
pub(super) fn by_name(mut settings: Settings<'_>) -> Export {
    let all = settings.take_where(|_| true);
    let lines = all.iter().map(|(it, setting)| line(&it.name, setting));
    let text = lines.collect();
    settings.export(text, WHY)
}

fn line(flag: &str, value: impl std::fmt::Display) -> String {
    format!("--{flag}={value}\n")
}

/// `bloom_bits` is a whole number, and Ribbon filters have no level to begin at.
fn filter_flags(settings: &mut Settings<'_>) -> Result<Vec<String>> {
    let Some(filter) = Filter::take(settings)? else {
        return Ok(Vec::new());
    };
    let bits = filter.bits().round();
    if bits != filter.bits() {
        settings.remark(format!(
            "{}: db_bench takes whole bits, so it gets {bits}",
            filter.words()
        ));
    }
    let mut ribbon = false;
    if let Filter::Ribbon { before, .. } = filter {
        ribbon = true;
        if before != 0.0 {
            settings.remark(format!(
                "{}: db_bench has no flag for the level, and begins Ribbon filters at level 0",
                filter.words()
            ));
        }
    }
    Ok(vec![
        line("bloom_bits", bits),
        line("use_ribbon_filter", ribbon),
    ])
}

/// Words of RocksDB that are numbers or other words here.
fn word_flags(settings: &mut Settings<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for (option, flag, words) in [
        ("compaction_style", "compaction_style", &STYLES[..]),
        ("compaction_pri", "compaction_pri", &PRIORITIES[..]),
        ("compression", "compression_type", &COMPRESSIONS[..]),
        (
            "data_block_index_type",
            "use_data_block_hash_index",
            &[
                ("kDataBlockBinarySearch", "false"),
                ("kDataBlockBinaryAndHash", "true"),
            ][..],
        ),
    ] {
        lines.extend(settings.word(option, words).map(|it| line(flag, it)));
    }
    // What db_bench does without a flag.
    let as_elsewhere = [("kDisableCompressionOption", "")];
    settings.word("bottommost_compression", &as_elsewhere);
    lines
}

fn universal_flags(settings: &mut Settings<'_>) -> Vec<String> {
    let flags = UNIVERSAL.iter().filter_map(|member| {
        let option = format!("compaction_options_universal.{member}");
        let value = settings.number_if(&option, |number| number != 0.0)?;
        Some(line(&format!("universal_{member}"), value))
    });
    flags.collect()
}
