//! What is wrong with an input, in one sentence.

use std::fmt;

/// An input that the search cannot take. Its text says what is wrong, where, and
/// what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchError(String);

/// Result with a [`SearchError`].
pub type Result<T> = std::result::Result<T, SearchError>;

impl SearchError {
    /// An error that reads as `sentence`.
    pub fn new(sentence: impl Into<String>) -> SearchError {
        SearchError(sentence.into())
    }

    /// The same error with the place where it happened in front.
    pub fn at(self, place: impl fmt::Display) -> SearchError {
        SearchError(format!("{place}: {}", self.0))
    }
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SearchError {}
