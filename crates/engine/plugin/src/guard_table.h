// Guard keys for each physical level, replaced by one thread while others
// compact, and the cursor that a compaction walks over them.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lissom {

// Strictly ascending in byte order.
using Guards = std::vector<std::string>;
using SharedGuards = std::shared_ptr<const Guards>;

class GuardTable {
 public:
  explicit GuardTable(size_t levels) : levels_(levels) {}

  // Null for a level without guards, or beyond the table.
  SharedGuards Get(size_t level) const;
  // Replaces the guards of levels first ... last-1; a null or empty vector
  // removes them. False where the table is shorter or first > last.
  bool Set(size_t first, size_t last, SharedGuards guards);
  size_t size() const { return levels_.size(); }

 private:
  mutable std::mutex mutex_;
  std::vector<SharedGuards> levels_;
};

// Answers whether a guard lies between neighbouring keys of one ascending
// sequence. It holds its own reference to the guards, so a replacement touches
// no running compaction. Constant time per key, amortised.
class GuardCursor {
 public:
  explicit GuardCursor(SharedGuards guards) : guards_(std::move(guards)) {}

  // Is there a guard g with previous < g <= current?
  bool Crosses(std::string_view previous, std::string_view current);
  // Is there a guard above `key`?
  bool AnyAbove(std::string_view key) const;

 private:
  const SharedGuards guards_;
  bool positioned_ = false;
  // Every guard before it is <= the last previous key that needed a look.
  size_t next_ = 0;
};

}  // namespace lissom
