//! Changes of column families that are in effect although RocksDB tells of a failure.

use rust_rocksdb::Error;

/// What RocksDB 11.12 says where a column family was made or dropped for good, and the OPTIONS file
/// could not be written behind that (`DBImpl::WriteOptionsFile`); and where such a one is to be
/// dropped again (`DBImpl::DropColumnFamilyImpl`).
const SAID: [&str; 2] = ["Unable to persist options", "Column family already dropped"];

/// Whether what failed has happened all the same.
pub(super) fn is_in_effect(error: &Error) -> bool {
    let text: &str = error.as_ref();
    SAID.iter().any(|words| text.contains(words))
}
