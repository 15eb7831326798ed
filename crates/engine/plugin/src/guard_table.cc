#include "guard_table.h"

#include <algorithm>

namespace lissom {

SharedGuards GuardTable::Get(size_t level) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return level < levels_.size() ? levels_[level] : nullptr;
}

bool GuardTable::Set(size_t first, size_t last, SharedGuards guards) {
  if (guards != nullptr && guards->empty()) guards = nullptr;
  // What is replaced dies after the lock is released.
  std::vector<SharedGuards> replaced;
  std::lock_guard<std::mutex> lock(mutex_);
  if (first > last || last > levels_.size()) return false;
  replaced.assign(last - first, guards);
  std::swap_ranges(replaced.begin(), replaced.end(), levels_.begin() + first);
  return true;
}

bool GuardCursor::Crosses(std::string_view previous, std::string_view current) {
  if (guards_ == nullptr) return false;
  if (!positioned_) {
    next_ = std::upper_bound(guards_->begin(), guards_->end(), previous) -
            guards_->begin();
    positioned_ = true;
  }
  // The common case costs one comparison.
  if (next_ == guards_->size() || current < (*guards_)[next_]) return false;
  while (next_ < guards_->size() && (*guards_)[next_] <= previous) ++next_;
  return next_ < guards_->size() && (*guards_)[next_] <= current;
}

bool GuardCursor::AnyAbove(std::string_view key) const {
  return guards_ != nullptr && !guards_->empty() && guards_->back() > key;
}

}  // namespace lissom
