// The lock that RocksDB takes on a directory which it opens.
#include <memory>
#include <string>

#include "error.h"
#include "rocksdb/env.h"

struct lissom_directory_lock {
  rocksdb::FileLock* lock = nullptr;
};

extern "C" {

lissom_error lissom_directory_lock_new(const char* path, size_t path_size,
                                       lissom_directory_lock** out) {
  return lissom::Guarded([&]() -> lissom_error {
    auto held = std::make_unique<lissom_directory_lock>();
    // The name that DBImpl::Recover locks (LockFileName in file/filename.cc).
    const std::string file = std::string(path, path_size) + "/LOCK";
    const rocksdb::Status status =
        rocksdb::Env::Default()->LockFile(file, &held->lock);
    if (!status.ok()) return lissom::Error(status);
    *out = held.release();
    return nullptr;
  });
}

void lissom_directory_lock_free(lissom_directory_lock* lock) {
  if (lock == nullptr) return;
  rocksdb::Env::Default()->UnlockFile(lock->lock).PermitUncheckedError();
  delete lock;
}

}  // extern "C"
