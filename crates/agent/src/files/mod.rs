//! The agent's files: the state file, which outlives it, and the journal.

mod journal;
mod ledger;
mod store;

use std::path::PathBuf;

use crate::connect::Address;
use crate::error::{Error, Result};

pub(crate) use journal::Journal;
pub(crate) use ledger::{Ledger, settle_orphaned};
#[cfg(test)]
pub(crate) use store::read as read_leases;

/// Where the files of one server's agent lie.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Places {
    /// The state file: the original settings. Those of other addresses lie beside it.
    pub state: PathBuf,
    /// The journal; the one before it has `.old` at the end.
    pub journal: PathBuf,
}

impl Places {
    /// In a directory, which is created when it is first written to.
    pub fn new(directory: PathBuf, address: &Address) -> Places {
        let name = format!("attach-{}", address.file_name());
        Places {
            state: directory.join(format!("{name}.state")),
            journal: directory.join(format!("{name}.journal")),
        }
    }
}

/// The directory for the agent's files unless another one is given:
/// `$XDG_STATE_HOME/lissom`, or `$HOME/.local/state/lissom`.
///
/// # Errors
/// When neither variable is set.
pub fn default_directory(variable: impl Fn(&str) -> Option<PathBuf>) -> Result<PathBuf> {
    let set = |name: &str| variable(name).filter(|path| path.is_absolute());
    set("XDG_STATE_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".local/state")))
        .map(|state| state.join("lissom"))
        .ok_or_else(|| {
            Error::fix(
                "neither XDG_STATE_HOME nor HOME is set: say with --state where the original \
                 settings are kept",
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_follows_the_environment() {
        let only = |known: &'static str, value: &'static str| {
            move |name: &str| (name == known).then(|| PathBuf::from(value))
        };
        let of = |known, value| default_directory(only(known, value));
        assert_eq!(of("XDG_STATE_HOME", "/s"), Ok(PathBuf::from("/s/lissom")));
        let home = PathBuf::from("/h/.local/state/lissom");
        assert_eq!(of("HOME", "/h"), Ok(home));
        assert!(of("HOME", "relative").is_err());
        assert!(of("PATH", "/bin").is_err());
    }
}
