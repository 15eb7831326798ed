// Threads in the pool of the flushes, to which RocksDB gives the deletion of
// files that readers held to the last, too.
#include "db/db_impl/db_impl.h"
#include "error.h"
#include "handles.h"
#include "rocksdb/env.h"

extern "C" lissom_error lissom_spare_flush_threads(rocksdb_options_t* options,
                                                   uint32_t spare) {
  return lissom::Guarded([&]() -> lissom_error {
    const rocksdb::Options& target = lissom::OptionsOf(options);
    // RocksDB begins no more flushes at a time for it.
    const int flushes =
        rocksdb::DBImpl::GetBGJobLimits(target.max_background_flushes,
                                        target.max_background_compactions,
                                        target.max_background_jobs,
                                        /*parallelize_compactions=*/true)
            .max_flushes;
    target.env->IncBackgroundThreadsIfNeeded(flushes + static_cast<int>(spare),
                                             rocksdb::Env::Priority::HIGH);
    return nullptr;
  });
}
