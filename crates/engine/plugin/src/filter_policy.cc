#include "filter_policy.h"

#include <utility>

#include "buffer.h"
#include "error.h"
#include "handles.h"
#include "registry.h"
#include "rocksdb/table.h"

namespace lissom {

LevelBloom::LevelBloom(std::shared_ptr<LevelBits> bits)
    : bits_(std::move(bits)),
      id_(std::string(kClassName) + kSeparator + bits_->ToText()),
      reader_(rocksdb::NewBloomFilterPolicy(10)) {}

const char* LevelBloom::CompatibilityName() const {
  return reader_->CompatibilityName();
}

rocksdb::FilterBitsBuilder* LevelBloom::GetBuilderWithContext(
    const rocksdb::FilterBuildingContext& context) const {
  const uint32_t centibits = bits_->Get(context.level_at_creation);
  if (centibits == 0) return nullptr;
  return BuiltinFor(centibits).GetBuilderWithContext(context);
}

rocksdb::FilterBitsReader* LevelBloom::GetFilterBitsReader(
    const rocksdb::Slice& contents) const {
  return reader_->GetFilterBitsReader(contents);
}

const rocksdb::FilterPolicy& LevelBloom::BuiltinFor(uint32_t centibits) const {
  std::lock_guard<std::mutex> lock(mutex_);
  auto& policy = builtins_[centibits];
  if (policy == nullptr) {
    policy.reset(rocksdb::NewBloomFilterPolicy(centibits / 100.0));
  }
  return *policy;
}

}  // namespace lissom

struct lissom_level_bloom {
  std::shared_ptr<lissom::LevelBits> bits;
  std::shared_ptr<const lissom::LevelBloom> policy;
};

namespace {

lissom_error BadBits(size_t level, double bits) {
  return lissom::Error("level " + std::to_string(level) + " was given " +
                       std::to_string(bits) +
                       " bits per key; give a number from 0 (no filter) to 100");
}

}  // namespace

extern "C" {

lissom_error lissom_level_bloom_new(const double* bits, size_t count,
                                    lissom_level_bloom** out) {
  return lissom::Guarded([&]() -> lissom_error {
    if (count == 0) return lissom::Error("a filter table needs a level");
    std::vector<uint32_t> centibits;
    for (size_t level = 0; level < count; ++level) {
      const auto value = lissom::LevelBits::ToCentibits(bits[level]);
      if (!value) return BadBits(level, bits[level]);
      centibits.push_back(*value);
    }
    lissom::RegisterObjects();
    auto table = std::make_shared<lissom::LevelBits>(centibits);
    auto policy = std::make_shared<const lissom::LevelBloom>(table);
    *out = new lissom_level_bloom{std::move(table), std::move(policy)};
    return nullptr;
  });
}

void lissom_level_bloom_free(lissom_level_bloom* bloom) { delete bloom; }

lissom_error lissom_level_bloom_set(const lissom_level_bloom* bloom,
                                    size_t level, double bits) {
  return lissom::Guarded([&]() -> lissom_error {
    const auto value = lissom::LevelBits::ToCentibits(bits);
    if (!value) return BadBits(level, bits);
    if (!bloom->bits->Set(level, *value)) {
      return lissom::Error("the filter table has " +
                           std::to_string(bloom->bits->size()) +
                           " levels, so there is no level " +
                           std::to_string(level));
    }
    return nullptr;
  });
}

double lissom_level_bloom_get(const lissom_level_bloom* bloom, size_t level) {
  return bloom->bits->Get(static_cast<int>(level)) / 100.0;
}

lissom_error lissom_level_bloom_id(const lissom_level_bloom* bloom,
                                   lissom_buffer* out) {
  return lissom::Guarded([&]() -> lissom_error {
    lissom::Buffer buffer;
    buffer.PutString(bloom->policy->GetId());
    buffer.Release(out);
    return nullptr;
  });
}

lissom_error lissom_level_bloom_install(const lissom_level_bloom* bloom,
                                        rocksdb_options_t* options) {
  return lissom::Guarded([&]() -> lissom_error {
    rocksdb::Options& target = lissom::OptionsOf(options);
    const auto* table =
        target.table_factory == nullptr
            ? nullptr
            : target.table_factory
                  ->GetOptions<rocksdb::BlockBasedTableOptions>();
    if (table == nullptr) {
      return lissom::Error(
          "per-level filters need the block-based table format; these options "
          "use another table factory");
    }
    // A new factory: copies of these options share the old one.
    rocksdb::BlockBasedTableOptions changed = *table;
    changed.filter_policy = bloom->policy;
    target.table_factory.reset(rocksdb::NewBlockBasedTableFactory(changed));
    return nullptr;
  });
}

}  // extern "C"
