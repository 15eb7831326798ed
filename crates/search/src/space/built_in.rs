//! The spaces that come with the crate.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::SpaceFile;
use crate::error::{Result, SearchError};

/// A space that comes with the crate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BuiltIn {
    /// Dremel's Tables 1 and 2: RocksDB 6.15 as published, its sizes in proportion
    /// to the memory.
    Dremel,
    /// RocksDB 11.12 under its current names.
    RocksDb,
    /// The settings of Lissom.
    Lissom,
}

impl BuiltIn {
    /// All of them.
    pub const ALL: [BuiltIn; 3] = [BuiltIn::Dremel, BuiltIn::RocksDb, BuiltIn::Lissom];

    /// The TOML text, as a start for a space of one's own.
    pub fn text(self) -> &'static str {
        match self {
            BuiltIn::Dremel => include_str!("spaces/dremel.toml"),
            BuiltIn::RocksDb => include_str!("spaces/rocksdb.toml"),
            BuiltIn::Lissom => include_str!("spaces/lissom.toml"),
        }
    }

    /// The space, before its constants have values.
    ///
    /// # Errors
    /// None: a test reads each of them.
    pub fn file(self) -> Result<SpaceFile> {
        SpaceFile::parse(self.text()).map_err(|error| error.at(self))
    }
}

/// As `--space` spells it.
impl fmt::Display for BuiltIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BuiltIn::Dremel => "dremel",
            BuiltIn::RocksDb => "rocksdb",
            BuiltIn::Lissom => "lissom",
        })
    }
}

impl FromStr for BuiltIn {
    type Err = SearchError;

    fn from_str(text: &str) -> Result<BuiltIn> {
        let known = BuiltIn::ALL.into_iter().find(|it| it.to_string() == text);
        known.ok_or_else(|| {
            SearchError::new(format!(
                "{text:?} is no space of the program: choose dremel, rocksdb or lissom, or \
                 give a TOML file"
            ))
        })
    }
}
