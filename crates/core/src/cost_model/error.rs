//! What is wrong with an input, in one sentence.

use std::fmt;

/// An input that the model cannot take. Its text says what is wrong and what
/// to give instead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelError(String);

impl ModelError {
    pub(crate) fn new(sentence: impl Into<String>) -> ModelError {
        ModelError(sentence.into())
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ModelError {}
