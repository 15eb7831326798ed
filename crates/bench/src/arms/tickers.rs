//! Counters out of RocksDB's statistics. They are only read, never reset.

use rust_rocksdb::Options;
use rust_rocksdb::statistics::Ticker;

use crate::store::Counters;

/// Reads the tickers of the options that a database was opened with.
pub fn read(options: &Options) -> Counters {
    from_tickers(&|ticker| options.get_ticker_count(ticker))
}

fn from_tickers(count: &dyn Fn(Ticker) -> u64) -> Counters {
    Counters {
        flushed_bytes: count(Ticker::FlushWriteBytes),
        compaction_read_bytes: count(Ticker::CompactReadBytes),
        compaction_written_bytes: count(Ticker::CompactWriteBytes),
        stall_micros: count(Ticker::StallMicros),
        block_reads: count(Ticker::BlockCacheMiss),
        filter_hits: count(Ticker::BloomFilterUseful),
        ..Counters::default()
    }
}
