#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "check.h"
#include "family_gate.h"
#include "guard_table.h"
#include "level_bits.h"
#include "pure_test.h"

namespace lissom_test {
namespace {

constexpr auto kTime = std::chrono::milliseconds(300);

// One thread replaces the guards of all levels, others compact: every cursor
// sees one whole list.
void GuardsAreReplacedWhole() {
  lissom::GuardTable table(4);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int n = 1; !stop; n = n % 50 + 1) {
      auto guards = std::make_shared<lissom::Guards>();
      for (int i = 0; i < n; ++i) {
        guards->push_back(std::to_string(100 + n) + std::to_string(100 + i));
      }
      table.Set(0, 4, guards);
    }
  });
  std::vector<std::thread> readers;
  for (size_t level = 0; level < 3; ++level) {
    readers.emplace_back([&, level] {
      while (!stop) {
        const lissom::SharedGuards guards = table.Get(level);
        if (guards == nullptr) continue;
        const std::string stamp = guards->front().substr(0, 3);
        CHECK(guards->size() == std::stoul(stamp) - 100);
        CHECK(guards->back().substr(0, 3) == stamp);
        lissom::GuardCursor cursor(guards);
        CHECK(cursor.Crosses("", "9"));
      }
    });
  }
  std::this_thread::sleep_for(kTime);
  stop = true;
  writer.join();
  for (auto& reader : readers) reader.join();
}

void BitsChangeUnderReaders() {
  lissom::LevelBits bits(std::vector<uint32_t>(8, 500));
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (uint32_t n = 0; !stop; ++n) bits.Set(n % 8, 500 + n % 500);
  });
  std::thread reader([&] {
    while (!stop) {
      for (int level = -1; level < 10; ++level) {
        const uint32_t value = bits.Get(level);
        CHECK(value >= 500 && value < 1000);
      }
      const auto read = lissom::LevelBits::FromText(bits.ToText());
      // The text is read value by value, so a run may be cut, but it parses.
      CHECK(read.has_value() && read->size() == 8);
    }
  });
  std::this_thread::sleep_for(kTime);
  stop = true;
  writer.join();
  reader.join();
}

// However many threads close, open and commit: nobody commits behind a closed gate.
void NobodyCommitsBehindAClosedGate() {
  lissom::FamilyGate gate(std::chrono::minutes(1));
  std::atomic<bool> stop{false};
  std::atomic<int> committing{0};
  std::vector<std::thread> threads;
  for (int n = 0; n < 2; ++n) {
    threads.emplace_back([&] {
      while (!stop) {
        gate.BeginCommit("family");
        ++committing;
        std::this_thread::yield();
        --committing;
        gate.EndCommit("family");
      }
    });
    threads.emplace_back([&] {
      while (!stop) {
        gate.Close("family");
        CHECK(committing == 0);
        gate.Open("family");
        std::this_thread::yield();
      }
    });
  }
  std::this_thread::sleep_for(kTime);
  stop = true;
  for (auto& thread : threads) thread.join();
  CHECK(committing == 0);
}

void AGateHoldsOneFamilyAndNotForEver() {
  using Clock = std::chrono::steady_clock;
  lissom::FamilyGate gate(std::chrono::milliseconds(50));
  gate.Close("closed");
  gate.BeginCommit("other");
  gate.EndCommit("other");
  const auto before = Clock::now();
  gate.BeginCommit("closed");
  CHECK(Clock::now() - before >= std::chrono::milliseconds(50));
  gate.EndCommit("closed");
  gate.Open("closed");
  // More openings than closings are none.
  gate.Open("closed");
  gate.Close("closed");
  gate.Open("closed");
}

}  // namespace

void TestConcurrency() {
  GuardsAreReplacedWhole();
  BitsChangeUnderReaders();
  NobodyCommitsBehindAClosedGate();
  AGateHoldsOneFamilyAndNotForEver();
}

}  // namespace lissom_test
