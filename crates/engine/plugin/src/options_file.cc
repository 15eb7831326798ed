// The options that a database directory was last opened with, without opening
// it.
#include "error.h"
#include "options_encoding.h"
#include "registry.h"
#include "rocksdb/convenience.h"
#include "rocksdb/utilities/options_util.h"

extern "C" lissom_error lissom_load_latest_options(const char* path,
                                                   size_t path_size,
                                                   lissom_buffer* out) {
  return lissom::Guarded([&]() -> lissom_error {
    lissom::RegisterObjects();
    const std::string directory(path, path_size);
    rocksdb::ConfigOptions config;
    // An application's own comparator or merge operator is unknown here; the
    // caller reads its name from the file's text.
    config.ignore_unknown_options = true;
    config.ignore_unsupported_options = true;
    std::string file_name;
    rocksdb::Status status =
        rocksdb::GetLatestOptionsFileName(directory, config.env, &file_name);
    if (!status.ok()) return lissom::Error(status);
    rocksdb::DBOptions db_options;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    status = rocksdb::LoadOptionsFromFile(config, directory + "/" + file_name,
                                          &db_options, &families);
    if (!status.ok()) return lissom::Error(status);
    lissom::Buffer buffer;
    buffer.PutString(file_name);
    lissom::PutDbOptions(db_options, &buffer);
    buffer.PutU64(families.size());
    for (const auto& family : families) {
      lissom::PutColumnFamilyOptions(family.name, family.options, &buffer);
    }
    buffer.Release(out);
    return nullptr;
  });
}
