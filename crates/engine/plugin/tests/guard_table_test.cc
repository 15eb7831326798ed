#include "guard_table.h"

#include <random>

#include "check.h"
#include "pure_test.h"

namespace lissom_test {
namespace {

using lissom::GuardCursor;
using lissom::Guards;
using lissom::GuardTable;
using lissom::SharedGuards;

SharedGuards Make(Guards guards) {
  return std::make_shared<const Guards>(std::move(guards));
}

void Borders() {
  GuardCursor cursor(Make({"d", "g", "h"}));
  CHECK(!cursor.Crosses("a", "b"));
  CHECK(cursor.Crosses("b", "d"));   // the guard itself opens the next file
  CHECK(!cursor.Crosses("d", "e"));  // and does not cut twice
  CHECK(cursor.Crosses("e", "z"));   // two guards, one cut
  CHECK(!cursor.Crosses("z", "zz"));
}

void SkippedQuestions() {
  // RocksDB does not ask about the first key of a file.
  GuardCursor cursor(Make({"d", "g"}));
  CHECK(!cursor.Crosses("a", "b"));
  CHECK(!cursor.Crosses("d", "e"));
  CHECK(cursor.Crosses("f", "g"));
  // A cursor may start anywhere.
  GuardCursor late(Make({"d", "g"}));
  CHECK(!late.Crosses("d", "f"));
  CHECK(late.Crosses("f", "k"));
}

void Bytes() {
  // Byte order is unsigned, and NUL is a byte like others.
  GuardCursor cursor(Make({std::string("a\0b", 3), "\x80"}));
  CHECK(!cursor.Crosses("a", std::string("a\0a", 3)));
  CHECK(cursor.Crosses(std::string("a\0a", 3), "b"));
  CHECK(!cursor.Crosses("b", "\x7f"));
  CHECK(cursor.Crosses("\x7f", "\xff"));
}

void NoGuards() {
  GuardCursor none(nullptr);
  CHECK(!none.Crosses("a", "z"));
  CHECK(!none.AnyAbove(""));
  GuardCursor some(Make({"d", "g"}));
  CHECK(some.AnyAbove("f"));
  CHECK(!some.AnyAbove("g"));
}

// Against the definition, on random ascending keys and guards.
void Definition() {
  std::mt19937 random(20260101);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> keys;
    Guards guards;
    for (int n = 0; n < 1000; ++n) {
      const std::string key = std::to_string(1000 + n);
      if (random() % 3 == 0) keys.push_back(key);
      if (random() % (1 + round) == 0) guards.push_back(key + (n % 2 ? "" : "x"));
    }
    const SharedGuards shared = Make(guards);
    GuardCursor cursor(shared);
    for (size_t i = 1; i < keys.size(); ++i) {
      bool expected = false;
      for (const auto& guard : *shared) {
        expected |= keys[i - 1] < guard && guard <= keys[i];
      }
      if (random() % 50 == 0) continue;  // a question not asked
      CHECK(cursor.Crosses(keys[i - 1], keys[i]) == expected);
    }
  }
}

void Table() {
  GuardTable table(5);
  CHECK(table.Set(1, 3, Make({"m"})));
  CHECK(table.Get(0) == nullptr && table.Get(3) == nullptr);
  CHECK(table.Get(1) != nullptr && table.Get(1) == table.Get(2));
  CHECK(table.Get(99) == nullptr);
  const SharedGuards held = table.Get(1);
  CHECK(table.Set(0, 5, Make({})));
  CHECK(table.Get(1) == nullptr);
  CHECK(held->size() == 1 && held->front() == "m");
  CHECK(!table.Set(4, 6, Make({"m"})) && table.Get(4) == nullptr);
  CHECK(!table.Set(3, 2, Make({"m"})));
  CHECK(table.Set(5, 5, Make({"m"})));
}

}  // namespace

void TestGuards() {
  Borders();
  SkippedQuestions();
  Bytes();
  NoGuards();
  Definition();
  Table();
}

}  // namespace lissom_test
