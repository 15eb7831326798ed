// What the table files say about themselves.
#include <vector>

#include "buffer.h"
#include "error.h"
#include "handles.h"
#include "rocksdb/table_properties.h"

namespace lissom {
namespace {

// The number in ".../000123.sst"; 0 where there is none.
uint64_t FileNumber(const std::string& path) {
  uint64_t number = 0;
  const size_t slash = path.find_last_of('/');
  for (size_t i = slash == std::string::npos ? 0 : slash + 1;
       i < path.size() && path[i] >= '0' && path[i] <= '9'; ++i) {
    number = number * 10 + static_cast<uint64_t>(path[i] - '0');
  }
  return number;
}

// Order of the fields: see TableRow in the Rust module `ffi::snapshot`.
void PutTable(const std::string& path, const rocksdb::TableProperties& table,
              Buffer* buffer) {
  buffer->PutU64(FileNumber(path));
  buffer->PutU64(table.num_entries);
  buffer->PutU64(table.num_deletions);
  buffer->PutU64(table.num_range_deletions);
  buffer->PutU64(table.num_filter_entries);
  buffer->PutU64(table.filter_size);
  buffer->PutU64(table.index_size);
  buffer->PutU64(table.data_size);
  buffer->PutU64(table.raw_key_size);
  buffer->PutU64(table.raw_value_size);
  buffer->PutString(table.filter_policy_name);
  buffer->PutString(table.compression_name);
}

void PutTables(const rocksdb::TablePropertiesCollection& tables,
               lissom_buffer* out) {
  Buffer buffer;
  buffer.PutU64(tables.size());
  for (const auto& [path, table] : tables) PutTable(path, *table, &buffer);
  buffer.Release(out);
}

// A range of one key for each key.
std::vector<rocksdb::Range> Points(const uint8_t* bytes, const size_t* ends,
                                   size_t count) {
  std::vector<rocksdb::Range> points;
  points.reserve(count);
  size_t begin = 0;
  for (size_t i = 0; i < count; begin = ends[i++]) {
    const rocksdb::Slice key(reinterpret_cast<const char*>(bytes) + begin,
                             ends[i] - begin);
    points.emplace_back(key, key);
  }
  return points;
}

}  // namespace
}  // namespace lissom

extern "C" {

lissom_error lissom_table_properties(lissom_target target, lissom_buffer* out) {
  return lissom::Guarded([&]() -> lissom_error {
    const lissom::Target found = lissom::Resolve(target);
    rocksdb::TablePropertiesCollection tables;
    const rocksdb::Status status =
        found.db->GetPropertiesOfAllTables(found.cf, &tables);
    if (!status.ok()) return lissom::Error(status);
    lissom::PutTables(tables, out);
    return nullptr;
  });
}

lissom_error lissom_table_properties_at(lissom_target target,
                                        const uint8_t* bytes,
                                        const size_t* ends, size_t count,
                                        lissom_buffer* out) {
  return lissom::Guarded([&]() -> lissom_error {
    const lissom::Target found = lissom::Resolve(target);
    const std::vector<rocksdb::Range> points =
        lissom::Points(bytes, ends, count);
    rocksdb::TablePropertiesCollection tables;
    const rocksdb::Status status = found.db->GetPropertiesOfTablesInRange(
        found.cf, points.data(), points.size(), &tables);
    if (!status.ok()) return lissom::Error(status);
    lissom::PutTables(tables, out);
    return nullptr;
  });
}

}  // extern "C"
