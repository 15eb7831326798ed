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
// Compactions pay for flushes with so many parts of this many at most, and go on
// with the last one.
constexpr int64_t kParts = 10;
// What flushes took, and no compaction asked for in a second, was nobody's.
constexpr int64_t kMostUnpaidPeriods = 1000 * 1000 / kRefillMicros;
// Within one limiter flushes wait for each other, and compactions for each
// other, in the order in which they came.
constexpr int32_t kFairness = 10;

std::unique_ptr<rocksdb::RateLimiter> New(int64_t bytes_per_second) {
  const int64_t rate = std::max(bytes_per_second, kLeastBytesPerSecond);
  return std::unique_ptr<rocksdb::RateLimiter>(rocksdb::NewGenericRateLimiter(
      rate, kRefillMicros, kFairness, rocksdb::RateLimiter::Mode::kAllIo));
}

}  // namespace

// In a limiter of RocksDB's whoever waits for the refill wakes the others, and a
// compaction at idle priority may get no processor for long. So flushes have a
// limiter of their own, and compactions pay for what they take: both keep a rate
// that holds for some seconds, to within a tenth. While writers are delayed RocksDB
// has compactions ask as flushes do.
class AdjustableRateLimiter::Rate {
 public:
  // `unpaid` is that of all rates, and outlives them.
  Rate(int64_t bytes_per_second, std::atomic<int64_t>* unpaid)
      : flushes_(New(bytes_per_second)),
        compactions_(New(bytes_per_second)),
        unpaid_(unpaid) {}

  int64_t Burst() const { return compactions_->GetSingleBurstBytes(); }

  // `bytes` are at most a burst.
  void Request(int64_t bytes, rocksdb::Env::IOPriority priority,
               rocksdb::Statistics* statistics) {
    if (priority != rocksdb::Env::IO_LOW) {
      flushes_->Request(bytes, priority, statistics);
      Owe(bytes);
      return;
    }
    for (int64_t left = bytes + Pay((kParts - 1) * bytes); left > 0;) {
      const int64_t part = std::min(left, Burst());
      compactions_->Request(part, priority, statistics);
      left -= part;
    }
  }

  // Lets go of whoever waits.
  void End() {
    flushes_->SetBytesPerSecond(kUnlimited);
    compactions_->SetBytesPerSecond(kUnlimited);
  }

 private:
  int64_t MostUnpaid() const { return kMostUnpaidPeriods * Burst(); }

  void Owe(int64_t bytes) {
    int64_t unpaid = *unpaid_;
    while (!unpaid_->compare_exchange_weak(
        unpaid, std::min(unpaid + bytes, MostUnpaid()))) {
    }
  }

  // What of it is paid, `most` at most. What a higher rate left is no more than
  // this one's.
  int64_t Pay(int64_t most) {
    int64_t unpaid = *unpaid_;
    int64_t paid = 0;
    int64_t left = 0;
    do {
      const int64_t owed = std::min(unpaid, MostUnpaid());
      paid = std::min(owed, most);
      left = owed - paid;
    } while (!unpaid_->compare_exchange_weak(unpaid, left));
    return paid;
  }

  const std::unique_ptr<rocksdb::RateLimiter> flushes_;
  const std::unique_ptr<rocksdb::RateLimiter> compactions_;
  std::atomic<int64_t>* const unpaid_;
};

AdjustableRateLimiter::AdjustableRateLimiter(int64_t bytes_per_second)
    : rocksdb::RateLimiter(Mode::kAllIo),
      bytes_per_second_(bytes_per_second),
      inner_(MakeInner(bytes_per_second)) {}

AdjustableRateLimiter::Inner AdjustableRateLimiter::MakeInner(
    int64_t bytes_per_second) {
  if (bytes_per_second == kUnlimited) return nullptr;
  return std::make_shared<Rate>(bytes_per_second, &unpaid_);
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
    const int64_t part = std::min(bytes, inner->Burst());
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
    // What nothing bounded is nobody's debt.
    if (bytes_per_second == kUnlimited) unpaid_ = 0;
  }
  if (replaced != nullptr) replaced->End();
}

int64_t AdjustableRateLimiter::GetBytesPerSecond() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return bytes_per_second_;
}

int64_t AdjustableRateLimiter::GetSingleBurstBytes() const {
  const Inner inner = Current();
  return inner == nullptr ? kUnlimited : inner->Burst();
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
