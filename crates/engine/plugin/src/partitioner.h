// Cuts compaction outputs at guard keys, so that the files of several runs
// share their borders.
#pragma once

#include <memory>
#include <utility>

#include "guard_table.h"
#include "rocksdb/sst_partitioner.h"

namespace lissom {

class GuardPartitioner : public rocksdb::SstPartitioner {
 public:
  explicit GuardPartitioner(SharedGuards guards) : cursor_(std::move(guards)) {}

  const char* Name() const override { return "lissom.GuardPartitioner"; }

  // Guards are no prefix code, so the answer is either "ask for each key", or,
  // where no guard is left above `user_key`, the empty prefix, which spares
  // RocksDB the questions for the rest of the compaction.
  rocksdb::OptSlice ShouldPartitionByPrefix(
      const rocksdb::Slice& user_key) override;
  rocksdb::PartitionerResult ShouldPartition(
      const rocksdb::PartitionerRequest& request) override;
  // A moved file may straddle a guard. The next merge cuts it; refusing would
  // turn a free move into a silent rewrite.
  bool CanDoTrivialMove(const rocksdb::Slice&, const rocksdb::Slice&) override {
    return true;
  }

 private:
  GuardCursor cursor_;
};

class GuardPartitionerFactory : public rocksdb::SstPartitionerFactory {
 public:
  static constexpr const char* kClassName = "lissom.GuardPartitioner";

  explicit GuardPartitionerFactory(std::shared_ptr<GuardTable> table)
      : table_(std::move(table)) {}

  const char* Name() const override { return kClassName; }
  std::unique_ptr<rocksdb::SstPartitioner> CreatePartitioner(
      const rocksdb::SstPartitioner::Context& context) const override;

 private:
  const std::shared_ptr<GuardTable> table_;
};

}  // namespace lissom
