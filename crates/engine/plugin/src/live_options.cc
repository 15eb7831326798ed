// The options that a running column family has now, and those that one is about
// to be opened with.
#include "error.h"
#include "handles.h"
#include "options_encoding.h"

extern "C" lissom_error lissom_live_options(lissom_target target,
                                            lissom_buffer* out) {
  return lissom::Guarded([&]() -> lissom_error {
    const lissom::Target found = lissom::Resolve(target);
    const rocksdb::Options options = found.db->GetOptions(found.cf);
    lissom::Buffer buffer;
    lissom::PutDbOptions(options, &buffer);
    lissom::PutColumnFamilyOptions(found.cf->GetName(), options, &buffer);
    buffer.Release(out);
    return nullptr;
  });
}

extern "C" lissom_error lissom_read_options(rocksdb_options_t* options,
                                            lissom_buffer* out) {
  return lissom::Guarded([&]() -> lissom_error {
    const rocksdb::Options& found = lissom::OptionsOf(options);
    lissom::Buffer buffer;
    lissom::PutDbOptions(found, &buffer);
    lissom::PutColumnFamilyOptions("", found, &buffer);
    buffer.Release(out);
    return nullptr;
  });
}
