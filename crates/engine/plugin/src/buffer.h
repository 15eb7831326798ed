// The flat encoding of everything that goes to Rust in one piece.
//
// Integers and doubles are 8 bytes in the machine's order (the reader is in the
// same process), a string is its length followed by its bytes, without padding.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "lissom_plugin.h"

namespace lissom {

class Buffer {
 public:
  void PutU64(uint64_t value) { Append(&value, sizeof(value)); }
  void PutI64(int64_t value) { Append(&value, sizeof(value)); }
  void PutBool(bool value) { PutU64(value ? 1 : 0); }
  void PutDouble(double value) { Append(&value, sizeof(value)); }
  void PutString(const std::string& value) {
    PutU64(value.size());
    bytes_.append(value);
  }
  // A name that an absent object does not have is the empty string.
  void PutName(const char* name) { PutString(name == nullptr ? "" : name); }

  const std::string& bytes() const { return bytes_; }

  // Hands a copy over; throws std::bad_alloc where there is no memory for it.
  void Release(lissom_buffer* out) const {
    out->size = bytes_.size();
    out->data = static_cast<uint8_t*>(std::malloc(bytes_.size() + 1));
    if (out->data == nullptr) throw std::bad_alloc();
    std::memcpy(out->data, bytes_.data(), bytes_.size());
  }

 private:
  void Append(const void* data, size_t size) {
    bytes_.append(static_cast<const char*>(data), size);
  }

  std::string bytes_;
};

}  // namespace lissom
