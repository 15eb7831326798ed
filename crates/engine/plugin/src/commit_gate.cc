// Holds compactions of RocksDB's own back before they commit. CompactFiles tells
// listeners nothing, and passes.
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "error.h"
#include "handles.h"
#include "rocksdb/listener.h"

namespace lissom {

class CommitGate : public rocksdb::EventListener {
 public:
  using Time = std::chrono::milliseconds;

  explicit CommitGate(Time longest_hold) : longest_hold_(longest_hold) {}

  // Waits for the commits that have begun. RocksDB does not tell of their end while
  // it shuts down, and waiting has an end.
  void Close(const std::string& family) {
    std::unique_lock<std::mutex> lock(mutex_);
    ++families_[family].closed;
    changed_.wait_for(lock, kPatience,
                      [&] { return families_[family].committing == 0; });
  }

  void Open(const std::string& family) {
    std::lock_guard<std::mutex> lock(mutex_);
    Leave(family, &Family::closed);
  }

  void OnCompactionPreCommit(rocksdb::DB*,
                             const rocksdb::CompactionJobInfo& job) override {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, longest_hold_,
                      [&] { return families_[job.cf_name].closed == 0; });
    ++families_[job.cf_name].committing;
  }

  // The new tree is the one that everybody sees by now.
  void OnCompactionCompleted(rocksdb::DB*,
                             const rocksdb::CompactionJobInfo& job) override {
    std::lock_guard<std::mutex> lock(mutex_);
    Leave(job.cf_name, &Family::committing);
  }

 private:
  struct Family {
    uint64_t closed = 0;
    uint64_t committing = 0;
  };

  static constexpr Time kPatience{10000};

  // The caller holds the mutex. Names are looked up anew by whoever waits, so that
  // one without a use may go.
  void Leave(const std::string& name, uint64_t Family::* count) {
    const auto found = families_.find(name);
    if (found == families_.end()) return;
    Family& family = found->second;
    if (family.*count > 0) --(family.*count);
    if (family.closed == 0 && family.committing == 0) families_.erase(found);
    changed_.notify_all();
  }

  const Time longest_hold_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Family> families_;
};

}  // namespace lissom

struct lissom_commit_gate {
  std::shared_ptr<lissom::CommitGate> gate;
};

extern "C" {

lissom_error lissom_commit_gate_new(uint64_t longest_hold_millis,
                                    lissom_commit_gate** out) {
  return lissom::Guarded([&]() -> lissom_error {
    const lissom::CommitGate::Time hold(longest_hold_millis);
    *out = new lissom_commit_gate{std::make_shared<lissom::CommitGate>(hold)};
    return nullptr;
  });
}

void lissom_commit_gate_free(lissom_commit_gate* gate) { delete gate; }

lissom_error lissom_commit_gate_install(const lissom_commit_gate* gate,
                                        rocksdb_options_t* options) {
  return lissom::Guarded([&]() -> lissom_error {
    lissom::OptionsOf(options).listeners.push_back(gate->gate);
    return nullptr;
  });
}

lissom_error lissom_commit_gate_close(const lissom_commit_gate* gate,
                                      const char* family, size_t family_size) {
  return lissom::Guarded([&]() -> lissom_error {
    gate->gate->Close(std::string(family, family_size));
    return nullptr;
  });
}

lissom_error lissom_commit_gate_open(const lissom_commit_gate* gate,
                                     const char* family, size_t family_size) {
  return lissom::Guarded([&]() -> lissom_error {
    gate->gate->Open(std::string(family, family_size));
    return nullptr;
  });
}

}  // extern "C"
