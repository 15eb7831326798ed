//! One knob.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Kind, Setting};

/// A parameter: what it is called, what it may be, and where that stands.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Parameter {
    /// As RocksDB spells it.
    pub name: String,
    /// The settings that it may have.
    pub kind: Kind,
    /// What it is without a search.
    pub default: Setting,
    /// The condition under which it has any effect; absent if it always has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// What it takes to change it in a database that exists.
    pub change: Change,
    /// The section of an OPTIONS file; absent where it stands in none as it is.
    pub section: Option<Section>,
    /// The unit of its numbers; absent if it has none.
    pub unit: Option<String>,
    /// What one should know before changing it; absent if nothing.
    pub note: Option<String>,
    /// Where range and default come from.
    pub source: String,
}

/// What it takes to change a parameter of a database that exists.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// `DB::SetOptions`, or a method of the program itself, while it runs.
    SetOptions,
    /// `DB::SetDBOptions` while it runs.
    SetDbOptions,
    /// Closing and opening.
    Reopen,
    /// Writing the data anew, into another directory.
    Rebuild,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Change::SetOptions => "at run time by SetOptions",
            Change::SetDbOptions => "at run time by SetDBOptions",
            Change::Reopen => "by reopening",
            Change::Rebuild => "by rebuilding",
        })
    }
}

/// A section of RocksDB's OPTIONS file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Section {
    /// `[DBOptions]`.
    Db,
    /// `[CFOptions "default"]`.
    Cf,
    /// `[TableOptions/BlockBasedTable "default"]`.
    Table,
}
