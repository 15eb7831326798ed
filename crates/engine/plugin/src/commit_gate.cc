// Holds compactions of RocksDB's own back before they commit. CompactFiles tells
// listeners nothing, and passes.
#include <memory>
#include <string>

#include "error.h"
#include "family_gate.h"
#include "handles.h"
#include "rocksdb/listener.h"

namespace lissom {

// RocksDB does not tell of a commit's end while it shuts down: who closes the gate then
// waits out its patience.
class CommitGate : public rocksdb::EventListener {
 public:
  explicit CommitGate(FamilyGate::Time longest_hold) : gate_(longest_hold) {}

  FamilyGate& gate() { return gate_; }

  void OnCompactionPreCommit(rocksdb::DB*,
                             const rocksdb::CompactionJobInfo& job) override {
    gate_.BeginCommit(job.cf_name);
  }

  // The new tree is the one that everybody sees by now.
  void OnCompactionCompleted(rocksdb::DB*,
                             const rocksdb::CompactionJobInfo& job) override {
    gate_.EndCommit(job.cf_name);
  }

 private:
  FamilyGate gate_;
};

}  // namespace lissom

struct lissom_commit_gate {
  std::shared_ptr<lissom::CommitGate> listener;
};

extern "C" {

lissom_error lissom_commit_gate_new(uint64_t longest_hold_millis,
                                    lissom_commit_gate** out) {
  return lissom::Guarded([&]() -> lissom_error {
    const lissom::FamilyGate::Time hold(longest_hold_millis);
    *out = new lissom_commit_gate{std::make_shared<lissom::CommitGate>(hold)};
    return nullptr;
  });
}

void lissom_commit_gate_free(lissom_commit_gate* gate) { delete gate; }

lissom_error lissom_commit_gate_install(const lissom_commit_gate* gate,
                                        rocksdb_options_t* options) {
  return lissom::Guarded([&]() -> lissom_error {
    lissom::OptionsOf(options).listeners.push_back(gate->listener);
    return nullptr;
  });
}

lissom_error lissom_commit_gate_close(const lissom_commit_gate* gate,
                                      const char* family, size_t family_size) {
  return lissom::Guarded([&]() -> lissom_error {
    gate->listener->gate().Close(std::string(family, family_size));
    return nullptr;
  });
}

lissom_error lissom_commit_gate_open(const lissom_commit_gate* gate,
                                     const char* family, size_t family_size) {
  return lissom::Guarded([&]() -> lissom_error {
    gate->listener->gate().Open(std::string(family, family_size));
    return nullptr;
  });
}

}  // extern "C"
