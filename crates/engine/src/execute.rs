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
    let executed = match result {
        Ok(done) => succeeded(plan, &done, begun.elapsed()),
        Err(error) => return failed(plan, &error),
    };
    if moves && executed.mismatch.is_none() {
        release_space(family, plan.input_bytes);
    }
    executed
}

/// RocksDB reserves space for what it moves, and never gives it back: in the end it would hold
/// all compactions for too large.
fn release_space(family: &impl AsColumnFamilyRef, moved: u64) {
    // It fails only where memory has run out; the files have moved all the same.
    let _ = CfRef::of(family).and_then(|family| family.release_reserved_space(moved));
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
        mismatch: mismatch(&plan.files().collect(), &Did::of(done)),
        unreadable: None,
    }
}

/// What RocksDB did, by the numbers of files.
#[derive(Debug)]
enum Did {
    /// It merged these.
    Merged(BTreeSet<u64>),
    /// It moved them; they are these since.
    Moved(BTreeSet<u64>),
}

impl Did {
    fn of(done: &CompactFilesResult) -> Did {
        match &done.job_info {
            Some(job) => {
                let inputs = job.info().input_file_infos();
                Did::Merged(inputs.map(|file| file.file_number()).collect())
            }
            None => {
                let names = done.output_files.iter();
                Did::Moved(names.filter_map(|name| file_number(name)).collect())
            }
        }
    }
}

/// A sentence when RocksDB did not take the very files that were planned, or made others of
/// those that it should have moved.
fn mismatch(planned: &BTreeSet<u64>, did: &Did) -> Option<String> {
    match did {
        Did::Merged(taken) => (taken != planned)
            .then(|| format!("RocksDB merged the files {taken:?}, planned were {planned:?}")),
        Did::Moved(moved) => (moved != planned)
            .then(|| format!("RocksDB rewrote {planned:?} to {moved:?} instead of moving them")),
    }
}

fn failed(plan: &Plan, error: &rust_rocksdb::Error) -> Executed {
    let outcome = match error.kind() {
        // Somebody else was faster: the tree is no longer the one seen. If it is, the same
        // comes out again, which is counted.
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
    [
        "No space left",
        "NoSpace",
        "quota exceeded",
        "Compaction too large",
    ]
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
    use lissom_core::testing::numbered_files;
    use lissom_core::validate::closure;
    use lissom_core::{File, Key, PhysicalLevel, Tree};

    const OUTPUT: PhysicalLevel = PhysicalLevel(3);

    fn file(number: u64, smallest: &str, largest: &str) -> File {
        File {
            number,
            size: 100,
            smallest: Key::from(smallest),
            largest: Key::from(largest),
            entries: 10,
            deletions: 0,
        }
    }

    /// File 11 at level 1 over the first two of the three files at level 3, and what lies
    /// between.
    fn tree(between: Vec<File>) -> Tree {
        let newer = vec![file(11, "00000", "00019")];
        Tree::new(vec![vec![], newer, between, numbered_files(3)]).expect("legal")
    }

    /// All that RocksDB takes when it is asked for file 11.
    fn taken(tree: &Tree) -> BTreeSet<u64> {
        closure(tree, &BTreeSet::from([11]), OUTPUT)
    }

    #[test]
    fn what_was_merged_is_held_against_what_was_planned() {
        let planned = taken(&tree(vec![]));
        assert_eq!(planned, BTreeSet::from([1, 2, 11]));
        assert_eq!(mismatch(&planned, &Did::Merged(planned.clone())), None);

        // A file has come in between since the plan was made.
        let more = taken(&tree(vec![file(12, "00015", "00029")]));
        let told = mismatch(&planned, &Did::Merged(more)).expect("two files more");
        assert_eq!(
            told,
            "RocksDB merged the files {1, 2, 3, 11, 12}, planned were {1, 2, 11}"
        );
        let fewer = Did::Merged(BTreeSet::from([1, 11]));
        assert!(mismatch(&planned, &fewer).is_some());
        // As many, but others.
        let others = Did::Merged(BTreeSet::from([1, 3, 11]));
        assert!(mismatch(&planned, &others).is_some());
    }

    #[test]
    fn a_move_that_was_a_rewrite_is_told() {
        let planned = BTreeSet::from([4, 5]);
        assert_eq!(mismatch(&planned, &Did::Moved(planned.clone())), None);
        let told = mismatch(&planned, &Did::Moved(BTreeSet::from([6]))).expect("one new file");
        assert_eq!(told, "RocksDB rewrote {4, 5} to {6} instead of moving them");
    }

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
