#include "adjustable_rate_limiter.h"

#include <algorithm>
#include <utility>

namespace lissom {
namespace {

// Short, so that a waiting thread soon sees a change.
constexpr int64_t kRefillMicros = 25 * 1000;
// A byte in each period. Of a rate below it RocksDB's limiter makes no byte at all:
// its single burst is 0, and a request in bursts of 0 never ends.
constexpr int64_t kLeastBytesPerSecond = 1000 * 1000 / kRefillMicros;
// One chance in this many that a compaction is served before a flush.
constexpr int32_t kFairness = 10;

}  // namespace

AdjustableRateLimiter::AdjustableRateLimiter(int64_t bytes_per_second)
    : rocksdb::RateLimiter(Mode::kAllIo),
      bytes_per_second_(bytes_per_second),
      inner_(MakeInner(bytes_per_second)) {}

AdjustableRateLimiter::Inner AdjustableRateLimiter::MakeInner(
    int64_t bytes_per_second) {
  if (bytes_per_second == kUnlimited) return nullptr;
  const int64_t rate = std::max(bytes_per_second, kLeastBytesPerSecond);
  return Inner(rocksdb::NewGenericRateLimiter(rate, kRefillMicros, kFairness,
                                              Mode::kAllIo));
}

AdjustableRateLimiter::Inner AdjustableRateLimiter::Current() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return inner_;
}

void AdjustableRateLimiter::Request(int64_t bytes,
                                    rocksdb::Env::IOPriority priority,
                                    rocksdb::Statistics* statistics) {
  bytes_[priority] += bytes;
  bytes_[rocksdb::Env::IO_TOTAL] += bytes;
  requests_[priority] += 1;
  requests_[rocksdb::Env::IO_TOTAL] += 1;
  // In bursts, each under the rate of its moment: the caller has measured its
  // request by a burst size that may be outdated.
  while (bytes > 0) {
    const Inner inner = Current();
    if (inner == nullptr) return;
    const int64_t part = std::min(bytes, inner->GetSingleBurstBytes());
    inner->Request(part, priority, statistics);
    bytes -= part;
  }
}

void AdjustableRateLimiter::SetBytesPerSecond(int64_t bytes_per_second) {
  Inner replaced = MakeInner(bytes_per_second);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (bytes_per_second == bytes_per_second_) return;
    bytes_per_second_ = bytes_per_second;
    std::swap(inner_, replaced);
  }
  if (replaced != nullptr) replaced->SetBytesPerSecond(kUnlimited);
}

int64_t AdjustableRateLimiter::GetBytesPerSecond() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return bytes_per_second_;
}

int64_t AdjustableRateLimiter::GetSingleBurstBytes() const {
  const Inner inner = Current();
  return inner == nullptr ? kUnlimited : inner->GetSingleBurstBytes();
}

int64_t AdjustableRateLimiter::GetTotalBytesThrough(
    rocksdb::Env::IOPriority priority) const {
  return bytes_[priority];
}

int64_t AdjustableRateLimiter::GetTotalRequests(
    rocksdb::Env::IOPriority priority) const {
  return requests_[priority];
}

}  // namespace lissom
