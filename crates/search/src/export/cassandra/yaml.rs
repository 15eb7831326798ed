//! The part for `cassandra.yaml`.

use super::super::settings::Settings;
use super::super::sizes::whole_mib;

/// Bytes that Cassandra keeps of `file_cache_size` for pooled buffers, in MiB.
const POOLED_MIB: f64 = 32.0;

pub(super) fn lines(settings: &mut Settings<'_>) -> String {
    memtables(settings) + &cache(settings) + &threads(settings) + &throughput(settings)
}

/// The space of all memtables is that of all write buffers, and a flush begins when
/// one buffer's share of it is full.
fn memtables(settings: &mut Settings<'_>) -> String {
    let Some(size) = settings.number("write_buffer_size") else {
        return String::new();
    };
    let buffers = settings.number("max_write_buffer_number").unwrap_or(2.0);
    let space = whole_mib(size * buffers);
    let writers = (buffers - 1.0).max(1.0);
    format!(
        "# Either space bounds the memtables that memtable_allocation_type puts there; a flush\n\
         # begins at 1 / (memtable_flush_writers + 1) of it.\n\
         memtable_heap_space: {space}MiB\n\
         memtable_offheap_space: {space}MiB\n\
         memtable_flush_writers: {writers}\n"
    )
}

/// Of the cache, some is for pooled buffers.
fn cache(settings: &mut Settings<'_>) -> String {
    let bytes = settings
        .number("block_cache")
        .or_else(|| settings.number("cache_size"));
    match bytes {
        None => String::new(),
        Some(bytes) => format!(
            "file_cache_enabled: true\nfile_cache_size: {}MiB\n",
            whole_mib(bytes) + POOLED_MIB
        ),
    }
}

/// Flushes take a quarter of RocksDB's background jobs, compactions the rest.
fn threads(settings: &mut Settings<'_>) -> String {
    let compactors = settings.number("max_background_compactions").or_else(|| {
        let jobs = settings.number("max_background_jobs")?;
        Some(jobs - (jobs / 4.0).floor().max(1.0))
    });
    match compactors {
        None => String::new(),
        Some(count) => format!("concurrent_compactors: {}\n", count.max(1.0)),
    }
}

fn throughput(settings: &mut Settings<'_>) -> String {
    match settings.number("rate_limiter_bytes_per_sec") {
        None => String::new(),
        // Without a limit RocksDB has 0 here, and so has Cassandra.
        Some(0.0) => "compaction_throughput: 0MiB/s\n".to_owned(),
        Some(bytes) => format!("compaction_throughput: {}MiB/s\n", whole_mib(bytes)),
    }
}
