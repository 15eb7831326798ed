//! What goes wrong at the edge, in one sentence.

use std::fmt;
use std::io;
use std::path::Path;

use lissom_search::SearchError;
use lissom_search::search::TrialId;

/// What could not be done, where, and what to do about it. It is never the fault of
/// a configuration: those are measurements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TrialsError(String);

/// Result with a [`TrialsError`].
pub type Result<T> = std::result::Result<T, TrialsError>;

impl TrialsError {
    /// An error that reads as `sentence`.
    pub fn new(sentence: impl Into<String>) -> TrialsError {
        TrialsError(sentence.into())
    }

    /// A trial is to go on that was never begun, or was stopped.
    pub(crate) fn not_here(trial: TrialId) -> TrialsError {
        TrialsError(format!(
            "{trial} cannot go on, since it does not run here: report this"
        ))
    }

    /// A failed file operation: `doing` completes "cannot ...".
    pub(crate) fn io(doing: &str, path: &Path, error: &io::Error) -> TrialsError {
        TrialsError(format!(
            "cannot {doing} {}: {error}; check the path, its permissions and the free space",
            path.display()
        ))
    }
}

impl fmt::Display for TrialsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TrialsError {}

impl From<SearchError> for TrialsError {
    fn from(error: SearchError) -> TrialsError {
        TrialsError(error.to_string())
    }
}
