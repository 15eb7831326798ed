// Stopping the compactions of one column family, and letting them go on.
#include "error.h"
#include "handles.h"

extern "C" {

lissom_error lissom_abort_compactions(lissom_target target) {
  return lissom::Guarded([&]() -> lissom_error {
    const lissom::Target found = lissom::Resolve(target);
    found.db->AbortCompactions(found.cf);
    return nullptr;
  });
}

lissom_error lissom_resume_compactions(lissom_target target) {
  return lissom::Guarded([&]() -> lissom_error {
    const lissom::Target found = lissom::Resolve(target);
    found.db->ResumeCompactions(found.cf);
    // RocksDB forgets its own compaction that was aborted until the next flush
    // (see the TODO in DBImpl::ResumeCompactions), and at L0's stop trigger no
    // flush comes. Suggesting a range without keys counts L0 anew.
    const rocksdb::Slice none;
    found.db->SuggestCompactRange(found.cf, &none, &none).PermitUncheckedError();
    return nullptr;
  });
}

}  // extern "C"
