//! A password that does not print.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A password. It is serialized only into the pipe to the watchdog.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Password(String);

impl Password {
    /// Wraps a password.
    pub fn new(text: String) -> Password {
        Password(text)
    }

    /// The password itself.
    pub fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(..)")
    }
}
