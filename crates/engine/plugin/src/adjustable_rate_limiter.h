// A rate limiter whose new rate holds at once.
//
// RocksDB's own keeps, when its rate is lowered, what one refill period of the
// old rate had put aside: after a rate that meant "unlimited", terabytes.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>

#include "rocksdb/rate_limiter.h"

namespace lissom {

// Each rate gets fresh limiters of RocksDB's; who waits in the old ones is let
// go within one refill period. Flushes come before compactions, as there, and
// wait for none of them unless writers are delayed.
class AdjustableRateLimiter : public rocksdb::RateLimiter {
 public:
  static constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

  // `bytes_per_second` is at least 1.
  explicit AdjustableRateLimiter(int64_t bytes_per_second);

  using rocksdb::RateLimiter::Request;
  void Request(int64_t bytes, rocksdb::Env::IOPriority priority,
               rocksdb::Statistics* statistics) override;
  void SetBytesPerSecond(int64_t bytes_per_second) override;
  int64_t GetBytesPerSecond() const override;
  int64_t GetSingleBurstBytes() const override;
  int64_t GetTotalBytesThrough(
      rocksdb::Env::IOPriority priority) const override;
  int64_t GetTotalRequests(rocksdb::Env::IOPriority priority) const override;

 private:
  class Rate;
  using Inner = std::shared_ptr<Rate>;
  using Counters = std::array<std::atomic<int64_t>, rocksdb::Env::IO_TOTAL + 1>;

  Inner MakeInner(int64_t bytes_per_second);
  Inner Current() const;

  // Bytes of flushes that compactions have not paid for.
  std::atomic<int64_t> unpaid_{0};
  mutable std::mutex mutex_;
  int64_t bytes_per_second_;
  Inner inner_;  // null: unlimited
  Counters bytes_ = {};
  Counters requests_ = {};
};

}  // namespace lissom
