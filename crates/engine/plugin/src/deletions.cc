// How fast table files are deleted that nobody reads any more.
//
// A file system takes milliseconds of a processor to free a file, and a merge
// leaves many behind at once: reads meanwhile take several times as long.
#include <memory>
#include <mutex>

#include "error.h"
#include "handles.h"
#include "rocksdb/env.h"
#include "rocksdb/sst_file_manager.h"

struct lissom_deletions {
  const int64_t bytes_per_second;
  // One for all options of a database, made for the environment of the first.
  mutable std::mutex mutex;
  mutable std::shared_ptr<rocksdb::SstFileManager> manager;
};

namespace {

// Of the bytes in the database, those that wait included: where more would wait,
// the rest is deleted at once. RocksDB's own default is a quarter, which the peak
// of the space that a store takes would have on top.
constexpr double kMostTrash = 0.05;

// Files go whole. RocksDB would cut a large one shorter bit by bit, under the
// hands of a read-only or secondary handle of another process that has it open.
constexpr uint64_t kNoChunks = 0;

std::shared_ptr<rocksdb::SstFileManager> NewManager(
    const lissom_deletions& deletions, rocksdb::Env* env) {
  // Without a log: it would have a line for each file.
  return std::shared_ptr<rocksdb::SstFileManager>(rocksdb::NewSstFileManager(
      env, env->GetFileSystem(), /*info_log=*/nullptr, /*trash_dir=*/"",
      deletions.bytes_per_second, /*delete_existing_trash=*/true,
      /*status=*/nullptr, kMostTrash, kNoChunks));
}

}  // namespace

extern "C" {

lissom_error lissom_deletions_new(int64_t bytes_per_second,
                                  lissom_deletions** out) {
  return lissom::Guarded([&]() -> lissom_error {
    *out = new lissom_deletions{bytes_per_second, {}, {}};
    return nullptr;
  });
}

void lissom_deletions_free(lissom_deletions* deletions) { delete deletions; }

lissom_error lissom_deletions_install(const lissom_deletions* deletions,
                                      rocksdb_options_t* options) {
  return lissom::Guarded([&]() -> lissom_error {
    rocksdb::Options& target = lissom::OptionsOf(options);
    // The application's own stays.
    if (target.sst_file_manager != nullptr) return nullptr;
    const std::lock_guard<std::mutex> lock(deletions->mutex);
    if (deletions->manager == nullptr) {
      deletions->manager = NewManager(*deletions, target.env);
    }
    target.sst_file_manager = deletions->manager;
    return nullptr;
  });
}

}  // extern "C"
