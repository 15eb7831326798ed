//! RocksDB's features under the autopilot, one file for each group. Each test
//! stands in the table of `docs/ROCKSDB_FEATURES.md`.

mod aging;
mod attached;
mod beside;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/compression.rs"]
mod compression;
mod copies;
mod deletes;
mod deleting;
mod families;
mod ingestion;
mod log;
mod manual;
mod merging;
mod reading;
mod refused;
mod resources;
mod store;
mod table;
mod transactions;
mod values;
