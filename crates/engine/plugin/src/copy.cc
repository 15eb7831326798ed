// Entries of a column family, read in bounded pieces and written into another.
//
// A piece is, for each entry, the integer 1, the key, the number of columns and
// each column's name and value; then the integer 0, and whether the column family
// ends here. A plain value is one column with an empty name.
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include "buffer.h"
#include "error.h"
#include "handles.h"
#include "rocksdb/comparator.h"
#include "rocksdb/iterator.h"
#include "rocksdb/wide_columns.h"
#include "rocksdb/write_batch.h"

namespace lissom {
namespace {

constexpr size_t kReadahead = size_t{2} << 20;

std::unique_ptr<rocksdb::Iterator> Position(const Target& target,
                                            const rocksdb::Slice* after) {
  rocksdb::ReadOptions read;
  read.fill_cache = false;
  read.total_order_seek = true;
  read.readahead_size = kReadahead;
  std::unique_ptr<rocksdb::Iterator> it(
      target.db->NewIterator(read, target.cf));
  if (after == nullptr) {
    it->SeekToFirst();
    return it;
  }
  it->Seek(*after);
  const rocksdb::Comparator* order = target.cf->GetComparator();
  if (it->Valid() && order->Compare(it->key(), *after) == 0) it->Next();
  return it;
}

// Returns the bytes of key and columns.
uint64_t PutEntry(const rocksdb::Iterator& it, Buffer* buffer) {
  uint64_t bytes = it.key().size();
  buffer->PutU64(1);
  buffer->PutString(it.key().ToString());
  const rocksdb::WideColumns& columns = it.columns();
  buffer->PutU64(columns.size());
  for (const rocksdb::WideColumn& column : columns) {
    buffer->PutString(column.name().ToString());
    buffer->PutString(column.value().ToString());
    bytes += column.name().size() + column.value().size();
  }
  return bytes;
}

// Walks over a piece. What does not have its form is refused.
class Cursor {
 public:
  Cursor(const uint8_t* data, size_t size) : data_(data), left_(size) {}

  uint64_t U64() {
    uint64_t value;
    std::memcpy(&value, Take(sizeof(value)), sizeof(value));
    return value;
  }

  rocksdb::Slice Bytes() {
    const size_t size = U64();
    return {reinterpret_cast<const char*>(Take(size)), size};
  }

 private:
  const uint8_t* Take(size_t size) {
    if (size > left_) {
      throw std::runtime_error("a piece of entries ends early");
    }
    const uint8_t* taken = data_;
    data_ += size;
    left_ -= size;
    return taken;
  }

  const uint8_t* data_;
  size_t left_;
};

rocksdb::Status AddEntry(Cursor* cursor, rocksdb::ColumnFamilyHandle* cf,
                         rocksdb::WriteBatch* batch) {
  const rocksdb::Slice key = cursor->Bytes();
  const uint64_t count = cursor->U64();
  rocksdb::WideColumns columns;
  for (uint64_t at = 0; at < count; ++at) {
    const rocksdb::Slice name = cursor->Bytes();
    const rocksdb::Slice value = cursor->Bytes();
    columns.emplace_back(name, value);
  }
  if (count == 1 && columns.front().name().empty()) {
    return batch->Put(cf, key, columns.front().value());
  }
  return batch->PutEntity(cf, key, columns);
}

}  // namespace
}  // namespace lissom

extern "C" {

lissom_error lissom_read_piece(lissom_target target, const char* after,
                               size_t after_size, int has_after,
                               uint64_t max_bytes, lissom_buffer* out) {
  return lissom::Guarded([&]() -> lissom_error {
    const lissom::Target found = lissom::Resolve(target);
    const rocksdb::Slice key(after, after_size);
    const auto it =
        lissom::Position(found, has_after != 0 ? &key : nullptr);
    lissom::Buffer buffer;
    uint64_t bytes = 0;
    for (; it->Valid() && bytes < max_bytes; it->Next()) {
      bytes += lissom::PutEntry(*it, &buffer);
    }
    // An iterator that failed is not valid either.
    const rocksdb::Status status = it->status();
    if (!status.ok()) return lissom::Error(status);
    buffer.PutU64(0);
    buffer.PutBool(!it->Valid());
    buffer.Release(out);
    return nullptr;
  });
}

lissom_error lissom_write_piece(lissom_target target, const uint8_t* piece,
                                size_t size) {
  return lissom::Guarded([&]() -> lissom_error {
    const lissom::Target found = lissom::Resolve(target);
    lissom::Cursor cursor(piece, size);
    rocksdb::WriteBatch batch;
    while (cursor.U64() == 1) {
      const rocksdb::Status status =
          lissom::AddEntry(&cursor, found.cf, &batch);
      if (!status.ok()) return lissom::Error(status);
    }
    rocksdb::WriteOptions write;
    write.disableWAL = true;
    return lissom::Error(found.db->Write(write, &batch));
  });
}

}  // extern "C"
