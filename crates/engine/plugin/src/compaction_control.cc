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
    return nullptr;
  });
}

}  // extern "C"
