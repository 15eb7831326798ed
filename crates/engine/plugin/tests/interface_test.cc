// What the Rust module calls beside the tree: options, a directory's lock, the
// gate, copies, table files from outside.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "check.h"
#include "database_test.h"
#include "lissom_plugin.h"
#include "rocksdb/env.h"

namespace lissom_test {
namespace {

bool Contains(const lissom_buffer& buffer, const std::string& part) {
  const std::string all(reinterpret_cast<const char*>(buffer.data), buffer.size);
  return all.find(part) != std::string::npos;
}

rocksdb_t* Open(rocksdb_options_t* options, const std::string& path) {
  rocksdb_options_set_create_if_missing(options, 1);
  char* error = nullptr;
  rocksdb_t* db = rocksdb_open(options, path.c_str(), &error);
  CHECK(OkC(error));
  return db;
}

void Put(rocksdb_t* db, const std::string& key, const std::string& value) {
  rocksdb_writeoptions_t* write = rocksdb_writeoptions_create();
  char* error = nullptr;
  rocksdb_put(db, write, key.data(), key.size(), value.data(), value.size(), &error);
  CHECK(OkC(error));
  rocksdb_writeoptions_destroy(write);
}

std::string Get(rocksdb_t* db, const std::string& key) {
  rocksdb_readoptions_t* read = rocksdb_readoptions_create();
  char* error = nullptr;
  size_t size = 0;
  char* value = rocksdb_get(db, read, key.data(), key.size(), &size, &error);
  CHECK(OkC(error));
  rocksdb_readoptions_destroy(read);
  const std::string found = value == nullptr ? "absent" : std::string(value, size);
  rocksdb_free(value);
  return found;
}

void Flush(rocksdb_t* db) {
  rocksdb_flushoptions_t* flush = rocksdb_flushoptions_create();
  char* error = nullptr;
  rocksdb_flush(db, flush, &error);
  CHECK(OkC(error));
  rocksdb_flushoptions_destroy(flush);
}

lissom_error Change(rocksdb_options_t* options, const std::string& db,
                    const std::string& cf, const std::string& table) {
  return lissom_change_options(options, db.data(), db.size(), cf.data(),
                               cf.size(), table.data(), table.size());
}

void OptionsAsLines() {
  rocksdb_options_t* options = rocksdb_options_create();
  lissom_buffer out = {};
  CHECK(Ok(lissom_read_options(options, &out)));
  CHECK(out.size > 8);
  lissom_free(out.data);
  CHECK(Ok(Change(options, "max_background_jobs=5", "write_buffer_size=7654321",
                  "block_size=8192\nwhole_key_filtering=false")));
  CHECK(Ok(lissom_options_text(options, &out)));
  CHECK(Contains(out, "max_background_jobs=5"));
  CHECK(Contains(out, "write_buffer_size=7654321"));
  CHECK(Contains(out, "block_size=8192"));
  CHECK(Contains(out, "whole_key_filtering=false"));
  lissom_free(out.data);
  // A line that is wrong changes nothing.
  CHECK(Fails(Change(options, "max_background_jobs=6", "write_buffer_size=many",
                     ""),
              ""));
  CHECK(Fails(Change(options, "", "", "no_such_option=1"), ""));
  CHECK(Ok(lissom_options_text(options, &out)));
  CHECK(Contains(out, "max_background_jobs=5"));
  lissom_free(out.data);
  rocksdb_options_destroy(options);
}

void TablesThatChange() {
  const double bits[] = {10, 4};
  lissom_level_bloom* bloom = nullptr;
  CHECK(Ok(lissom_level_bloom_new(bits, 2, &bloom)));
  CHECK(Ok(lissom_level_bloom_set(bloom, 1, 6.5)));
  CHECK(lissom_level_bloom_get(bloom, 1) == 6.5);
  CHECK(Fails(lissom_level_bloom_set(bloom, 2, 5), "no level 2"));
  lissom_buffer id = {};
  CHECK(Ok(lissom_level_bloom_id(bloom, &id)));
  CHECK(id.size > 8);
  lissom_free(id.data);
  lissom_level_bloom_free(bloom);
  lissom_rate_limiter* limiter = nullptr;
  CHECK(Ok(lissom_rate_limiter_new(1000, &limiter)));
  CHECK(Ok(lissom_rate_limiter_set(limiter, 2000)));
  CHECK(lissom_rate_limiter_get(limiter) == 2000);
  CHECK(lissom_rate_limiter_total(limiter) == 0);
  CHECK(Fails(lissom_rate_limiter_set(limiter, 0), "at least 1"));
  lissom_rate_limiter_free(limiter);
}

// A guard table is known by the column family that was opened with it.
void GuardsInUse(const std::string& path) {
  lissom_guard_table* used = nullptr;
  lissom_guard_table* other = nullptr;
  CHECK(Ok(lissom_guard_table_new(7, &used)));
  CHECK(Ok(lissom_guard_table_new(7, &other)));
  const uint8_t bytes[] = {'a', 'b', 'c'};
  const size_t ends[] = {1, 3};
  CHECK(Ok(lissom_guard_table_set(used, 2, 4, bytes, ends, 2)));
  CHECK(lissom_guard_table_count(used, 1) == 0);
  CHECK(lissom_guard_table_count(used, 3) == 2);
  rocksdb_options_t* options = rocksdb_options_create();
  CHECK(Ok(lissom_guard_table_install(used, options)));
  rocksdb_t* db = Open(options, path);
  int is_used = 0;
  CHECK(Ok(lissom_guard_table_is_used(used, {db, nullptr}, &is_used)));
  CHECK(is_used == 1);
  CHECK(Ok(lissom_guard_table_is_used(other, {db, nullptr}, &is_used)));
  CHECK(is_used == 0);
  lissom_buffer out = {};
  CHECK(Ok(lissom_live_options_text({db, nullptr}, &out)));
  CHECK(Contains(out, "write_buffer_size="));
  lissom_free(out.data);
  rocksdb_close(db);
  rocksdb_options_destroy(options);
  lissom_guard_table_free(used);
  lissom_guard_table_free(other);
}

void ADirectoryIsLockedOnce(const std::string& path) {
  lissom_directory_lock* lock = nullptr;
  lissom_directory_lock* second = nullptr;
  CHECK(Ok(lissom_directory_lock_new(path.data(), path.size(), &lock)));
  CHECK(Fails(lissom_directory_lock_new(path.data(), path.size(), &second), "LOCK"));
  CHECK(second == nullptr);
  lissom_directory_lock_free(lock);
  CHECK(Ok(lissom_directory_lock_new(path.data(), path.size(), &second)));
  lissom_directory_lock_free(second);
  lissom_directory_lock_free(nullptr);
}

// More threads than are asked for are never taken away.
void FlushesHaveSpareThreads() {
  rocksdb_options_t* options = rocksdb_options_create();
  rocksdb_options_set_max_background_jobs(options, 8);
  const auto threads = [] {
    return rocksdb::Env::Default()->GetBackgroundThreads(rocksdb::Env::HIGH);
  };
  CHECK(Ok(lissom_spare_flush_threads(options, 5)));
  CHECK(threads() == 7);
  CHECK(Ok(lissom_spare_flush_threads(options, 1)));
  CHECK(threads() == 7);
  rocksdb_options_destroy(options);
}

// A closed gate holds a compaction of RocksDB's own; the gate may be released
// before the database is closed.
void AGateHoldsACompaction(const std::string& path) {
  lissom_commit_gate* gate = nullptr;
  CHECK(Ok(lissom_commit_gate_new(60000, &gate)));
  rocksdb_options_t* options = rocksdb_options_create();
  CHECK(Ok(lissom_commit_gate_install(gate, options)));
  rocksdb_t* db = Open(options, path);
  for (const char* value : {"old", "new"}) {
    Put(db, "key", value);
    Flush(db);
  }
  const std::string family = "default";
  CHECK(Ok(lissom_commit_gate_close(gate, family.data(), family.size())));
  std::atomic<bool> done{false};
  std::thread compaction([&] {
    rocksdb_compact_range(db, nullptr, 0, nullptr, 0);
    done = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK(!done);
  CHECK(Get(db, "key") == "new");
  CHECK(Ok(lissom_commit_gate_open(gate, family.data(), family.size())));
  compaction.join();
  CHECK(Get(db, "key") == "new");
  lissom_commit_gate_free(gate);
  rocksdb_compact_range(db, nullptr, 0, nullptr, 0);
  rocksdb_close(db);
  rocksdb_options_destroy(options);
}

lissom_buffer Piece(rocksdb_t* db, const char* after, uint64_t most) {
  lissom_buffer piece = {};
  const size_t size = after == nullptr ? 0 : std::strlen(after);
  CHECK(Ok(lissom_read_piece({db, nullptr}, after, size, after != nullptr, most,
                             &piece)));
  return piece;
}

void EntriesAreCopied(const std::string& path) {
  rocksdb_options_t* options = rocksdb_options_create();
  rocksdb_t* from = Open(options, path + "-from");
  rocksdb_t* to = Open(options, path + "-to");
  for (int n = 0; n < 3; ++n) {
    Put(from, "k" + std::to_string(n), std::string(100, 'a' + n));
  }
  lissom_buffer first = Piece(from, nullptr, 1);
  lissom_buffer rest = Piece(from, "k0", 1 << 20);
  CHECK(Ok(lissom_write_piece({to, nullptr}, first.data, first.size)));
  CHECK(Get(to, "k0") == std::string(100, 'a') && Get(to, "k1") == "absent");
  // A piece that was cut is refused, and none of it is written.
  CHECK(Fails(lissom_write_piece({to, nullptr}, rest.data, rest.size - 12),
              "ends early"));
  CHECK(Fails(lissom_write_piece({to, nullptr}, rest.data, 0), "ends early"));
  CHECK(Get(to, "k1") == "absent");
  CHECK(Ok(lissom_write_piece({to, nullptr}, rest.data, rest.size)));
  CHECK(Get(to, "k1") == std::string(100, 'b'));
  CHECK(Get(to, "k2") == std::string(100, 'c'));
  lissom_free(first.data);
  lissom_free(rest.data);
  rocksdb_close(from);
  rocksdb_close(to);
  rocksdb_options_destroy(options);
}

void WriteTable(rocksdb_options_t* options, const std::string& path) {
  rocksdb_envoptions_t* env = rocksdb_envoptions_create();
  rocksdb_sstfilewriter_t* writer = rocksdb_sstfilewriter_create(env, options);
  char* error = nullptr;
  rocksdb_sstfilewriter_open(writer, path.c_str(), &error);
  CHECK(OkC(error));
  rocksdb_sstfilewriter_put(writer, "key", 3, "value", 5, &error);
  CHECK(OkC(error));
  rocksdb_sstfilewriter_finish(writer, &error);
  CHECK(OkC(error));
  rocksdb_sstfilewriter_destroy(writer);
  rocksdb_envoptions_destroy(env);
}

// A prepared file is seen once it is committed, and removed without that.
void ATableFileInTwoSteps(const std::string& path) {
  rocksdb_options_t* options = rocksdb_options_create();
  rocksdb_t* db = Open(options, path);
  const std::string outside = path + "-outside";
  WriteTable(options, outside);
  rocksdb_ingestexternalfileoptions_t* how =
      rocksdb_ingestexternalfileoptions_create();
  const lissom_target target = {db, nullptr};
  const char* files[] = {outside.c_str()};
  lissom_ingestion* ingestion = nullptr;
  CHECK(Ok(lissom_ingestion_prepare(target, how, files, 1, &ingestion)));
  lissom_ingestion_free(ingestion);
  CHECK(Get(db, "key") == "absent");
  CHECK(Ok(lissom_ingestion_prepare(target, how, files, 1, &ingestion)));
  CHECK(Ok(lissom_ingestion_commit(ingestion)));
  lissom_ingestion_free(ingestion);
  CHECK(Get(db, "key") == "value");
  const char* absent[] = {"/absent/file"};
  CHECK(Fails(lissom_ingestion_prepare(target, how, absent, 1, &ingestion),
              "No such file"));
  rocksdb_ingestexternalfileoptions_destroy(how);
  rocksdb_close(db);
  rocksdb_options_destroy(options);
}

}  // namespace

void TestInterface(const std::string& path) {
  OptionsAsLines();
  TablesThatChange();
  GuardsInUse(path + "-guards");
  ADirectoryIsLockedOnce(path);
  FlushesHaveSpareThreads();
  AGateHoldsACompaction(path + "-gate");
  EntriesAreCopied(path + "-copy");
  ATableFileInTwoSteps(path + "-ingestion");
}

}  // namespace lissom_test
