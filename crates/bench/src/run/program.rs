//! Which program made a run.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Digits of a commit that are shown.
const SHOWN: usize = 12;

/// A program, as its build knew it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Version of Lissom.
    pub version: String,
    /// The commit that it was built from; `None` where it was built without git, or
    /// outside of a checkout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether the sources differed from that commit.
    #[serde(default)]
    pub dirty: bool,
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lissom {}, ", self.version)?;
        let Some(commit) = &self.commit else {
            return f.write_str("commit unknown");
        };
        write!(f, "commit {}", commit.get(..SHOWN).unwrap_or(commit))?;
        f.write_str(if self.dirty { ", dirty" } else { "" })
    }
}
