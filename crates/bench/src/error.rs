//! The one error of this crate: a sentence for the reader.

use std::fmt;

/// What went wrong, where, and what to do about it, as one sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchError(String);

/// Result with a [`BenchError`].
pub type Result<T> = std::result::Result<T, BenchError>;

impl BenchError {
    /// An error that reads as `sentence`.
    pub fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }

    /// The same error with the place where it happened in front.
    pub fn at(self, place: impl fmt::Display) -> Self {
        Self(format!("{place}: {}", self.0))
    }
}

impl fmt::Display for BenchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BenchError {}

impl From<rust_rocksdb::Error> for BenchError {
    fn from(error: rust_rocksdb::Error) -> Self {
        Self(format!("RocksDB: {error}"))
    }
}

/// Adds the place to any displayable error.
pub(crate) trait Place<T> {
    /// Turns the error into a [`BenchError`] that starts with `place`.
    fn place(self, place: impl fmt::Display) -> Result<T>;
}

impl<T, E: fmt::Display> Place<T> for std::result::Result<T, E> {
    fn place(self, place: impl fmt::Display) -> Result<T> {
        self.map_err(|error| BenchError::new(format!("{place}: {error}")))
    }
}
