// What the tests with a database share.
#pragma once

#include <cstdio>
#include <cstring>
#include <string>

#include "lissom_plugin.h"

namespace lissom_test {

inline bool Ok(lissom_error error) {
  if (error == nullptr) return true;
  std::fprintf(stderr, "unexpected error: %s\n", error);
  lissom_free(error);
  return false;
}

// A call that must fail, with `part` in its message.
inline bool Fails(lissom_error error, const char* part) {
  if (error == nullptr) return false;
  const bool found = std::strstr(error, part) != nullptr;
  if (!found) std::fprintf(stderr, "another error: %s\n", error);
  lissom_free(error);
  return found;
}

inline bool OkC(char* error) {
  if (error == nullptr) return true;
  std::fprintf(stderr, "unexpected error: %s\n", error);
  rocksdb_free(error);
  return false;
}

// Options, locks, the gate and copies; databases beside `path`.
void TestInterface(const std::string& path);

}  // namespace lissom_test
