// RocksDB's per-thread counters around a stretch of work. The application may be
// using them too, so nothing of its own is reset: totals are differences, and the
// counters by level go into a map of ours, put in the place of its own meanwhile.
#include <map>
#include <new>

#include "lissom_plugin.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"

namespace lissom {
namespace {

using Levels = std::map<uint32_t, rocksdb::PerfContextByLevel>;

struct ThreadState {
  bool active = false;
  rocksdb::PerfLevel perf_level = rocksdb::kDisable;
  bool per_level = false;
  Levels* applications = nullptr;
  lissom_perf_totals totals = {};
  // Kept between samples, empty: a sample costs what the levels cost that it
  // touched, not all that the thread has ever seen. While a sample is active
  // RocksDB's context owns it too: it may delete it (ClearPerLevelPerfContext),
  // and does so when the thread ends.
  Levels* levels = nullptr;

  ~ThreadState() {
    if (!active) delete levels;
  }
};

ThreadState& State() {
  static thread_local ThreadState state;
  return state;
}

lissom_perf_totals Totals(const rocksdb::PerfContext& c) {
  return {c.block_cache_hit_count,      c.block_read_count,
          c.block_read_byte,            c.data_block_read_byte,
          c.index_block_read_count,     c.filter_block_read_count,
          c.get_from_memtable_count,    c.seek_on_memtable_count,
          c.seek_child_seek_count,      c.internal_key_skipped_count,
          c.internal_delete_skipped_count, c.bloom_sst_hit_count,
          c.bloom_sst_miss_count,       c.get_read_bytes,
          c.iter_read_bytes};
}

// An application that resets its counters in between makes a counter smaller:
// then what it shows now is what came after.
uint64_t Since(uint64_t now, uint64_t before) {
  return now >= before ? now - before : now;
}

// The struct is uint64_t throughout, so it can be walked as an array.
void Subtract(lissom_perf_totals* now, const lissom_perf_totals& before) {
  constexpr size_t kFields = sizeof(*now) / sizeof(uint64_t);
  static_assert(sizeof(*now) == kFields * sizeof(uint64_t));
  auto* a = reinterpret_cast<uint64_t*>(now);
  const auto* b = reinterpret_cast<const uint64_t*>(&before);
  for (size_t i = 0; i < kFields; ++i) a[i] = Since(a[i], b[i]);
}

lissom_perf_level Row(uint32_t level,
                      const rocksdb::PerfContextByLevelBase& counts) {
  return {level,
          counts.bloom_filter_useful,
          counts.bloom_filter_full_positive,
          counts.bloom_filter_full_true_positive,
          counts.user_key_return_count,
          counts.block_cache_hit_count,
          counts.block_cache_miss_count};
}

bool IsEmpty(const lissom_perf_level& row) {
  return (row.bloom_filter_useful | row.bloom_filter_full_positive |
          row.bloom_filter_full_true_positive | row.user_key_return_count |
          row.block_cache_hit_count | row.block_cache_miss_count) == 0;
}

// Gives the application its map back, with what was counted meanwhile if it was
// counting, and empties ours. Out of memory, it ends the process: an exception
// must not reach Rust.
void RestoreLevels(ThreadState* state,
                   rocksdb::PerfContext* context) noexcept {
  if (context->level_to_perf_context == state->levels) {
    if (state->per_level && state->applications != nullptr) {
      for (const auto& [level, counts] : *state->levels) {
        (*state->applications)[level].Merge(counts);
      }
    }
    state->levels->clear();
  } else {
    // The application cleared its context, which deleted ours in its place, and
    // perhaps began a new one.
    state->levels = nullptr;
    delete context->level_to_perf_context;
  }
  context->level_to_perf_context = state->applications;
  state->applications = nullptr;
}

}  // namespace
}  // namespace lissom

extern "C" {

int lissom_perf_begin() {
  lissom::ThreadState& state = lissom::State();
  if (state.active) return 0;
  if (state.levels == nullptr) state.levels = new (std::nothrow) lissom::Levels;
  if (state.levels == nullptr) return 0;
  rocksdb::PerfContext& context = *rocksdb::get_perf_context();
  state.active = true;
  state.perf_level = rocksdb::GetPerfLevel();
  state.per_level = context.per_level_perf_context_enabled;
  state.applications = context.level_to_perf_context;
  context.level_to_perf_context = state.levels;
  context.EnablePerLevelPerfContext();
  state.totals = lissom::Totals(context);
  // A higher level counts all that this one does.
  if (state.perf_level < rocksdb::kEnableCount) {
    rocksdb::SetPerfLevel(rocksdb::kEnableCount);
  }
  return 1;
}

size_t lissom_perf_read(lissom_perf_totals* totals, lissom_perf_level* rows,
                        size_t capacity) {
  const lissom::ThreadState& state = lissom::State();
  *totals = {};
  if (!state.active) return 0;
  const rocksdb::PerfContext& context = *rocksdb::get_perf_context();
  *totals = lissom::Totals(context);
  lissom::Subtract(totals, state.totals);
  if (context.level_to_perf_context == nullptr) return 0;
  size_t count = 0;
  for (const auto& [level, counts] : *context.level_to_perf_context) {
    const lissom_perf_level row = lissom::Row(level, counts);
    if (lissom::IsEmpty(row)) continue;
    if (count < capacity) rows[count] = row;
    ++count;
  }
  return count;
}

void lissom_perf_end() {
  lissom::ThreadState& state = lissom::State();
  if (!state.active) return;
  rocksdb::PerfContext& context = *rocksdb::get_perf_context();
  lissom::RestoreLevels(&state, &context);
  if (!state.per_level) context.DisablePerLevelPerfContext();
  rocksdb::SetPerfLevel(state.perf_level);
  state.active = false;
}

}  // extern "C"
