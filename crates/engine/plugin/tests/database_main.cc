// The C interface against a real database, as the Rust module drives it.
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "adjustable_rate_limiter.h"
#include "buffer.h"
#include "check.h"
#include "database_test.h"
#include "lissom_plugin.h"
#include "rocksdb/perf_context.h"

namespace lissom_test {
namespace {

uint64_t FirstU64(const lissom_buffer& buffer, size_t index = 0) {
  uint64_t value = 0;
  CHECK(buffer.size >= (index + 1) * sizeof(value));
  std::memcpy(&value, buffer.data + index * sizeof(value), sizeof(value));
  return value;
}

void Encoding() {
  lissom::Buffer buffer;
  buffer.PutU64(7);
  buffer.PutI64(-1);
  buffer.PutBool(true);
  buffer.PutDouble(0.5);
  buffer.PutString(std::string("a\0b", 3));
  buffer.PutName(nullptr);
  lissom_buffer out = {};
  buffer.Release(&out);
  CHECK(out.size == 4 * 8 + 8 + 3 + 8);
  CHECK(FirstU64(out) == 7 && FirstU64(out, 1) == UINT64_MAX);
  CHECK(FirstU64(out, 2) == 1 && FirstU64(out, 4) == 3);
  CHECK(std::memcmp(out.data + 40, "a\0b", 3) == 0);
  lissom_free(out.data);
  lissom::Buffer().Release(&out);
  CHECK(out.size == 0 && out.data != nullptr);
  lissom_free(out.data);
}

struct Objects {
  lissom_level_bloom* bloom = nullptr;
  lissom_guard_table* guards = nullptr;
  lissom_rate_limiter* limiter = nullptr;
};

Objects Install(rocksdb_options_t* options) {
  Objects made;
  const double bits[] = {10, 10, 10, 4, 0};
  CHECK(Ok(lissom_level_bloom_new(bits, 5, &made.bloom)));
  CHECK(Ok(lissom_level_bloom_install(made.bloom, options)));
  CHECK(Ok(lissom_guard_table_new(7, &made.guards)));
  const uint8_t bytes[] = {'k', '0', '5', '0', '0', 'k', '0', '7', '0', '0'};
  const size_t ends[] = {5, 10};
  CHECK(Ok(lissom_guard_table_set(made.guards, 2, 7, bytes, ends, 2)));
  CHECK(Ok(lissom_guard_table_install(made.guards, options)));
  CHECK(Ok(lissom_rate_limiter_new(1 << 30, &made.limiter)));
  CHECK(Ok(lissom_rate_limiter_install(made.limiter, options)));
  return made;
}

void Free(Objects* made) {
  lissom_level_bloom_free(made->bloom);
  lissom_guard_table_free(made->guards);
  lissom_rate_limiter_free(made->limiter);
}

void Fill(rocksdb_t* db) {
  rocksdb_writeoptions_t* write = rocksdb_writeoptions_create();
  for (int n = 0; n < 1000; ++n) {
    const std::string key = "k" + std::to_string(10000 + n).substr(1);
    char* error = nullptr;
    rocksdb_put(db, write, key.data(), 5, key.data(), 5, &error);
    CHECK(OkC(error));
  }
  rocksdb_writeoptions_destroy(write);
  rocksdb_flushoptions_t* flush = rocksdb_flushoptions_create();
  char* error = nullptr;
  rocksdb_flush(db, flush, &error);
  CHECK(OkC(error));
  rocksdb_flushoptions_destroy(flush);
}

size_t Files(lissom_target target) {
  lissom_buffer out = {};
  CHECK(Ok(lissom_tree_snapshot(target, &out)));
  CHECK(FirstU64(out) == 7);
  const size_t files = FirstU64(out, 1);
  lissom_free(out.data);
  return files;
}

size_t FilesAt(lissom_target target, const std::string& key) {
  lissom_buffer out = {};
  const auto* bytes = reinterpret_cast<const uint8_t*>(key.data());
  const size_t end = key.size();
  CHECK(Ok(lissom_table_properties_at(target, bytes, &end, 1, &out)));
  const size_t files = FirstU64(out);
  lissom_free(out.data);
  return files;
}

void Get(rocksdb_t* db) {
  rocksdb_readoptions_t* read = rocksdb_readoptions_create();
  char* error = nullptr;
  size_t size = 0;
  char* value = rocksdb_get(db, read, "k0123", 5, &size, &error);
  CHECK(OkC(error) && size == 5);
  rocksdb_free(value);
  rocksdb_readoptions_destroy(read);
}

void Perf(rocksdb_t* db) {
  CHECK(lissom_perf_begin() == 1);
  CHECK(lissom_perf_begin() == 0);
  Get(db);
  lissom_perf_totals totals;
  // The file was moved: its filter counts where it was opened, the key where it
  // lies now.
  CHECK(lissom_perf_read(&totals, nullptr, 0) == 2);
  lissom_perf_level rows[2];
  CHECK(lissom_perf_read(&totals, rows, 1) == 2);
  CHECK(lissom_perf_read(&totals, rows, 2) == 2);
  CHECK(rows[0].level < rows[1].level);
  CHECK(rows[0].bloom_filter_full_true_positive == 1);
  CHECK(rows[1].user_key_return_count == 1 && rows[1].level == 4);
  CHECK(totals.get_read_bytes == 5);
  lissom_perf_end();
  lissom_perf_end();
  CHECK(lissom_perf_read(&totals, rows, 2) == 0 && totals.get_read_bytes == 0);
  CHECK(lissom_perf_begin() == 1);
  CHECK(lissom_perf_read(&totals, rows, 2) == 0);
  lissom_perf_end();
}

// An application that counts by level itself loses nothing to our samples.
void PerfBesideTheApplication(rocksdb_t* db) {
  rocksdb::PerfContext& context = *rocksdb::get_perf_context();
  const auto found = [&] {
    return (*context.level_to_perf_context)[4].user_key_return_count;
  };
  context.EnablePerLevelPerfContext();
  Get(db);
  CHECK(lissom_perf_begin() == 1);
  Get(db);
  lissom_perf_end();
  CHECK(context.per_level_perf_context_enabled && found() == 2);
  context.DisablePerLevelPerfContext();
  CHECK(lissom_perf_begin() == 1);
  Get(db);
  lissom_perf_end();
  CHECK(!context.per_level_perf_context_enabled && found() == 2);
  // Cleared while we count, and begun anew.
  CHECK(lissom_perf_begin() == 1);
  context.ClearPerLevelPerfContext();
  lissom_perf_totals totals;
  CHECK(lissom_perf_read(&totals, nullptr, 0) == 0);
  context.EnablePerLevelPerfContext();
  Get(db);
  lissom_perf_end();
  CHECK(found() == 2);
  context.ClearPerLevelPerfContext();
  // A thread may end while it counts.
  std::thread([&] {
    CHECK(lissom_perf_begin() == 1);
    Get(db);
  }).join();
}

void Everything(rocksdb_t* db, const std::string& path) {
  const lissom_target target = {db, nullptr};
  Fill(db);
  CHECK(Files(target) == 1);
  CHECK(Ok(lissom_abort_compactions(target)));
  CHECK(Ok(lissom_resume_compactions(target)));
  CHECK(Ok(lissom_release_reserved_space(target, 1)));
  rocksdb_compact_range(db, nullptr, 0, nullptr, 0);
  CHECK(Files(target) == 1);  // a move to level 1, which has no guards
  rocksdb_compactoptions_t* deeper = rocksdb_compactoptions_create();
  rocksdb_compactoptions_set_bottommost_level_compaction(deeper, 2);
  rocksdb_compactoptions_set_change_level(deeper, 1);
  rocksdb_compactoptions_set_target_level(deeper, 4);
  rocksdb_compact_range_opt(db, deeper, nullptr, 0, nullptr, 0);
  rocksdb_compactoptions_destroy(deeper);
  Perf(db);
  PerfBesideTheApplication(db);
  for (auto* call : {lissom_table_properties, lissom_live_options, lissom_names}) {
    lissom_buffer out = {};
    CHECK(Ok(call(target, &out)));
    CHECK(out.size > 8);
    lissom_free(out.data);
  }
  CHECK(FilesAt(target, "k0123") == 1);
  CHECK(FilesAt(target, "x") == 0);
  lissom_statistics* statistics = nullptr;
  CHECK(Ok(lissom_statistics_new(target, &statistics)));
  uint64_t value = 0;
  CHECK(Ok(lissom_statistics_ticker(statistics, 0, &value)));
  CHECK(Fails(lissom_statistics_ticker(statistics, 1 << 20, &value), "ticker"));
  lissom_histogram histogram;
  CHECK(Ok(lissom_statistics_histogram(statistics, 0, &histogram)));
  CHECK(histogram.count == 6);
  CHECK(Fails(lissom_statistics_histogram(statistics, 1 << 20, &histogram),
              "histogram"));
  lissom_statistics_free(statistics);
  lissom_buffer out = {};
  CHECK(Ok(lissom_load_latest_options(path.data(), path.size(), &out)));
  lissom_free(out.data);
}

void Database(const std::string& path) {
  rocksdb_options_t* options = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(options, 1);
  rocksdb_options_set_level_compaction_dynamic_level_bytes(options, 0);
  rocksdb_options_enable_statistics(options);
  rocksdb_options_set_write_buffer_size(options, 4321000);
  CHECK(Ok(lissom_check_layout(options, 4321000)));
  CHECK(Fails(lissom_check_layout(options, 1), "layout"));
  Objects made = Install(options);
  char* error = nullptr;
  rocksdb_t* db = rocksdb_open(options, path.c_str(), &error);
  CHECK(OkC(error));
  // The database keeps what it needs of these.
  Free(&made);
  if (db != nullptr) {
    Everything(db, path);
    rocksdb_close(db);
  }
  lissom_buffer out = {};
  CHECK(Fails(lissom_load_latest_options("/dev/null", 9, &out), ""));
  rocksdb_options_destroy(options);
}

void BadInput() {
  lissom_level_bloom* bloom = nullptr;
  const double bits[] = {10, 1e9};
  CHECK(Fails(lissom_level_bloom_new(bits, 2, &bloom), "level 1"));
  CHECK(Fails(lissom_level_bloom_new(bits, 0, &bloom), "level"));
  lissom_rate_limiter* limiter = nullptr;
  CHECK(Fails(lissom_rate_limiter_new(0, &limiter), "at least 1"));
  CHECK(bloom == nullptr && limiter == nullptr);
}

// A compaction that waits for the refill gets no processor, and holds the
// limiter's mutex.
class Starved : public rocksdb::Statistics {
 public:
  const char* Name() const override { return "starved"; }
  uint64_t getTickerCount(uint32_t) const override { return 0; }
  void histogramData(uint32_t, rocksdb::HistogramData* const) const override {}
  void setTickerCount(uint32_t, uint64_t) override {}
  uint64_t getAndResetTickerCount(uint32_t) override { return 0; }
  void recordTick(uint32_t ticker, uint64_t) override {
    if (ticker != rocksdb::NUMBER_RATE_LIMITER_DRAINS) return;
    waits = true;
    while (!goes_on) std::this_thread::yield();
  }

