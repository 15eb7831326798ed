//! The formats, by name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Result, SearchError};

/// A format of configurations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// An OPTIONS file of RocksDB 11.12.
    RocksDb,
    /// One JSON object: names and values, sorted by name.
    Json,
    /// Lines for `db_bench --flagfile`, with the names that RocksDB 7.8 to 11.12 have.
    Flags,
    /// Lines for Flink's `config.yaml`, `state.backend.rocksdb.*` (Flink 1.19.1 to 2.x).
    Flink,
    /// Lines for `cassandra.yaml` and an `ALTER TABLE` (Cassandra 4.1 and 5.0): Table 6
    /// of Dremel under current names.
    Cassandra,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 5] = [
        Format::RocksDb,
        Format::Json,
        Format::Flags,
        Format::Flink,
        Format::Cassandra,
    ];
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::RocksDb => "rocksdb",
            Format::Json => "json",
            Format::Flags => "flags",
            Format::Flink => "flink",
            Format::Cassandra => "cassandra",
        })
    }
}

impl FromStr for Format {
    type Err = SearchError;

    fn from_str(text: &str) -> Result<Format> {
        let known = Format::ALL.into_iter().find(|it| it.to_string() == text);
        known.ok_or_else(|| {
            SearchError::new(format!(
                "{text:?} is no format: choose rocksdb, json, flags, flink or cassandra"
            ))
        })
    }
}
