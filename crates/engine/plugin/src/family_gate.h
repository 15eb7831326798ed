// Counts who commits to a column family, and holds back who would begin.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace lissom {

class FamilyGate {
 public:
  using Time = std::chrono::milliseconds;

  // A commit is held for at most `longest_hold`.
  explicit FamilyGate(Time longest_hold) : longest_hold_(longest_hold) {}

  // Closed once more for each call, until as many calls of Open. Waits for the commits
  // that have begun, but not for ever.
  void Close(const std::string& family);
  void Open(const std::string& family);

  // Waits while the family is closed.
  void BeginCommit(const std::string& family);
  void EndCommit(const std::string& family);

 private:
  struct Family {
    uint64_t closed = 0;
    uint64_t committing = 0;
  };

  void Leave(const std::string& name, uint64_t Family::* count);

  const Time longest_hold_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Family> families_;
};

}  // namespace lissom
