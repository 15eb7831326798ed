//! What can go wrong, by what the caller should do about it.

use std::fmt;
use std::io;
use std::path::Path;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What the caller should do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ErrorKind {
    /// The server cannot be reached or is not ready: try again later.
    Lost,
    /// The server was reached and refused, or did not do what it was told.
    Refused,
    /// Something must be put right first: a setting, a privilege, a file.
    Fix,
}

/// One sentence that says what is wrong, where, and what to do. It never holds
/// a password.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    /// An error that may pass.
    pub fn lost(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Lost, message)
    }

    /// A refusal of the server.
    pub fn refused(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Refused, message)
    }

    /// An error that the caller can put right.
    pub fn fix(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Fix, message)
    }

    fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error {
            kind,
            message: message.into(),
        }
    }

    /// A failed file operation: `doing` completes "cannot ...".
    pub(crate) fn io(doing: &str, path: &Path, error: &io::Error) -> Error {
        Error::fix(format!(
            "cannot {doing} {}: {error}; check the path, its permissions and the free space",
            path.display()
        ))
    }

    /// What the caller should do.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
