#include "level_bits.h"

#include <cmath>

#include "check.h"
#include "pure_test.h"

namespace lissom_test {
namespace {

using lissom::LevelBits;

void Rounding() {
  CHECK(LevelBits::ToCentibits(0) == 0u);
  CHECK(LevelBits::ToCentibits(-3.5) == 0u);
  CHECK(LevelBits::ToCentibits(-INFINITY) == 0u);
  CHECK(LevelBits::ToCentibits(9.994) == 999u);
  CHECK(LevelBits::ToCentibits(9.996) == 1000u);
  CHECK(LevelBits::ToCentibits(100) == 10000u);
  CHECK(!LevelBits::ToCentibits(100.01));
  CHECK(!LevelBits::ToCentibits(NAN));
  CHECK(!LevelBits::ToCentibits(INFINITY));
}

void Levels() {
  LevelBits bits({100, 200, 300});
  CHECK(bits.Get(-1) == 100);
  CHECK(bits.Get(0) == 100);
  CHECK(bits.Get(2) == 300);
  CHECK(bits.Get(1000) == 300);
  CHECK(bits.Set(1, 7));
  CHECK(bits.Get(1) == 7);
  CHECK(!bits.Set(3, 7));
}

void RoundTrip(const std::vector<uint32_t>& values, const std::string& text) {
  CHECK(LevelBits(values).ToText() == text);
  const auto read = LevelBits::FromText(text);
  CHECK(read.has_value() && *read == values);
}

void Text() {
  RoundTrip({1000}, "10");
  RoundTrip({1000, 1000, 950, 0, 0}, "10x2/9.5/0x2");
  RoundTrip({1, 10, 101, 10000}, "0.01/0.1/1.01/100");
  for (const char* bad : {"", "/", "10/", "/10", "10x", "10x0", "x3", "ten",
                          "10 ", "101", "nan", "10x-1", "10x99999999999999999999",
                          "10x100000/10", "1e400"}) {
    CHECK(!LevelBits::FromText(bad));
  }
  const auto most = LevelBits::FromText("10x100000");
  CHECK(most.has_value() && most->size() == 100000);
}

}  // namespace

void TestLevelBits() {
  Rounding();
  Levels();
  Text();
}

}  // namespace lissom_test
