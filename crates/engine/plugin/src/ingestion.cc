// Table files from outside, in RocksDB's two steps: the first one takes long and is seen by
// nobody, the second one makes them part of the tree.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "error.h"
#include "handles.h"

struct lissom_ingestion {
  rocksdb::DB* db;
  // Removes the files where it goes without a commit.
  std::unique_ptr<rocksdb::FileIngestionHandle> handle;
};

extern "C" {

lissom_error lissom_ingestion_prepare(
    lissom_target target, rocksdb_ingestexternalfileoptions_t* options,
    const char* const* paths, size_t count, lissom_ingestion** out) {
  return lissom::Guarded([&]() -> lissom_error {
    const lissom::Target found = lissom::Resolve(target);
    auto prepared = std::make_unique<lissom_ingestion>();
    prepared->db = found.db;
    const std::vector<std::string> files(paths, paths + count);
    const rocksdb::Status status = found.db->PrepareFileIngestion(
        found.cf, files, lissom::IngestionOptionsOf(options),
        &prepared->handle);
    if (!status.ok()) return lissom::Error(status);
    *out = prepared.release();
    return nullptr;
  });
}

lissom_error lissom_ingestion_commit(lissom_ingestion* ingestion) {
  return lissom::Guarded([&]() -> lissom_error {
    return lissom::Error(ingestion->db->CommitFileIngestionHandle(
        std::move(ingestion->handle)));
  });
}

void lissom_ingestion_free(lissom_ingestion* ingestion) { delete ingestion; }

}  // extern "C"
