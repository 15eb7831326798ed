#include "handles.h"

#include "buffer.h"
// An internal header: a column family's handle knows its database, but the public
// class does not say so. With it, one pointer is enough, and the
// two can never belong to different databases.
#include "db/column_family.h"
#include "error.h"
#include "rocksdb/version.h"

// RocksDB's C interface defines these four in db/c.cc, out of sight; these are
// the same definitions. The version of the crate that brings RocksDB is pinned,
// and lissom_check_layout tests what can be tested.
struct rocksdb_t {
  rocksdb::DB* rep;
};
struct rocksdb_options_t {
  rocksdb::Options rep;
};
struct rocksdb_ingestexternalfileoptions_t {
  rocksdb::IngestExternalFileOptions rep;
};
struct rocksdb_column_family_handle_t {
  rocksdb::ColumnFamilyHandle* rep;
  bool immortal;
};

namespace lissom {

Target Resolve(lissom_target target) {
  if (target.cf == nullptr) {
    rocksdb::DB* db = target.db->rep;
    return {db, db->DefaultColumnFamily()};
  }
  rocksdb::ColumnFamilyHandle* cf = target.cf->rep;
  auto* handle = static_cast<rocksdb::ColumnFamilyHandleImpl*>(cf);
  // DBImpl derives from DB alone, first and without virtual inheritance; its
  // definition would drag in the whole engine.
  return {reinterpret_cast<rocksdb::DB*>(handle->db()), cf};
}

rocksdb::Options& OptionsOf(rocksdb_options_t* options) {
  return options->rep;
}

const rocksdb::IngestExternalFileOptions& IngestionOptionsOf(
    rocksdb_ingestexternalfileoptions_t* options) {
  return options->rep;
}

}  // namespace lissom

extern "C" {

void lissom_free(void* memory) { std::free(memory); }

lissom_error lissom_check_layout(rocksdb_options_t* options,
                                 uint64_t write_buffer_size) {
  return lissom::Guarded([&]() -> lissom_error {
    const std::string built = std::to_string(ROCKSDB_MAJOR) + "." +
                              std::to_string(ROCKSDB_MINOR) + "." +
                              std::to_string(ROCKSDB_PATCH);
    const std::string linked = rocksdb::GetRocksVersionAsString();
    if (built != linked) {
      return lissom::Error("the plug-in was compiled for RocksDB " + built +
                           " but is linked with RocksDB " + linked +
                           "; rebuild from a clean target directory");
    }
    if (lissom::OptionsOf(options).write_buffer_size != write_buffer_size) {
      return lissom::Error(
          "the plug-in and the RocksDB binding disagree on the layout of "
          "rocksdb_options_t; rebuild from a clean target directory");
    }
    return nullptr;
  });
}

lissom_error lissom_names(lissom_target target, lissom_buffer* out) {
  return lissom::Guarded([&]() -> lissom_error {
    const lissom::Target found = lissom::Resolve(target);
    lissom::Buffer buffer;
    buffer.PutString(found.cf->GetName());
    buffer.PutString(found.db->GetName());
    buffer.Release(out);
    return nullptr;
  });
}

}  // extern "C"
