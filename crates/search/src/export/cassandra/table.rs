//! The part for the table.

use super::super::filter::Filter;
use super::super::settings::Settings;
use super::super::sizes::whole_mib;

/// Cassandra refuses a `bloom_filter_fp_chance` of less than 6.71e-5, which is what 20
/// bits give (its BloomCalculations).
const LEAST_CHANCE: f64 = 0.0001;

const COMPRESSORS: [(&str, &str); 5] = [
    ("kNoCompression", ""),
    ("kSnappyCompression", "SnappyCompressor"),
    ("kZlibCompression", "DeflateCompressor"),
    ("kLZ4Compression", "LZ4Compressor"),
    ("kZSTD", "ZstdCompressor"),
];

/// Cassandra's own default.
const COMPRESSOR: &str = "LZ4Compressor";

const STYLES: [(&str, &str); 2] = [
    ("kCompactionStyleLevel", "leveled"),
    ("kCompactionStyleUniversal", "universal"),
];

/// An `ALTER TABLE`. Each map replaces the one that was there, so both are whole.
pub(super) fn statement(settings: &mut Settings<'_>, filter: Option<Filter>) -> String {
    let (compaction, comment) = compaction(settings);
    let parts: Vec<String> = [
        Some(compaction),
        compression(settings),
        chance(settings, filter),
    ]
    .into_iter()
    .flatten()
    .collect();
    let parts = parts.join("\n    AND ");
    format!("{comment}ALTER TABLE keyspace_name.table_name WITH\n    {parts};\n")
}

/// The map, and what stands above the statement. Where the space does not choose a
/// style, it is RocksDB's default, leveled.
fn compaction(settings: &mut Settings<'_>) -> (String, String) {
    match settings.word("compaction_style", &STYLES).as_deref() {
        Some("universal") => tiered(settings),
        _ => (leveled(settings), String::new()),
    }
}

fn leveled(settings: &mut Settings<'_>) -> String {
    let mut map = "compaction = {'class': 'LeveledCompactionStrategy'".to_owned();
    if let Some(bytes) = settings.number("target_file_size_base") {
        map += &format!(", 'sstable_size_in_mb': {}", whole_mib(bytes));
    }
    let whole = |number: f64| number.fract() == 0.0;
    if let Some(ratio) = settings.number_if("max_bytes_for_level_multiplier", whole) {
        map += &format!(", 'fanout_size': {ratio}");
    }
    map + "}"
}

/// Cassandra 4.1 has no unified strategy, so the older one is written and the other
/// one stands in a comment.
fn tiered(settings: &mut Settings<'_>) -> (String, String) {
    let least = |number: f64| number >= 2.0;
    let trigger = settings.number_if("level0_file_num_compaction_trigger", least);
    let Some(trigger) = trigger else {
        let map = "compaction = {'class': 'SizeTieredCompactionStrategy'}";
        return (map.to_owned(), String::new());
    };
    let map = format!(
        "compaction = {{'class': 'SizeTieredCompactionStrategy', 'min_threshold': {trigger}, \
         'max_threshold': {}}}",
        trigger.max(32.0)
    );
    let comment = format!(
        "-- Cassandra 5.0: compaction = {{'class': 'UnifiedCompactionStrategy', \
         'scaling_parameters': 'T{trigger}'}}\n"
    );
    (map, comment)
}

/// A chunk is what a read decompresses: RocksDB's block. It is a power of two of KiB.
fn compression(settings: &mut Settings<'_>) -> Option<String> {
    let compressor = settings.word("compression", &COMPRESSORS);
    settings.word(
        "bottommost_compression",
        &[("kDisableCompressionOption", "")],
    );
    if compressor.as_deref() == Some("") {
        return Some("compression = {'enabled': 'false'}".to_owned());
    }
    let bytes = settings.number("block_size");
    if compressor.is_none() && bytes.is_none() {
        return None;
    }
    let class = compressor.unwrap_or_else(|| COMPRESSOR.to_owned());
    let chunk = bytes.map_or_else(String::new, |bytes| chunk_length(settings, bytes));
    Some(format!("compression = {{'class': '{class}'{chunk}}}"))
}

fn chunk_length(settings: &mut Settings<'_>, bytes: f64) -> String {
    let kib = (bytes / 1024.0).max(1.0);
    let chunk = kib.log2().round().exp2();
    if chunk * 1024.0 != bytes {
        settings.remark(format!(
            "block_size = {bytes}: chunks are powers of two of KiB, so it is {chunk} KiB"
        ));
    }
    format!(", 'chunk_length_in_kb': {chunk}")
}

/// The rate of a Bloom filter of so many bits, e^(-bits ln(2)^2); 1 is no filter.
fn chance(settings: &mut Settings<'_>, filter: Option<Filter>) -> Option<String> {
    let filter = filter?;
    if filter == Filter::None {
        return Some("bloom_filter_fp_chance = 1.0".to_owned());
    }
    if let Filter::Ribbon { .. } = filter {
        settings.remark(format!(
            "{}: Cassandra has Bloom filters only, so it gets those of the same rate",
            filter.words()
        ));
    }
    let ln2 = std::f64::consts::LN_2;
    let rate = (-filter.bits() * ln2 * ln2).exp();
    if rate < LEAST_CHANCE {
        settings.remark(format!(
            "{}: Cassandra's filters go down to {LEAST_CHANCE}, which is written",
            filter.words()
        ));
    }
    Some(format!(
        "bloom_filter_fp_chance = {:.4}",
        rate.max(LEAST_CHANCE)
    ))
}
