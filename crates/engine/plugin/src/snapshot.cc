// The files of one column family, all from one version of the tree.
#include "buffer.h"
#include "error.h"
#include "handles.h"
#include "rocksdb/metadata.h"

namespace lissom {
namespace {

// Order of the fields: see FileRow in the Rust module `ffi::snapshot`.
void PutFile(int level, const rocksdb::SstFileMetaData& file, Buffer* buffer) {
  buffer->PutU64(level);
  buffer->PutU64(file.file_number);
  buffer->PutU64(file.size);
  buffer->PutU64(file.num_entries);
  buffer->PutU64(file.num_deletions);
  buffer->PutBool(file.being_compacted);
  buffer->PutU64(file.smallest_seqno);
  buffer->PutU64(file.largest_seqno);
  buffer->PutU64(file.epoch_number);
  buffer->PutU64(file.num_reads_sampled);
  buffer->PutU64(file.file_creation_time);
  buffer->PutString(file.smallestkey);
  buffer->PutString(file.largestkey);
}

}  // namespace
}  // namespace lissom

extern "C" lissom_error lissom_tree_snapshot(lissom_target target,
                                             lissom_buffer* out) {
  return lissom::Guarded([&]() -> lissom_error {
    const lissom::Target found = lissom::Resolve(target);
    rocksdb::ColumnFamilyMetaData metadata;
    // RocksDB fills it under its mutex, for which readers wait after each merge, and would copy
    // all files anew each time that this grows.
    metadata.levels.reserve(found.db->NumberLevels(found.cf));
    found.db->GetColumnFamilyMetaData(found.cf, &metadata);
    lissom::Buffer buffer;
    buffer.PutU64(metadata.levels.size());
    buffer.PutU64(metadata.file_count);
    for (const auto& level : metadata.levels) {
      for (const auto& file : level.files) {
        lissom::PutFile(level.level, file, &buffer);
      }
    }
    buffer.Release(out);
    return nullptr;
  });
}
