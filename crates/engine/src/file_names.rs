//! The names that RocksDB gives its files. Source: RocksDB 11.12, file/filename.cc and
//! file/delete_scheduler.cc.

const WHOLE: [&str; 4] = ["CURRENT", "IDENTITY", "LOCK", "LOG"];

/// With a number behind them.
const BEGIN: [&str; 5] = [
    "MANIFEST-",
    "OPTIONS-",
    "LOG.old.",
    "METADB-",
    "COMPACTION_PROGRESS-",
];

/// With a number before them.
const END: [&str; 5] = [".sst", ".ldb", ".blob", ".log", TEMPORARY];

const TEMPORARY: &str = ".dbtmp";

/// A file that is about to be deleted, with another number where there is one already.
const TRASH: &str = ".trash";

/// Where RocksDB puts logs that it no longer needs and somebody else may
/// (WAL_ttl_seconds, WAL_size_limit_MB).
pub(crate) const ARCHIVE: &str = "archive";

/// Whether a file in the archive is a log.
pub(crate) fn is_archived(name: &str) -> bool {
    let file = name.strip_suffix(TRASH).unwrap_or(name);
    file.strip_suffix(".log").is_some_and(is_number)
}

/// Whether a file is RocksDB's. Names that only look like it are a user's: `app.log`.
pub(crate) fn is_rocksdbs(name: &str) -> bool {
    let is_digit = |letter: char| letter.is_ascii_digit();
    match name.strip_suffix(TRASH) {
        None => is_named(name),
        Some(file) => is_named(file) || is_named(file.trim_end_matches(is_digit)),
    }
}

/// Whether a file waits to be deleted by RocksDB.
pub(crate) fn is_trash(name: &str) -> bool {
    name.ends_with(TRASH) && is_rocksdbs(name)
}

fn is_named(name: &str) -> bool {
    let begun = name.strip_suffix(TEMPORARY).unwrap_or(name);
    WHOLE.contains(&name)
        || BEGIN
            .iter()
            .any(|begin| begun.strip_prefix(begin).is_some_and(is_number))
        || END
            .iter()
            .any(|end| name.strip_suffix(end).is_some_and(is_number))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_rocksdb_are_known() {
        for name in [
            "CURRENT",
            "IDENTITY",
            "000007.sst",
            "1234567.blob",
            "000012.log",
            "000003.dbtmp",
            "MANIFEST-000004",
            "OPTIONS-000009",
            "OPTIONS-000009.dbtmp",
            "LOG",
            "LOG.old.1700000000",
            "000012.sst.trash",
            "000012.sst0.trash",
            "000012.log.trash",
        ] {
            assert!(is_rocksdbs(name), "{name}");
        }
    }

    #[test]
    fn what_waits_to_be_deleted_is_known() {
        for name in ["000012.sst.trash", "000012.sst0.trash", "000012.log.trash"] {
            assert!(is_trash(name), "{name}");
        }
        for name in ["000012.sst", "x.trash", "app.log.trash", ".trash"] {
            assert!(!is_trash(name), "{name}");
        }
    }

    #[test]
    fn logs_are_archived_and_nothing_else() {
        for name in ["000012.log", "000012.log.trash"] {
            assert!(is_archived(name), "{name}");
        }
        for name in ["app.log", ".log", "000012.sst", "CURRENT", "archive"] {
            assert!(!is_archived(name), "{name}");
        }
    }

    #[test]
    fn files_of_users_are_not() {
        for name in [
            "archive",
            "LISSOM",
            "notes.txt",
            "LOGS",
            "app.log",
            "export.sst",
            "my.blob",
            "x.trash",
            ".trash",
            "7.trash",
            "backup-000007.sst",
            ".sst",
            "000007.sst.bak",
            "MANIFEST-",
            "MANIFEST-000004.old",
            "OPTIONS-mine",
            "LOG.old.",
            "LOG.old.yesterday",
            "CURRENT.dbtmp",
        ] {
            assert!(!is_rocksdbs(name), "{name}");
        }
    }
}
