// The C interface between the Rust module `ffi` and the plug-in.
//
// Rules of this interface:
// - No exception crosses it. A function that can fail returns a
//   `lissom_error`: null for success, else a message to be released with
//   `lissom_free`.
// - A `lissom_buffer` is filled by the plug-in and released with
//   `lissom_free(buffer.data)`.
// - Objects whose name ends in `_new` are released with the matching `_free`.
//   Releasing one is always safe: what a database holds of it is shared.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rocksdb/c.h"

extern "C" {

typedef char* lissom_error;

struct lissom_buffer {
  uint8_t* data;
  size_t size;
};

// A column family of an open database. Either `cf` is set, or `db` is set and
// its default column family is meant. The pointers are those of RocksDB's C
// interface and outlive the call that they are passed to.
struct lissom_target {
  rocksdb_t* db;
  rocksdb_column_family_handle_t* cf;
};

void lissom_free(void* memory);

// ---- layout (handles.cc)

// Fails unless the headers of this build and the linked library are of the
// same version, and `options`, whose write_buffer_size the caller has set to
// `write_buffer_size`, reads the same from here.
lissom_error lissom_check_layout(rocksdb_options_t* options,
                                 uint64_t write_buffer_size);
// The column family's name and the database's directory, as seen from C++.
lissom_error lissom_names(lissom_target target, lissom_buffer* out);

// ---- filters (filter_policy.cc)

struct lissom_level_bloom;
// `bits[level]` for physical levels 0, 1, ...; `count` is at least 1.
lissom_error lissom_level_bloom_new(const double* bits, size_t count,
                                    lissom_level_bloom** out);
void lissom_level_bloom_free(lissom_level_bloom* bloom);
lissom_error lissom_level_bloom_set(const lissom_level_bloom* bloom,
                                    size_t level, double bits);
double lissom_level_bloom_get(const lissom_level_bloom* bloom, size_t level);
lissom_error lissom_level_bloom_id(const lissom_level_bloom* bloom,
                                   lissom_buffer* out);
lissom_error lissom_level_bloom_install(const lissom_level_bloom* bloom,
                                        rocksdb_options_t* options);

// ---- guards (partitioner.cc)

struct lissom_guard_table;
lissom_error lissom_guard_table_new(size_t levels, lissom_guard_table** out);
void lissom_guard_table_free(lissom_guard_table* table);
// Replaces the guards of physical levels first ... last-1. Guard i is
// bytes[ends[i-1] .. ends[i]], ends[-1] being 0; strictly ascending.
lissom_error lissom_guard_table_set(const lissom_guard_table* table,
                                    size_t first, size_t last,
                                    const uint8_t* bytes, const size_t* ends,
                                    size_t count);
size_t lissom_guard_table_count(const lissom_guard_table* table, size_t level);
lissom_error lissom_guard_table_install(const lissom_guard_table* table,
                                        rocksdb_options_t* options);
// Whether the column family was opened with options that this very table was
// installed in.
lissom_error lissom_guard_table_is_used(const lissom_guard_table* table,
                                        lissom_target target, int* is_used);

// ---- files (snapshot.cc, table_properties.cc)

lissom_error lissom_tree_snapshot(lissom_target target, lissom_buffer* out);
lissom_error lissom_table_properties(lissom_target target, lissom_buffer* out);
// Of the files alone whose key ranges hold one of the keys. Key i is
// bytes[ends[i-1] .. ends[i]], ends[-1] being 0.
lissom_error lissom_table_properties_at(lissom_target target,
                                        const uint8_t* bytes,
                                        const size_t* ends, size_t count,
                                        lissom_buffer* out);

// ---- compactions (compaction_control.cc)

lissom_error lissom_abort_compactions(lissom_target target);
lissom_error lissom_resume_compactions(lissom_target target);

// ---- space that compactions have reserved (reserved_space.cc)

// Takes `bytes` off what the database holds reserved for compactions.
lissom_error lissom_release_reserved_space(lissom_target target,
                                           uint64_t bytes);

// ---- commits of compactions (commit_gate.cc)

struct lissom_commit_gate;
// A closed gate holds each compaction for at most `longest_hold_millis`.
lissom_error lissom_commit_gate_new(uint64_t longest_hold_millis,
                                    lissom_commit_gate** out);
void lissom_commit_gate_free(lissom_commit_gate* gate);
lissom_error lissom_commit_gate_install(const lissom_commit_gate* gate,
                                        rocksdb_options_t* options);
// Closed once more for each close, until as many opens. Waits for the commits of
// the column family that have begun.
lissom_error lissom_commit_gate_close(const lissom_commit_gate* gate,
                                      const char* family, size_t family_size);
lissom_error lissom_commit_gate_open(const lissom_commit_gate* gate,
                                     const char* family, size_t family_size);

// ---- threads of flushes (flush_threads.cc)

// At least so many threads more in their pool than flushes that `options` admit
// at a time.
lissom_error lissom_spare_flush_threads(rocksdb_options_t* options,
                                        uint32_t spare);

// ---- table files from outside (ingestion.cc)

struct lissom_ingestion;
// Reads the files, and copies or links them into the database's directory, as the
// options say. Nobody sees them yet.
lissom_error lissom_ingestion_prepare(
    lissom_target target, rocksdb_ingestexternalfileoptions_t* options,
    const char* const* paths, size_t count, lissom_ingestion** out);
// Makes them part of the column family, all or none. To be called once.
lissom_error lissom_ingestion_commit(lissom_ingestion* ingestion);
// Removes them unless they were committed. To be called before the column
// family's handle goes.
void lissom_ingestion_free(lissom_ingestion* ingestion);

// ---- counters of one thread (perf.cc)

struct lissom_perf_totals {
  uint64_t block_cache_hit_count;
  uint64_t block_read_count;
  uint64_t block_read_byte;
  uint64_t data_block_read_byte;
  uint64_t index_block_read_count;
  uint64_t filter_block_read_count;
  uint64_t get_from_memtable_count;
  uint64_t seek_on_memtable_count;
  uint64_t seek_child_seek_count;
  uint64_t internal_key_skipped_count;
  uint64_t internal_delete_skipped_count;
  uint64_t bloom_sst_hit_count;
  uint64_t bloom_sst_miss_count;
  uint64_t get_read_bytes;
  uint64_t iter_read_bytes;
};

struct lissom_perf_level {
  uint64_t level;
  uint64_t bloom_filter_useful;
  uint64_t bloom_filter_full_positive;
  uint64_t bloom_filter_full_true_positive;
  uint64_t user_key_return_count;
  uint64_t block_cache_hit_count;
  uint64_t block_cache_miss_count;
};

// Starts counting on this thread. 0 if it is counting already.
int lissom_perf_begin();
// What was counted since the start. Writes at most `capacity` rows, only those
// of levels that counted something; returns how many there are in all.
size_t lissom_perf_read(lissom_perf_totals* totals, lissom_perf_level* rows,
                        size_t capacity);
// Ends counting and restores the thread's settings.
void lissom_perf_end();

// ---- rate limiter (rate_limiter.cc)

struct lissom_rate_limiter;
lissom_error lissom_rate_limiter_new(int64_t bytes_per_second,
                                     lissom_rate_limiter** out);
void lissom_rate_limiter_free(lissom_rate_limiter* limiter);
lissom_error lissom_rate_limiter_set(const lissom_rate_limiter* limiter,
                                     int64_t bytes_per_second);
int64_t lissom_rate_limiter_get(const lissom_rate_limiter* limiter);
int64_t lissom_rate_limiter_total(const lissom_rate_limiter* limiter);
lissom_error lissom_rate_limiter_install(const lissom_rate_limiter* limiter,
                                         rocksdb_options_t* options);

// ---- deletion of table files (deletions.cc)

struct lissom_deletions;
// So many bytes a second, at least 1, file by file.
lissom_error lissom_deletions_new(int64_t bytes_per_second,
                                  lissom_deletions** out);
void lissom_deletions_free(lissom_deletions* deletions);
// Leaves a manager of files alone that the options have already.
lissom_error lissom_deletions_install(const lissom_deletions* deletions,
                                      rocksdb_options_t* options);

// ---- options (live_options.cc, options_file.cc)

lissom_error lissom_live_options(lissom_target target, lissom_buffer* out);
lissom_error lissom_read_options(rocksdb_options_t* options,
                                 lissom_buffer* out);
lissom_error lissom_load_latest_options(const char* path, size_t path_size,
                                        lissom_buffer* out);

// ---- options as lines (options_text.cc)

// Changes options by lines of "name=value", as in an OPTIONS file: those of the
// database, of the column family, and of its BlockBasedTable.
lissom_error lissom_change_options(rocksdb_options_t* options, const char* db,
                                   size_t db_size, const char* cf,
                                   size_t cf_size, const char* table,
                                   size_t table_size);
// The same lines, and the name of the table factory.
lissom_error lissom_options_text(rocksdb_options_t* options,
                                 lissom_buffer* out);
lissom_error lissom_live_options_text(lissom_target target,
                                      lissom_buffer* out);

// ---- a directory's lock (directory_lock.cc)

struct lissom_directory_lock;
// Fails where the directory is open in this or another process.
lissom_error lissom_directory_lock_new(const char* path, size_t path_size,
                                       lissom_directory_lock** out);
void lissom_directory_lock_free(lissom_directory_lock* lock);

// ---- entries in pieces (copy.cc)

// Entries behind the key `after`, or from the first one, until they have
// `max_bytes` or the column family ends; at least one if there is one.
lissom_error lissom_read_piece(lissom_target target, const char* after,
                               size_t after_size, int has_after,
                               uint64_t max_bytes, lissom_buffer* out);
// Writes a piece without the write-ahead log.
lissom_error lissom_write_piece(lissom_target target, const uint8_t* piece,
                                size_t size);

// ---- statistics (statistics.cc)

struct lissom_statistics;
struct lissom_histogram {
  double median;
  double percentile95;
  double percentile99;
  double average;
  double max;
  uint64_t count;
  uint64_t sum;
};
// `*out` is null where the database was opened without statistics.
lissom_error lissom_statistics_new(lissom_target target,
                                   lissom_statistics** out);
void lissom_statistics_free(lissom_statistics* statistics);
int lissom_statistics_level(const lissom_statistics* statistics);
lissom_error lissom_statistics_ticker(const lissom_statistics* statistics,
                                      uint32_t ticker, uint64_t* out);
lissom_error lissom_statistics_histogram(const lissom_statistics* statistics,
                                         uint32_t histogram,
                                         lissom_histogram* out);

}  // extern "C"
