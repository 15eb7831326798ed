#include "partitioner.h"

#include "error.h"
#include "handles.h"
#include "registry.h"

namespace lissom {

rocksdb::OptSlice GuardPartitioner::ShouldPartitionByPrefix(
    const rocksdb::Slice& user_key) {
  if (cursor_.AnyAbove(user_key.ToStringView())) return {};
  return rocksdb::OptSlice("", 0);
}

rocksdb::PartitionerResult GuardPartitioner::ShouldPartition(
    const rocksdb::PartitionerRequest& request) {
  return cursor_.Crosses(request.prev_user_key->ToStringView(),
                         request.current_user_key->ToStringView())
             ? rocksdb::kRequired
             : rocksdb::kNotRequired;
}

std::unique_ptr<rocksdb::SstPartitioner>
GuardPartitionerFactory::CreatePartitioner(
    const rocksdb::SstPartitioner::Context& context) const {
  const int level = context.output_level;
  return std::make_unique<GuardPartitioner>(
      level < 0 ? nullptr : table_->Get(static_cast<size_t>(level)));
}

}  // namespace lissom

struct lissom_guard_table {
  std::shared_ptr<lissom::GuardTable> table;
  std::shared_ptr<lissom::GuardPartitionerFactory> factory;
};

extern "C" {

lissom_error lissom_guard_table_new(size_t levels, lissom_guard_table** out) {
  return lissom::Guarded([&]() -> lissom_error {
    lissom::RegisterObjects();
    auto table = std::make_shared<lissom::GuardTable>(levels);
    auto factory = std::make_shared<lissom::GuardPartitionerFactory>(table);
    *out = new lissom_guard_table{std::move(table), std::move(factory)};
    return nullptr;
  });
}

void lissom_guard_table_free(lissom_guard_table* table) { delete table; }

lissom_error lissom_guard_table_set(const lissom_guard_table* table,
                                    size_t first, size_t last,
                                    const uint8_t* bytes, const size_t* ends,
                                    size_t count) {
  return lissom::Guarded([&]() -> lissom_error {
    auto guards = std::make_shared<lissom::Guards>();
    guards->reserve(count);
    size_t begin = 0;
    for (size_t i = 0; i < count; begin = ends[i++]) {
      guards->emplace_back(reinterpret_cast<const char*>(bytes) + begin,
                           ends[i] - begin);
      if (i > 0 && (*guards)[i] <= (*guards)[i - 1]) {
        return lissom::Error("guard keys must ascend strictly; number " +
                             std::to_string(i) +
                             " (counted from 0) is not above the one before");
      }
    }
    if (!table->table->Set(first, last, std::move(guards))) {
      return lissom::Error(
          "guards were given for levels " + std::to_string(first) + " to " +
          std::to_string(last) + " (exclusive), but the table has " +
          std::to_string(table->table->size()) + " levels");
    }
    return nullptr;
  });
}

size_t lissom_guard_table_count(const lissom_guard_table* table, size_t level) {
  const lissom::SharedGuards guards = table->table->Get(level);
  return guards == nullptr ? 0 : guards->size();
}

lissom_error lissom_guard_table_install(const lissom_guard_table* table,
                                        rocksdb_options_t* options) {
  return lissom::Guarded([&]() -> lissom_error {
    rocksdb::Options& target = lissom::OptionsOf(options);
    if (target.comparator != rocksdb::BytewiseComparator()) {
      return lissom::Error(
          std::string("guard keys are in byte order, but this column family is "
                      "sorted by ") +
          target.comparator->Name());
    }
    target.sst_partitioner_factory = table->factory;
    return nullptr;
  });
}

lissom_error lissom_guard_table_is_used(const lissom_guard_table* table,
                                        lissom_target target, int* is_used) {
  return lissom::Guarded([&]() -> lissom_error {
    const lissom::Target found = lissom::Resolve(target);
    const rocksdb::Options options = found.db->GetOptions(found.cf);
    *is_used =
        options.sst_partitioner_factory.get() == table->factory.get() ? 1 : 0;
    return nullptr;
  });
}

}  // extern "C"
