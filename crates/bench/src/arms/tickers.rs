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
        data_blocks_read: tickers.get("rocksdb.block.cache.data.add").copied(),
        filter_hits: count("rocksdb.bloom.filter.useful"),
        ..Counters::default()
    }
}

/// A line of the form `NAME COUNT : NUMBER`; histograms have another form.
fn ticker(line: &str) -> Option<(&str, u64)> {
    let (name, number) = line.split_once(" COUNT : ")?;
    Some((name.trim(), number.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_name_and_histograms_passed_by() {
        let text = "rocksdb.block.cache.miss COUNT : 17\n\
                    rocksdb.block.cache.data.add COUNT : 5\n\
                    rocksdb.db.get.micros P50 : 1.0 P95 : 2.0 COUNT : 9 SUM : 12\n\
                    rocksdb.flush.write.bytes COUNT : 4096\n";
        let counters = parse(text);
        assert_eq!((counters.block_reads, counters.flushed_bytes), (17, 4096));
        assert_eq!(counters.data_blocks_read, Some(5));
        assert_eq!(parse("").data_blocks_read, None, "not counted is not 0");
    }
}
