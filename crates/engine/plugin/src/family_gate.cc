#include "family_gate.h"

namespace lissom {

namespace {
constexpr FamilyGate::Time kPatience{10000};
}  // namespace

void FamilyGate::Close(const std::string& family) {
  std::unique_lock<std::mutex> lock(mutex_);
  ++families_[family].closed;
  changed_.wait_for(lock, kPatience,
                    [&] { return families_[family].committing == 0; });
}

void FamilyGate::Open(const std::string& family) {
  std::lock_guard<std::mutex> lock(mutex_);
  Leave(family, &Family::closed);
}

void FamilyGate::BeginCommit(const std::string& family) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, longest_hold_,
                    [&] { return families_[family].closed == 0; });
  ++families_[family].committing;
}

void FamilyGate::EndCommit(const std::string& family) {
  std::lock_guard<std::mutex> lock(mutex_);
  Leave(family, &Family::committing);
}

// The caller holds the mutex. Names are looked up anew by whoever waits, so that
// one without a use may go.
void FamilyGate::Leave(const std::string& name, uint64_t Family::* count) {
  const auto found = families_.find(name);
  if (found == families_.end()) return;
  Family& family = found->second;
  if (family.*count > 0) --(family.*count);
  if (family.closed == 0 && family.committing == 0) families_.erase(found);
  changed_.notify_all();
}

}  // namespace lissom
