// Errors as C strings, and the barrier that keeps exceptions inside.
#pragma once

#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "lissom_plugin.h"
#include "rocksdb/status.h"

namespace lissom {

// Never null, so that an error cannot be taken for success even where memory
// has run out.
inline lissom_error Error(const char* text) {
  const size_t size = std::strlen(text) + 1;
  char* copy = static_cast<char*>(std::malloc(size));
  if (copy == nullptr) std::abort();
  std::memcpy(copy, text, size);
  return copy;
}

inline lissom_error Error(const std::string& text) {
  return Error(text.c_str());
}

inline lissom_error Error(const rocksdb::Status& status) {
  return status.ok() ? nullptr : Error(status.ToString());
}

// Runs `body`, which returns a lissom_error, and turns what it throws into one.
template <typename Body>
lissom_error Guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::exception& e) {
    return Error(e.what());
  } catch (...) {
    return Error("the plug-in caught an exception of an unknown type");
  }
}

}  // namespace lissom
