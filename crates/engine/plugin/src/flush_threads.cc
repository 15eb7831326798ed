// Threads in the pool of the flushes, to which RocksDB gives the deletion of
// files that readers held to the last, too.
#include <algorithm>

#include "error.h"
#include "handles.h"
#include "rocksdb/env.h"

extern "C" lissom_error lissom_spare_flush_threads(rocksdb_options_t* options,
                                                   uint32_t spare) {
  return lissom::Guarded([&]() -> lissom_error {
    const rocksdb::Options& target = lissom::OptionsOf(options);
    // As DBImpl::GetBGJobLimits has it, so RocksDB begins no more flushes at a
    // time than before.
    const bool by_jobs = target.max_background_flushes == -1 &&
                         target.max_background_compactions == -1;
    const int flushes = std::max(1, by_jobs ? target.max_background_jobs / 4
                                            : target.max_background_flushes);
    target.env->IncBackgroundThreadsIfNeeded(flushes + static_cast<int>(spare),
                                             rocksdb::Env::Priority::HIGH);
    return nullptr;
  });
}
