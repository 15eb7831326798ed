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
    rocksdb_kind: Option<RocksKind>,
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
            rocksdb_kind: None,
            source: None,
        }
    }

    /// RocksDB's error, in the words of its status.
    pub(crate) fn of_status(text: &str) -> Error {
        Error::of_rocksdb(status_kind(text), text)
    }

    fn of_rocksdb(rocksdb_kind: RocksKind, text: &str) -> Error {
        let kind = match rocksdb_kind {
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
            message: format!("RocksDB: {text}{}", advice(&rocksdb_kind, text)),
            rocksdb_kind: Some(rocksdb_kind),
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
        self.rocksdb_kind.clone()
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
        let told = Error::of_rocksdb(error.kind(), error.as_ref());
        Error {
            source: Some(error),
            ..told
        }
    }
}

/// As the binding reads it, which makes no error of its own from what the plug-in passes on.
fn status_kind(text: &str) -> RocksKind {
    match text.split(':').next().unwrap_or_default() {
        "NotFound" => RocksKind::NotFound,
        "Corruption" => RocksKind::Corruption,
        "Not implemented" => RocksKind::NotSupported,
        "Invalid argument" => RocksKind::InvalidArgument,
        "IO error" => RocksKind::IOError,
        "Merge in progress" => RocksKind::MergeInProgress,
        "Result incomplete" => RocksKind::Incomplete,
        "Shutdown in progress" => RocksKind::ShutdownInProgress,
        "Operation timed out" => RocksKind::TimedOut,
        "Operation aborted" => RocksKind::Aborted,
        "Resource busy" => RocksKind::Busy,
        "Operation expired" => RocksKind::Expired,
        "Operation failed. Try again." => RocksKind::TryAgain,
        "Compaction too large" => RocksKind::CompactionTooLarge,
        "Column family dropped" => RocksKind::ColumnFamilyDropped,
        _ => RocksKind::Unknown,
    }
}

/// What to do about an error that RocksDB leaves without advice.
fn advice(kind: &RocksKind, text: &str) -> &'static str {
    if is_full_disk(text) {
        "; free some space on its disk, then the database goes on by itself"
    } else if *kind == RocksKind::Corruption {
        "; restore the file that it names, or the database from a backup or checkpoint"
    } else {
        ""
    }
}

impl From<crate::ffi::Error> for Error {
    fn from(error: crate::ffi::Error) -> Error {
        let text = error.to_string();
        match status_kind(&text) {
            RocksKind::Corruption => Error::corrupt(text),
            _ => Error::fix(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_status_tell_what_to_do() {
        for (text, rocksdb, kind) in [
            (
                "Operation failed. Try again.: Inconsistent memtable",
                RocksKind::TryAgain,
                ErrorKind::Retry,
            ),
            (
                "Corruption: block checksum mismatch",
                RocksKind::Corruption,
                ErrorKind::Corrupt,
            ),
            (
                "IO error: No such file or directory",
                RocksKind::IOError,
                ErrorKind::Fix,
            ),
            ("no file is named a", RocksKind::Unknown, ErrorKind::Fix),
        ] {
            let error = Error::of_status(text);
            assert_eq!(error.kind(), kind, "{error}");
            assert_eq!(error.rocksdb_kind(), Some(rocksdb), "{error}");
            assert!(error.to_string().contains(text), "{error}");
        }
    }
}
