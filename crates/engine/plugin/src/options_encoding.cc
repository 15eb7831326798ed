#include "options_encoding.h"

#include "rocksdb/comparator.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/sst_partitioner.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"

namespace lissom {
namespace {

template <typename Object>
void PutNameOf(const Object& object, Buffer* buffer) {
  buffer->PutName(object == nullptr ? nullptr : object->Name());
}

void PutObjects(const rocksdb::ColumnFamilyOptions& options, Buffer* buffer) {
  PutNameOf(options.comparator, buffer);
  buffer->PutU64(options.comparator->timestamp_size());
  PutNameOf(options.merge_operator, buffer);
  PutNameOf(options.compaction_filter, buffer);
  PutNameOf(options.compaction_filter_factory, buffer);
  PutNameOf(options.sst_partitioner_factory, buffer);
  PutNameOf(options.prefix_extractor, buffer);
  PutNameOf(options.table_factory, buffer);
  const auto* table =
      options.table_factory == nullptr
          ? nullptr
          : options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  buffer->PutString(table == nullptr || table->filter_policy == nullptr
                        ? ""
                        : table->filter_policy->GetId());
}

void PutShape(const rocksdb::ColumnFamilyOptions& options, Buffer* buffer) {
  buffer->PutU64(options.compaction_style);
  buffer->PutU64(options.num_levels);
  buffer->PutI64(options.level0_file_num_compaction_trigger);
  buffer->PutI64(options.level0_slowdown_writes_trigger);
  buffer->PutI64(options.level0_stop_writes_trigger);
  buffer->PutU64(options.write_buffer_size);
  buffer->PutU64(options.max_write_buffer_number);
  buffer->PutU64(options.target_file_size_base);
  buffer->PutU64(options.max_bytes_for_level_base);
  buffer->PutDouble(options.max_bytes_for_level_multiplier);
  buffer->PutBool(options.level_compaction_dynamic_level_bytes);
  buffer->PutU64(options.max_compaction_bytes);
  buffer->PutBool(options.disable_auto_compactions);
}

void PutAging(const rocksdb::ColumnFamilyOptions& options, Buffer* buffer) {
  buffer->PutU64(options.ttl);
  buffer->PutU64(options.periodic_compaction_seconds);
  buffer->PutU64(options.preclude_last_level_data_seconds);
  buffer->PutBool(options.enable_blob_files);
  buffer->PutBool(options.cf_allow_ingest_behind);
  buffer->PutU64(static_cast<uint64_t>(options.last_level_temperature));
  buffer->PutU64(options.cf_paths.size());
}

void PutCompression(const rocksdb::ColumnFamilyOptions& options,
                    Buffer* buffer) {
  buffer->PutU64(options.compression);
  buffer->PutU64(options.bottommost_compression);
  buffer->PutU64(options.compression_per_level.size());
  for (const auto type : options.compression_per_level) buffer->PutU64(type);
}

}  // namespace

void PutDbOptions(const rocksdb::DBOptions& options, Buffer* buffer) {
  buffer->PutU64(options.max_background_jobs);
  buffer->PutU64(options.max_subcompactions);
  buffer->PutI64(options.max_open_files);
  buffer->PutBool(options.use_direct_reads);
  buffer->PutBool(options.use_direct_io_for_flush_and_compaction);
  buffer->PutBool(options.allow_ingest_behind);
  buffer->PutBool(options.atomic_flush);
  buffer->PutBool(options.rate_limiter != nullptr);
  buffer->PutBool(options.statistics != nullptr);
  buffer->PutBool(options.compaction_service != nullptr);
  buffer->PutU64(options.db_paths.size());
  buffer->PutBool(options.env != rocksdb::Env::Default());
  buffer->PutString(options.wal_dir);
}

void PutColumnFamilyOptions(const std::string& name,
                            const rocksdb::ColumnFamilyOptions& options,
                            Buffer* buffer) {
  buffer->PutString(name);
  PutObjects(options, buffer);
  PutShape(options, buffer);
  PutAging(options, buffer);
  PutCompression(options, buffer);
}

}  // namespace lissom
