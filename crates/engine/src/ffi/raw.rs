//! The C interface, as `plugin/include/lissom_plugin.h` declares it.

use std::ffi::{c_char, c_int, c_void};

use rust_rocksdb::ffi_raw::{
    rocksdb_column_family_handle_t, rocksdb_ingestexternalfileoptions_t, rocksdb_options_t,
    rocksdb_t,
};

pub type Message = *mut c_char;

#[repr(C)]
pub struct Buffer {
    pub data: *mut u8,
    pub size: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Target {
    pub db: *mut rocksdb_t,
    pub cf: *mut rocksdb_column_family_handle_t,
}

macro_rules! opaque {
    ($($name:ident),+) => {$(
        #[repr(C)]
        pub struct $name {
            _opaque: [u8; 0],
        }
    )+};
}

opaque!(
    LevelBloom,
    GuardTable,
    CommitGate,
    Ingestion,
    RateLimiter,
    Deletions,
    Statistics,
    DirectoryLock
);

unsafe extern "C" {
    pub fn lissom_free(memory: *mut c_void);

    pub fn lissom_check_layout(options: *mut rocksdb_options_t, write_buffer_size: u64) -> Message;
    pub fn lissom_names(target: Target, out: *mut Buffer) -> Message;

    pub fn lissom_level_bloom_new(
        bits: *const f64,
        count: usize,
        out: *mut *mut LevelBloom,
    ) -> Message;
    pub fn lissom_level_bloom_free(bloom: *mut LevelBloom);
    pub fn lissom_level_bloom_set(bloom: *const LevelBloom, level: usize, bits: f64) -> Message;
    pub fn lissom_level_bloom_get(bloom: *const LevelBloom, level: usize) -> f64;
    pub fn lissom_level_bloom_id(bloom: *const LevelBloom, out: *mut Buffer) -> Message;
    pub fn lissom_level_bloom_install(
        bloom: *const LevelBloom,
        options: *mut rocksdb_options_t,
    ) -> Message;

    pub fn lissom_guard_table_new(levels: usize, out: *mut *mut GuardTable) -> Message;
    pub fn lissom_guard_table_free(table: *mut GuardTable);
    pub fn lissom_guard_table_set(
        table: *const GuardTable,
        first: usize,
        last: usize,
        bytes: *const u8,
        ends: *const usize,
        count: usize,
    ) -> Message;
    pub fn lissom_guard_table_count(table: *const GuardTable, level: usize) -> usize;
    pub fn lissom_guard_table_install(
        table: *const GuardTable,
        options: *mut rocksdb_options_t,
    ) -> Message;
    pub fn lissom_guard_table_is_used(
        table: *const GuardTable,
        target: Target,
        is_used: *mut c_int,
    ) -> Message;

    pub fn lissom_tree_snapshot(target: Target, out: *mut Buffer) -> Message;
    pub fn lissom_table_properties(target: Target, out: *mut Buffer) -> Message;
    pub fn lissom_table_properties_at(
        target: Target,
        bytes: *const u8,
        ends: *const usize,
        count: usize,
        out: *mut Buffer,
    ) -> Message;

    pub fn lissom_abort_compactions(target: Target) -> Message;
    pub fn lissom_resume_compactions(target: Target) -> Message;
    pub fn lissom_release_reserved_space(target: Target, bytes: u64) -> Message;

    pub fn lissom_commit_gate_new(longest_hold_millis: u64, out: *mut *mut CommitGate) -> Message;
    pub fn lissom_commit_gate_free(gate: *mut CommitGate);
    pub fn lissom_commit_gate_install(
        gate: *const CommitGate,
        options: *mut rocksdb_options_t,
    ) -> Message;
    pub fn lissom_commit_gate_close(
        gate: *const CommitGate,
        family: *const c_char,
        family_size: usize,
    ) -> Message;
    pub fn lissom_commit_gate_open(
        gate: *const CommitGate,
        family: *const c_char,
        family_size: usize,
    ) -> Message;

    pub fn lissom_spare_flush_threads(options: *mut rocksdb_options_t, spare: u32) -> Message;

    pub fn lissom_ingestion_prepare(
        target: Target,
        options: *mut rocksdb_ingestexternalfileoptions_t,
        paths: *const *const c_char,
        count: usize,
        out: *mut *mut Ingestion,
    ) -> Message;
    pub fn lissom_ingestion_commit(ingestion: *mut Ingestion) -> Message;
    pub fn lissom_ingestion_free(ingestion: *mut Ingestion);

    pub fn lissom_perf_begin() -> c_int;
    pub fn lissom_perf_read(
        totals: *mut super::perf::Totals,
        rows: *mut super::perf::LevelCounts,
        capacity: usize,
    ) -> usize;
    pub fn lissom_perf_end();

    pub fn lissom_rate_limiter_new(bytes_per_second: i64, out: *mut *mut RateLimiter) -> Message;
    pub fn lissom_rate_limiter_free(limiter: *mut RateLimiter);
    pub fn lissom_rate_limiter_set(limiter: *const RateLimiter, bytes_per_second: i64) -> Message;
    pub fn lissom_rate_limiter_get(limiter: *const RateLimiter) -> i64;
    pub fn lissom_rate_limiter_total(limiter: *const RateLimiter) -> i64;
    pub fn lissom_rate_limiter_install(
        limiter: *const RateLimiter,
        options: *mut rocksdb_options_t,
    ) -> Message;

    pub fn lissom_deletions_new(bytes_per_second: i64, out: *mut *mut Deletions) -> Message;
    pub fn lissom_deletions_free(deletions: *mut Deletions);
    pub fn lissom_deletions_install(
        deletions: *const Deletions,
        options: *mut rocksdb_options_t,
    ) -> Message;

    pub fn lissom_live_options(target: Target, out: *mut Buffer) -> Message;
    pub fn lissom_read_options(options: *mut rocksdb_options_t, out: *mut Buffer) -> Message;
    pub fn lissom_load_latest_options(
        path: *const c_char,
        path_size: usize,
        out: *mut Buffer,
    ) -> Message;

    pub fn lissom_change_options(
        options: *mut rocksdb_options_t,
        db: *const c_char,
        db_size: usize,
        cf: *const c_char,
        cf_size: usize,
        table: *const c_char,
        table_size: usize,
    ) -> Message;
    pub fn lissom_options_text(options: *mut rocksdb_options_t, out: *mut Buffer) -> Message;
    pub fn lissom_live_options_text(target: Target, out: *mut Buffer) -> Message;

    pub fn lissom_directory_lock_new(
        path: *const c_char,
        path_size: usize,
        out: *mut *mut DirectoryLock,
    ) -> Message;
    pub fn lissom_directory_lock_free(lock: *mut DirectoryLock);

    pub fn lissom_read_piece(
        target: Target,
        after: *const c_char,
        after_size: usize,
        has_after: c_int,
        max_bytes: u64,
        out: *mut Buffer,
    ) -> Message;
    pub fn lissom_write_piece(target: Target, piece: *const u8, size: usize) -> Message;

    pub fn lissom_statistics_new(target: Target, out: *mut *mut Statistics) -> Message;
    pub fn lissom_statistics_free(statistics: *mut Statistics);
    pub fn lissom_statistics_level(statistics: *const Statistics) -> c_int;
    pub fn lissom_statistics_ticker(
        statistics: *const Statistics,
        ticker: u32,
        out: *mut u64,
    ) -> Message;
    pub fn lissom_statistics_histogram(
        statistics: *const Statistics,
        histogram: u32,
        out: *mut super::statistics::Summary,
    ) -> Message;
}
