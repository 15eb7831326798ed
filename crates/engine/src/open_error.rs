//! Why RocksDB does not open a directory, told from its own sentence.

use std::path::Path;

use crate::error::Error;
use crate::execute::is_full_disk;

/// What must be put right before the directory opens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cause {
    /// This or another process holds its lock.
    OpenAlready,
    NoSpace,
    NoPermission,
    /// Files do not hold what was written, or do not fit together.
    Corruption,
    /// The log holds merges, and no operator is set.
    MergeOperator,
    /// A TransactionDB left transactions in the log.
    PreparedTransactions,
    Comparator,
    /// Tables are compressed with what this RocksDB was built without.
    Compression,
    /// What the file system or the process lacks; with what to do about it, whoever opens.
    Lack(&'static str),
    Other,
}

/// What to do about [`Cause::Compression`], whoever opens.
pub(crate) const RECOMPRESS: &str = "a file is compressed with what this program was built \
    without, it has LZ4 and Zstandard: open it with RocksDB, choose one of them, and compact it \
    whole";

const BUFFERED: &str = "its file system has no direct I/O: turn use_direct_reads and \
    use_direct_io_for_flush_and_compaction off, or move it to another one";

const WITH_LOCKS: &str = "its file system has no locks: mount it with them, or move it \
    to another one";

const MORE_FILES: &str = "raise the limit on open files of this process, as with `ulimit -n`";

/// RocksDB's error at the opening of `directory`. What to do about its cause is up to whoever
/// opens, and told by `advice`.
pub(crate) fn explain(
    directory: &Path,
    error: rust_rocksdb::Error,
    advice: fn(Cause) -> &'static str,
) -> Error {
    let advice = advice(cause(error.as_ref(), directory));
    Error::from(error).within(format!("cannot open {} ({advice})", directory.display()))
}

/// How RocksDB begins when a lock is held (`PosixFileSystem::LockFile`).
const HELD_HERE: &str = "IO error: lock hold by current process";
const HELD_ELSEWHERE: &str = "IO error: While lock file";

/// What fcntl(2) answers where another process has it; of anything else that it answers nobody
/// has it, as where the file system has no locks.
const TAKEN: [&str; 2] = ["Resource temporarily unavailable", "Permission denied"];

/// The cause that RocksDB's text names at the opening of `directory`.
pub(crate) fn cause(text: &str, directory: &Path) -> Cause {
    let text = without_paths(text, directory);
    let names = |words: &str| text.contains(words);
    if is_held(&text) {
        Cause::OpenAlready
    } else if text.starts_with(HELD_ELSEWHERE) {
        Cause::Lack(WITH_LOCKS)
    } else if text.starts_with("Corruption: ") {
        Cause::Corruption
    } else if is_full_disk(&text) {
        Cause::NoSpace
    } else if names("ermission denied") || names("Read-only file system") {
        Cause::NoPermission
    } else if names("merge operator") || names("merge_operator") {
        Cause::MergeOperator
    } else if names("prepared transactions") {
        Cause::PreparedTransactions
    } else if names("omparator") {
        Cause::Comparator
    } else if names(" not supported in this build") || names("Compression type not supported") {
        Cause::Compression
    } else if names("Direct I/O is not supported") {
        Cause::Lack(BUFFERED)
    } else if names("Too many open files") || names("No file descriptors available") {
        Cause::Lack(MORE_FILES)
    } else {
        Cause::Other
    }
}

fn is_held(text: &str) -> bool {
    let is_taken = || TAKEN.iter().any(|words| text.contains(words));
    text.starts_with(HELD_HERE) || text.starts_with(HELD_ELSEWHERE) && is_taken()
}

/// RocksDB names files by the path that it was given, which may be called anything.
fn without_paths(text: &str, directory: &Path) -> String {
    let directory = directory.to_string_lossy();
    text.replace(&format!("{}/", directory.trim_end_matches('/')), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(directory: &str, text: &str) -> Cause {
        let text = text.replace("DIR", directory);
        cause(&text, Path::new(directory))
    }

    /// Each holds words that mean something in RocksDB's sentences.
    const DIRECTORIES: [&str; 7] = [
        "/data/db",
        "/srv/blocks/db",
        "/srv/LOCK/lock/",
        "block",
        "lock",
        "/mnt/Permission denied/No space left on device/quota",
        "/mnt/merge operator/prepared transactions/comparator",
    ];

    const SENTENCES: [(&str, Cause); 18] = [
        (
            "IO error: lock hold by current process, acquire time 1753000000 acquiring thread \
             140234: DIR/LOCK: No locks available",
            Cause::OpenAlready,
        ),
        (
            "IO error: While lock file: DIR/LOCK: Resource temporarily unavailable",
            Cause::OpenAlready,
        ),
        (
            "IO error: While lock file: DIR/LOCK: No locks available",
            Cause::Lack(WITH_LOCKS),
        ),
        (
            "IO error: While lock file: DIR/LOCK: Function not implemented",
            Cause::Lack(WITH_LOCKS),
        ),
        (
            "Invalid argument: Direct I/O is not supported by the specified DB.",
            Cause::Lack(BUFFERED),
        ),
        (
            "IO error: While open a file for random read: DIR/000012.sst: Too many open files",
            Cause::Lack(MORE_FILES),
        ),
        (
            "IO error: while open a file for lock: DIR/LOCK: Permission denied",
            Cause::NoPermission,
        ),
        (
            "IO error: while open a file for lock: DIR/LOCK: Read-only file system",
            Cause::NoPermission,
        ),
        (
            "IO error: No space left on device: while open a file for lock: DIR/LOCK: \
             No space left on device",
            Cause::NoSpace,
        ),
        (
            "IO error: While appending to file: DIR/000007.dbtmp: Disk quota exceeded",
            Cause::NoSpace,
        ),
        (
            "Corruption: block checksum mismatch: stored = 1, computed = 2, type = 4  in \
             DIR/000012.sst offset 0 size 4059, block_type = kData",
            Cause::Corruption,
        ),
        (
            "Corruption: file is too short (20 bytes) to be an sstable: DIR/000012.sst",
            Cause::Corruption,
        ),
        (
            "IO error: No such file or directory: While open a file for random read: \
             DIR/000012.sst: No such file or directory",
            Cause::Other,
        ),
        (
            "Invalid argument: Merge requires `ColumnFamilyOptions::merge_operator != nullptr`",
            Cause::MergeOperator,
        ),
        (
            "Not implemented: WAL contains prepared transactions. Open with \
             TransactionDB::Open().",
            Cause::PreparedTransactions,
        ),
        (
            "Invalid argument: mine: does not match existing comparator leveldb.BytewiseComparator",
            Cause::Comparator,
        ),
        (
            "Not implemented: Snappy not supported in this build",
            Cause::Compression,
        ),
        (
            "Not implemented: Compression type not supported or not built-in: \
             CustomCompression80",
            Cause::Compression,
        ),
    ];

    #[test]
    fn rocksdbs_sentences_mean_the_same_in_every_directory() {
        for directory in DIRECTORIES {
            for (text, meant) in SENTENCES {
                assert_eq!(told(directory, text), meant, "{directory}: {text}");
            }
        }
    }
}
