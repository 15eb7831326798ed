//! The plug-in against a real RocksDB.

mod commits;
mod compactions;
mod counters;
mod files;
mod filters;
mod guards;
mod ingestion;
mod options;
mod store;
