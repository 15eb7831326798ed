//! Keys of Flink's RocksDB state backend, from its `RocksDBConfigurableOptions` and
//! `RocksDBOptions` (1.19.1 to 2.x). Table 6 of Dremel, brought up to date: its compaction
//! trigger is a key of HBase and has none here.

use super::filter::Filter;
use super::settings::{Differing, Settings};
use super::{Export, sizes};
use crate::error::Result;

const WHY: &str = "Flink has no key for it; set it in a RocksDBOptionsFactory, which \
                   state.backend.rocksdb.options-factory names";

const HEADING: &str = "\
# For config.yaml of Flink 1.19.1 to 2.x. Write buffers and cache are those of each state of
# each slot; without managed memory nothing bounds their sum.
";

const DIFFERING: [Differing; 2] = [
    Differing {
        name: "level_compaction_dynamic_level_bytes",
        key: "state.backend.rocksdb.compaction.level.use-dynamic-size",
        rocksdb: "true",
        own: "false",
    },
    Differing {
        name: "compression",
        key: "state.backend.rocksdb.compression.per.level",
        rocksdb: "LZ4_COMPRESSION",
        own: "SNAPPY_COMPRESSION",
    },
];

/// Sizes in bytes.
const SIZES: [(&str, &str); 6] = [
    (
        "target_file_size_base",
        "compaction.level.target-file-size-base",
    ),
    (
        "max_bytes_for_level_base",
        "compaction.level.max-size-level-base",
    ),
    ("write_buffer_size", "writebuffer.size"),
    ("block_size", "block.blocksize"),
    ("block_cache", "block.cache-size"),
    ("cache_size", "block.cache-size"),
];

/// Everything else that keeps its value.
const PLAIN: [(&str, &str); 4] = [
    (
        "level_compaction_dynamic_level_bytes",
        "compaction.level.use-dynamic-size",
    ),
    ("max_write_buffer_number", "writebuffer.count"),
    (
        "min_write_buffer_number_to_merge",
        "writebuffer.number-to-merge",
    ),
    ("max_open_files", "files.open"),
];

/// As RocksDB's Java enumerations spell them.
const STYLES: [(&str, &str); 4] = [
    ("kCompactionStyleLevel", "LEVEL"),
    ("kCompactionStyleUniversal", "UNIVERSAL"),
    ("kCompactionStyleFIFO", "FIFO"),
    ("kCompactionStyleNone", "NONE"),
];

const COMPRESSIONS: [(&str, &str); 4] = [
    ("kNoCompression", "NO_COMPRESSION"),
    ("kSnappyCompression", "SNAPPY_COMPRESSION"),
    ("kLZ4Compression", "LZ4_COMPRESSION"),
    ("kZSTD", "ZSTD_COMPRESSION"),
];

/// `key: value`, one a line.
pub(super) fn write(mut settings: Settings<'_>) -> Result<Export> {
    settings.note_unset(&DIFFERING, "Flink");
    let mut text = HEADING.to_owned();
    // Managed memory would choose write buffers and cache itself.
    text += &line("memory.managed", false);
    if let Some(style) = settings.word("compaction_style", &STYLES) {
        text += &line("compaction.style", style);
    }
    if let Some(compression) = settings.word("compression", &COMPRESSIONS) {
        // One entry holds for all levels. Flink 1.19.0 cannot read its own key (FLINK-35537).
        text += &line("compression.per.level", compression);
    }
    settings.word(
        "bottommost_compression",
        &[("kDisableCompressionOption", "")],
    );
    for (option, key) in SIZES {
        if let Some(bytes) = settings.number(option) {
            text += &line(key, sizes::flink(bytes));
        }
    }
    for (option, key) in PLAIN {
        if let Some(value) = settings.text(option) {
            text += &line(key, value);
        }
    }
    text += &filter_lines(&mut settings)?;
    if let Some(threads) = threads(&mut settings) {
        text += &line("thread.num", threads);
    }
    Ok(settings.export(text, WHY))
}

fn line(key: &str, value: impl std::fmt::Display) -> String {
    format!("state.backend.rocksdb.{key}: {value}\n")
}

fn filter_lines(settings: &mut Settings<'_>) -> Result<String> {
    let Some(filter) = Filter::take(settings)? else {
        return Ok(String::new());
    };
    if filter == Filter::None {
        return Ok(line("use-bloom-filter", false));
    }
    if let Filter::Ribbon { .. } = filter {
        settings.remark(format!(
            "{}: Flink's keys know Bloom filters only, so it gets those of the same rate",
            filter.words()
        ));
    }
    let bits = filter.bits();
    Ok(line("use-bloom-filter", true) + &line("bloom-filter.bits-per-key", bits))
}

/// Flushes and compactions at once: one number, or the two of older RocksDB.
fn threads(settings: &mut Settings<'_>) -> Option<f64> {
    if let Some(jobs) = settings.number("max_background_jobs") {
        return Some(jobs);
    }
    let compactions = settings.number("max_background_compactions")?;
    // RocksDB flushes with one thread where nothing is said.
    let flushes = settings.number("max_background_flushes").unwrap_or(1.0);
    Some(compactions + flushes)
}
