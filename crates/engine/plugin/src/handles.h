// From the pointers of RocksDB's C interface to the C++ objects behind them.
#pragma once

#include "lissom_plugin.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"

namespace lissom {

struct Target {
  rocksdb::DB* db;
  rocksdb::ColumnFamilyHandle* cf;
};

Target Resolve(lissom_target target);
rocksdb::Options& OptionsOf(rocksdb_options_t* options);
const rocksdb::IngestExternalFileOptions& IngestionOptionsOf(
    rocksdb_ingestexternalfileoptions_t* options);

}  // namespace lissom
