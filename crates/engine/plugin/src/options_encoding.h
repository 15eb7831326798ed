// One encoding of options, whether they come from a running database or from an
// OPTIONS file.
#pragma once

#include <string>

#include "buffer.h"
#include "rocksdb/options.h"

namespace lissom {

// Order of the fields: see the Rust module `ffi::options`.
void PutDbOptions(const rocksdb::DBOptions& options, Buffer* buffer);
void PutColumnFamilyOptions(const std::string& name,
                            const rocksdb::ColumnFamilyOptions& options,
                            Buffer* buffer);

}  // namespace lissom
