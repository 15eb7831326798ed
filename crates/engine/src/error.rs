//! What can go wrong, by what the caller should do about it.

use std::fmt;
use std::path::Path;

use rust_rocksdb::ErrorKind as RocksKind;

use crate::execute::is_full_disk;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What the caller should do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ErrorKind {
    /// Nothing is wrong with the request: try again later.
    Retry,
    /// Something must be put right first: a setting, a path, a full disk.
    Fix,
    /// Stored data does not read back as it was written: restore it.
    Corrupt,
    /// This program is wrong: report it.
    Bug,
}

/// One sentence that says what is wrong, where, and what to do.
#[derive(Clone, Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<rust_rocksdb::Error>,
}

impl Error {
    /// An error that the caller can put right.
    pub fn fix(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Fix, message)
    }

    /// An error that passes.
    pub fn retry(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Retry, message)
    }

    /// Damaged data.
    pub fn corrupt(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Corrupt, message)
    }

    /// A broken invariant of this program.
    pub fn bug(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Bug, message)
    }

    fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error {
            kind,
            message: message.into(),
            source: None,
        }
    }

    /// A failed file operation: `doing` completes "cannot ...".
    pub(crate) fn io(doing: &str, path: &Path, error: &std::io::Error) -> Error {
        Error::fix(format!(
            "cannot {doing} {}: {error}; check the path, its permissions and the free space",
            path.display()
        ))
    }

    /// What the caller should do.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The kind of RocksDB's error, when it came from there.
    pub fn rocksdb_kind(&self) -> Option<RocksKind> {
        self.source.as_ref().map(rust_rocksdb::Error::kind)
    }

    /// The same error with a remark in front: "`context`: ...".
    pub(crate) fn within(mut self, context: impl fmt::Display) -> Error {
        self.message = format!("{context}: {}", self.message);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source
            .as_ref()
            .map(|error| error as &(dyn std::error::Error + 'static))
    }
}

impl From<rust_rocksdb::Error> for Error {
    fn from(error: rust_rocksdb::Error) -> Error {
        let kind = match error.kind() {
            RocksKind::Corruption => ErrorKind::Corrupt,
            RocksKind::Busy
            | RocksKind::TryAgain
            | RocksKind::TimedOut
            | RocksKind::Incomplete
            | RocksKind::Aborted
            | RocksKind::MergeInProgress
            | RocksKind::ShutdownInProgress => ErrorKind::Retry,
            _ => ErrorKind::Fix,
        };
        Error {
            kind,
            message: format!("RocksDB: {error}{}", advice(&error)),
            source: Some(error),
        }
    }
}

/// What to do about an error that RocksDB leaves without advice.
fn advice(error: &rust_rocksdb::Error) -> &'static str {
    if is_full_disk(error.as_ref()) {
        "; free some space on its disk, then the database goes on by itself"
    } else if error.kind() == RocksKind::Corruption {
        "; restore the file that it names, or the database from a backup or checkpoint"
    } else {
        ""
    }
}

impl From<crate::ffi::Error> for Error {
    fn from(error: crate::ffi::Error) -> Error {
        Error::fix(error.to_string())
    }
}
