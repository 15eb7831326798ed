//! Which program made a run.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Digits of a commit and of sources that are shown.
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
    /// Digits that tell such sources from others that differ from the same commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<String>,
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lissom {}, ", self.version)?;
        let Some(commit) = &self.commit else {
            return f.write_str("commit unknown");
        };
        write!(f, "commit {}", shown(commit))?;
        if self.dirty {
            f.write_str(", dirty")?;
        }
        let sources = self.sources.as_deref();
        sources.map_or(Ok(()), |sources| write!(f, ", sources {}", shown(sources)))
    }
}

fn shown(digits: &str) -> &str {
    digits.get(..SHOWN).unwrap_or(digits)
}
