// A Bloom filter policy whose bits per key depend on the physical level.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "level_bits.h"
#include "rocksdb/filter_policy.h"

namespace lissom {

// Reads and writes RocksDB's own Bloom filters, so any RocksDB uses the files.
class LevelBloom : public rocksdb::FilterPolicy {
 public:
  static constexpr const char* kClassName = "lissom.LevelBloom";
  static constexpr const char* kSeparator = ":";

  explicit LevelBloom(std::shared_ptr<LevelBits> bits);

  const char* Name() const override { return kClassName; }
  // The bits at the policy's creation. RocksDB compares the id with the OPTIONS
  // file that it has just written and calls a difference corruption, so the id
  // must not follow the table.
  std::string GetId() const override { return id_; }
  const char* CompatibilityName() const override;
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override;
  rocksdb::FilterBitsReader* GetFilterBitsReader(
      const rocksdb::Slice& contents) const override;

  const LevelBits& bits() const { return *bits_; }

 private:
  const rocksdb::FilterPolicy& BuiltinFor(uint32_t centibits) const;

  const std::shared_ptr<LevelBits> bits_;
  const std::string id_;
  const std::unique_ptr<const rocksdb::FilterPolicy> reader_;
  // A builder points into the policy that made it (it balances rounding between
  // filters), so a policy lives as long as this object, which the builder's
  // table options hold.
  mutable std::mutex mutex_;
  mutable std::map<uint32_t, std::unique_ptr<const rocksdb::FilterPolicy>>
      builtins_;
};

}  // namespace lissom
