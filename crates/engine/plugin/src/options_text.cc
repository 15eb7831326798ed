// Options as the lines of an OPTIONS file, and options from such lines.
#include <string>
#include <unordered_map>

#include "buffer.h"
#include "error.h"
#include "handles.h"
#include "registry.h"
#include "rocksdb/convenience.h"
#include "rocksdb/table.h"

namespace lissom {
namespace {

using Lines = std::unordered_map<std::string, std::string>;

// As RocksDB reads and writes an OPTIONS file. Objects that this program cannot
// make are passed over: who needs them reads the lines back.
rocksdb::ConfigOptions Config() {
  RegisterObjects();
  rocksdb::ConfigOptions config;
  config.ignore_unknown_options = false;
  config.ignore_unsupported_options = true;
  config.delimiter.assign(1, '\n');
  return config;
}

// "name=value", a line each.
Lines Split(const char* text, size_t size) {
  Lines lines;
  const std::string all(text, size);
  size_t begin = 0;
  while (begin < all.size()) {
    size_t end = all.find('\n', begin);
    if (end == std::string::npos) end = all.size();
    const std::string line = all.substr(begin, end - begin);
    const size_t equals = line.find('=');
    if (equals != std::string::npos) {
      lines[line.substr(0, equals)] = line.substr(equals + 1);
    }
    begin = end + 1;
  }
  return lines;
}

// Order of the fields: see the Rust module `ffi::options_text`.
lissom_error PutLines(const rocksdb::Options& options, lissom_buffer* out) {
  const rocksdb::ConfigOptions config = Config();
  Buffer buffer;
  std::string text;
  rocksdb::Status status =
      rocksdb::GetStringFromDBOptions(config, options, &text);
  if (!status.ok()) return Error(status);
  buffer.PutString(text);
  text.clear();
  status = rocksdb::GetStringFromColumnFamilyOptions(config, options, &text);
  if (!status.ok()) return Error(status);
  buffer.PutString(text);
  text.clear();
  const auto& factory = options.table_factory;
  if (factory != nullptr) {
    status = factory->GetOptionString(config, &text);
    if (!status.ok()) return Error(status);
  }
  buffer.PutName(factory == nullptr ? nullptr : factory->Name());
  buffer.PutString(text);
  buffer.Release(out);
  return nullptr;
}

lissom_error ChangeTable(const rocksdb::ConfigOptions& config,
                         const Lines& lines,
                         rocksdb::ColumnFamilyOptions* options) {
  if (lines.empty()) return nullptr;
  const auto* old =
      options->table_factory == nullptr
          ? nullptr
          : options->table_factory
                ->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (old == nullptr) return Error("the table factory is not BlockBasedTable");
  rocksdb::BlockBasedTableOptions changed;
  const rocksdb::Status status = rocksdb::GetBlockBasedTableOptionsFromMap(
      config, *old, lines, &changed);
  if (!status.ok()) return Error(status);
  options->table_factory.reset(rocksdb::NewBlockBasedTableFactory(changed));
  return nullptr;
}

}  // namespace
}  // namespace lissom

extern "C" {

lissom_error lissom_change_options(rocksdb_options_t* options, const char* db,
                                   size_t db_size, const char* cf,
                                   size_t cf_size, const char* table,
                                   size_t table_size) {
  return lissom::Guarded([&]() -> lissom_error {
    rocksdb::Options& target = lissom::OptionsOf(options);
    const rocksdb::ConfigOptions config = lissom::Config();
    rocksdb::DBOptions changed_db;
    rocksdb::Status status = rocksdb::GetDBOptionsFromMap(
        config, target, lissom::Split(db, db_size), &changed_db);
    if (!status.ok()) return lissom::Error(status);
    rocksdb::ColumnFamilyOptions changed_cf;
    status = rocksdb::GetColumnFamilyOptionsFromMap(
        config, target, lissom::Split(cf, cf_size), &changed_cf);
    if (!status.ok()) return lissom::Error(status);
    const lissom_error error = lissom::ChangeTable(
        config, lissom::Split(table, table_size), &changed_cf);
    if (error != nullptr) return error;
    target = rocksdb::Options(changed_db, changed_cf);
    return nullptr;
  });
}

lissom_error lissom_options_text(rocksdb_options_t* options,
                                 lissom_buffer* out) {
  return lissom::Guarded([&]() -> lissom_error {
    return lissom::PutLines(lissom::OptionsOf(options), out);
  });
}

lissom_error lissom_live_options_text(lissom_target target,
                                      lissom_buffer* out) {
  return lissom::Guarded([&]() -> lissom_error {
    const lissom::Target found = lissom::Resolve(target);
    return lissom::PutLines(found.db->GetOptions(found.cf), out);
  });
}

}  // extern "C"