  std::atomic<bool> waits{false};
  std::atomic<bool> goes_on{false};
};

// A flush waits for no compaction, and compactions pay for what it took.
void FlushesWaitForThemselves() {
  lissom::AdjustableRateLimiter limiter(1 << 20);
  Starved starved;
  std::thread compaction(
      [&] { limiter.Request(1 << 20, rocksdb::Env::IO_LOW, &starved); });
  while (!starved.waits) std::this_thread::yield();
  // It would wait for ever if it had to.
  limiter.Request(1 << 18, rocksdb::Env::IO_HIGH, nullptr);
  const auto begun = std::chrono::steady_clock::now();
  starved.goes_on = true;
  compaction.join();
  const auto taken = std::chrono::steady_clock::now() - begun;
  // A mebibyte and a quarter at a mebibyte a second, but for the first refills.
  CHECK(taken > std::chrono::milliseconds(1100));
}

// Requests wait at a crawling rate until the rate is lifted, and a lowered rate
// holds although much was allowed before.
void Limiter() {
  lissom::AdjustableRateLimiter limiter(
      lissom::AdjustableRateLimiter::kUnlimited);
  const auto low = rocksdb::Env::IO_LOW;
  limiter.Request(1 << 30, low, nullptr);
  limiter.SetBytesPerSecond(1000);
  std::atomic<int> done{0};
  std::vector<std::thread> writers;
  for (int n = 0; n < 3; ++n) {
    writers.emplace_back([&] {
      limiter.Request(1 << 20, low, nullptr);
      ++done;
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK(done == 0);
  limiter.SetBytesPerSecond(2000);
  limiter.SetBytesPerSecond(lissom::AdjustableRateLimiter::kUnlimited);
  for (auto& writer : writers) writer.join();
  CHECK(limiter.GetTotalBytesThrough(low) == (1 << 30) + 3 * (1 << 20));
  CHECK(limiter.GetTotalRequests(rocksdb::Env::IO_TOTAL) == 4);
  CHECK(limiter.GetTotalBytesThrough(rocksdb::Env::IO_HIGH) == 0);
  // Less than a byte in a refill period: a request comes to its end all the same.
  limiter.SetBytesPerSecond(1);
  limiter.Request(3, low, nullptr);
}

}  // namespace
}  // namespace lissom_test

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: database_test DIRECTORY\n");
    return 2;
  }
  lissom_test::Encoding();
  lissom_test::BadInput();
  lissom_test::Limiter();
  lissom_test::FlushesWaitForThemselves();
  lissom_test::Database(argv[1]);
  lissom_test::TestInterface(argv[1]);
  const int failures = lissom_test::failures;
  std::fprintf(stderr, "database_test: %s\n", failures == 0 ? "passed" : "FAILED");
  return failures == 0 ? 0 : 1;
}
