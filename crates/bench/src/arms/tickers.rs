//! Counters out of RocksDB's statistics, in the same way for every arm. They are only
//! read, never reset.

use std::collections::HashMap;

use crate::store::Counters;

/// The counters in the text of the property `rocksdb.options-statistics`.
pub fn parse(text: &str) -> Counters {
    let tickers: HashMap<&str, u64> = text.lines().filter_map(ticker).collect();
    let count = |name: &str| tickers.get(name).copied().unwrap_or(0);
    Counters {
        flushed_bytes: count("rocksdb.flush.write.bytes"),
        compaction_read_bytes: count("rocksdb.compact.read.bytes"),
        compaction_written_bytes: count("rocksdb.compact.write.bytes"),
        stall_micros: count("rocksdb.stall.micros"),
        block_reads: count("rocksdb.block.cache.miss"),
        filter_hits: count("rocksdb.bloom.filter.useful"),
        ..Counters::default()
    }
}

/// A line of the form `NAME COUNT : NUMBER`; histograms have another form.
fn ticker(line: &str) -> Option<(&str, u64)> {
    let (name, number) = line.split_once(" COUNT : ")?;
    Some((name.trim(), number.trim().parse().ok()?))
}
