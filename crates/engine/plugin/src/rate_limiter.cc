// A bound on the bytes per second of background I/O that can be moved while the
// database runs.
#include <memory>

#include "adjustable_rate_limiter.h"
#include "error.h"
#include "handles.h"

struct lissom_rate_limiter {
  std::shared_ptr<lissom::AdjustableRateLimiter> limiter;
};

namespace {

lissom_error CheckRate(int64_t bytes_per_second) {
  if (bytes_per_second > 0) return nullptr;
  return lissom::Error("a rate limit of " + std::to_string(bytes_per_second) +
                       " bytes per second would stop all background I/O; give "
                       "at least 1");
}

}  // namespace

extern "C" {

lissom_error lissom_rate_limiter_new(int64_t bytes_per_second,
                                     lissom_rate_limiter** out) {
  return lissom::Guarded([&]() -> lissom_error {
    if (lissom_error error = CheckRate(bytes_per_second)) return error;
    auto limiter =
        std::make_shared<lissom::AdjustableRateLimiter>(bytes_per_second);
    *out = new lissom_rate_limiter{std::move(limiter)};
    return nullptr;
  });
}

void lissom_rate_limiter_free(lissom_rate_limiter* limiter) { delete limiter; }

lissom_error lissom_rate_limiter_set(const lissom_rate_limiter* limiter,
                                     int64_t bytes_per_second) {
  return lissom::Guarded([&]() -> lissom_error {
    if (lissom_error error = CheckRate(bytes_per_second)) return error;
    limiter->limiter->SetBytesPerSecond(bytes_per_second);
    return nullptr;
  });
}

int64_t lissom_rate_limiter_get(const lissom_rate_limiter* limiter) {
  return limiter->limiter->GetBytesPerSecond();
}

int64_t lissom_rate_limiter_total(const lissom_rate_limiter* limiter) {
  return limiter->limiter->GetTotalBytesThrough(rocksdb::Env::IO_TOTAL);
}

lissom_error lissom_rate_limiter_install(const lissom_rate_limiter* limiter,
                                         rocksdb_options_t* options) {
  return lissom::Guarded([&]() -> lissom_error {
    lissom::OptionsOf(options).rate_limiter = limiter->limiter;
    return nullptr;
  });
}

}  // extern "C"
