// The smallest test harness: a failed check says where and what, and the
// program returns non-zero.
#pragma once

#include <atomic>
#include <cstdio>

namespace lissom_test {

inline std::atomic<int> failures{0};

inline void Check(bool ok, const char* file, int line, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
  ++failures;
}

}  // namespace lissom_test

#define CHECK(condition) \
  lissom_test::Check((condition), __FILE__, __LINE__, #condition)
