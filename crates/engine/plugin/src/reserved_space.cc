// Space on the disk that RocksDB reserves for compactions.
//
// CompactFiles reserves as much as its inputs have. RocksDB 11.12 gives it back after a
// merge and forgets it after a move (DBImpl::CompactFilesImpl).
#include <algorithm>
#include <memory>

#include "error.h"
// Internal: the public functions of a manager only tell the sum.
#include "file/sst_file_manager_impl.h"
#include "handles.h"

namespace lissom {

using Manager = rocksdb::SstFileManagerImpl;

void Take(rocksdb::port::Mutex* mutex, uint64_t* reserved, uint64_t bytes) {
  const rocksdb::MutexLock lock(mutex);
  *reserved -= std::min(*reserved, bytes);
}

// The manager takes a reservation back for a Compaction alone, which is gone by then. Names
// in an explicit instantiation may be private ([temp.spec]), so this reaches the count
// and the mutex that guards it.
template <uint64_t Manager::*kReserved, rocksdb::port::Mutex Manager::*kMutex>
struct Inside {
  friend void Release(Manager& manager, uint64_t bytes) {
    Take(&(manager.*kMutex), &(manager.*kReserved), bytes);
  }
};
template struct Inside<&Manager::cur_compactions_reserved_size_,
                       &Manager::mu_>;
void Release(Manager& manager, uint64_t bytes);

}  // namespace lissom

extern "C" {

lissom_error lissom_release_reserved_space(lissom_target target,
                                           uint64_t bytes) {
  return lissom::Guarded([&]() -> lissom_error {
    // RocksDB makes a manager where the application gives none, and casts it so, too.
    const std::shared_ptr<rocksdb::SstFileManager> manager =
        lissom::Resolve(target).db->GetDBOptions().sst_file_manager;
    if (manager == nullptr) return nullptr;
    lissom::Release(*static_cast<lissom::Manager*>(manager.get()), bytes);
    return nullptr;
  });
}

}  // extern "C"
