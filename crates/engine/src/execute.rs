//! Carrying out one plan with `CompactFiles`, and comparing what RocksDB did
//! with what was planned.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use lissom_core::journal::Outcome;
use lissom_core::{Plan, PlanKind};
use rust_rocksdb::{
    AsColumnFamilyRef, CompactFilesResult, CompactionOptions, ErrorKind as RocksKind,
};

use crate::RocksDb;
use crate::ffi::CfRef;
use crate::ffi::options::live_options;

/// What came of a plan.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Executed {
    pub(crate) outcome: Outcome,
    /// A sentence when RocksDB did something else than planned.
    pub(crate) mismatch: Option<String>,
    /// An input that could not be read.
    pub(crate) unreadable: Option<Unread>,
}

/// An input that could not be read, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unread {
    /// It does not hold what was written: another attempt reads the same.
    Damaged(u64),
    /// The operating system did not give it: it may the next time.
    Refused(u64),
}

/// Runs a plan on the calling thread. The plan must be valid for the tree.
pub(crate) fn execute(
    db: &RocksDb,
    family: &impl AsColumnFamilyRef,
    plan: &Plan,
    max_subcompactions: u32,
) -> Executed {
    let mut options = CompactionOptions::default();
    options.set_output_file_size_limit(plan.output_file_size);
    options.set_max_subcompactions(max_subcompactions);
    let moves = plan.kind == PlanKind::Move && !has_compaction_filter(family);
    options.set_allow_trivial_move(moves);
    let names: Vec<String> = plan
        .files()
        .map(|number| format!("{number:06}.sst"))
        .collect();
    let begun = Instant::now();
    let result = db.compact_files_cf(family, &options, &names, i32::from(plan.output.0));
    match result {
        Ok(done) => succeeded(plan, &done, begun.elapsed()),
        Err(error) => failed(plan, &error),
    }
}

/// With a compaction filter RocksDB rewrites what it is asked to move, and says
/// how many bytes only when it is not asked for a move.
fn has_compaction_filter(family: &impl AsColumnFamilyRef) -> bool {
    CfRef::of(family).and_then(live_options).is_ok_and(|live| {
        live.cf.compaction_filter.is_some() || live.cf.compaction_filter_factory.is_some()
    })
}

fn succeeded(plan: &Plan, done: &CompactFilesResult, took: Duration) -> Executed {
    let outcome = match &done.job_info {
        Some(job) => Outcome::Done {
            read_bytes: job.info().total_input_bytes(),
            write_bytes: job.info().total_output_bytes(),
            input_entries: job.info().input_records(),
            output_entries: job.info().output_records(),
            took,
        },
        None => Outcome::Done {
            read_bytes: 0,
            write_bytes: 0,
            input_entries: 0,
            output_entries: 0,
            took,
        },
    };
    Executed {
        outcome,
        mismatch: mismatch(plan, done),
        unreadable: None,
    }
}

fn mismatch(plan: &Plan, done: &CompactFilesResult) -> Option<String> {
    let planned: BTreeSet<u64> = plan.files().collect();
    match &done.job_info {
        Some(job) => {
            let taken: BTreeSet<u64> = job
                .info()
                .input_file_infos()
                .map(|file| file.file_number())
                .collect();
            (taken != planned)
                .then(|| format!("RocksDB merged the files {taken:?}, planned were {planned:?}"))
        }
        None => {
            let moved: BTreeSet<u64> = done
                .output_files
                .iter()
                .filter_map(|name| file_number(name))
                .collect();
            (moved != planned)
                .then(|| format!("RocksDB rewrote {planned:?} to {moved:?} instead of moving them"))
        }
    }
}

fn failed(plan: &Plan, error: &rust_rocksdb::Error) -> Executed {
    let outcome = match error.kind() {
        // Somebody else was faster: the tree is no longer the one seen.
        RocksKind::Aborted | RocksKind::Busy | RocksKind::InvalidArgument => Outcome::Stale {
            why: error.to_string(),
        },
        RocksKind::Incomplete | RocksKind::ShutdownInProgress | RocksKind::ColumnFamilyDropped => {
            Outcome::Cancelled
        }
        _ => Outcome::Failed {
            error: error.to_string(),
        },
    };
    let named = || named_input(plan, error.as_ref());
    let unreadable = match error.kind() {
        RocksKind::Corruption => named().map(Unread::Damaged),
        RocksKind::IOError if !is_for_want(error.as_ref()) => named().map(Unread::Refused),
        _ => None,
    };
    Executed {
        outcome,
        mismatch: None,
        unreadable,
    }
}

/// The input that RocksDB's message names as `.../000123.sst`.
fn named_input(plan: &Plan, message: &str) -> Option<u64> {
    files_named(message).find(|number| plan.files().any(|file| file == *number))
}

/// The files that a message names.
pub(crate) fn files_named(message: &str) -> impl Iterator<Item = u64> + '_ {
    message
        .split([' ', ':', ',', '\'', '"'])
        .filter_map(file_number)
}

/// There is no room, on the disk or under the limit of an SstFileManager: the
/// files are innocent.
pub(crate) fn is_full_disk(message: &str) -> bool {
    ["No space left", "NoSpace", "quota", "Compaction too large"]
        .iter()
        .any(|words| message.contains(words))
}

/// The process or the machine has too little of something, a full disk among them: the
/// files are innocent.
pub(crate) fn is_for_want(message: &str) -> bool {
    is_full_disk(message)
        || ["Too many open files", "Cannot allocate memory"]
            .iter()
            .any(|words| message.contains(words))
}

/// The number in `.../000123.sst`.
fn file_number(path: &str) -> Option<u64> {
    let name = path.rsplit('/').next()?;
    name.strip_suffix(".sst")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_numbers_are_read_from_paths() {
        assert_eq!(file_number("/a/b/000123.sst"), Some(123));
        assert_eq!(file_number("000007.sst"), Some(7));
        assert_eq!(file_number("000007.log"), None);
        assert_eq!(file_number(""), None);
        let message =
            "Corruption: block checksum mismatch: stored = 1  in /tmp/x/000012.sst offset 0";
        assert_eq!(files_named(message).collect::<Vec<_>>(), [12]);
    }
}
