//! Carrying out one plan with `CompactFiles`, and comparing what RocksDB did
//! with what was planned.

mod reserved;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use lissom_core::journal::Outcome;
use lissom_core::{PhysicalLevel, Plan, PlanKind};
use rust_rocksdb::{
    AsColumnFamilyRef, CompactFilesResult, CompactionOptions, ErrorKind as RocksKind,
};

use crate::RocksDb;
use crate::events::stages::watching;
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
    let output = i32::from(plan.output.0);
    let begun = Instant::now();
    let (result, merged) = watching(|| db.compact_files_cf(family, &options, &names, output));
    let done = match result {
        Ok(done) => done,
        Err(error) => {
            if moves {
                reserved::release_after(family, plan, &error, merged);
            }
            return failed(plan, &error);
        }
    };
    let did = Did::of(&done);
    if did.is_move_of(plan) {
        reserved::release(family, plan);
    }
    succeeded(plan, &done, &did, begun.elapsed())
}

/// With a compaction filter RocksDB rewrites what it is asked to move, and says
/// how many bytes only when it is not asked for a move. It is given when the database is opened.
pub(crate) fn has_compaction_filter(family: &impl AsColumnFamilyRef) -> bool {
    CfRef::of(family).and_then(live_options).is_ok_and(|live| {
        live.cf.compaction_filter.is_some() || live.cf.compaction_filter_factory.is_some()
    })
}

fn succeeded(plan: &Plan, done: &CompactFilesResult, did: &Did, took: Duration) -> Executed {
    let outcome = match &done.job_info {
        Some(job) => Outcome::Done {
            read_bytes: job.info().total_input_bytes(),
            write_bytes: job.info().total_output_bytes(),
            input_entries: job.info().input_records(),
            output_entries: job.info().output_records(),
            took,
        },
        None => {
            // RocksDB says nothing of a rewrite where it was asked for a move. No two of the files
            // overlap, so it reads and writes what they hold.
            let bytes = if did.is_move_of(plan) {
                0
            } else {
                plan.input_bytes
            };
            Outcome::Done {
                read_bytes: bytes,
                write_bytes: bytes,
                input_entries: 0,
                output_entries: 0,
                took,
            }
        }
    };
    // Files of L0 are merged where others have come over them since the plan was held against
    // the tree, which is nobody's fault.
    let of_level0 = plan.top() == PhysicalLevel::L0 && matches!(did, Did::Moved(_));
    Executed {
        outcome,
        mismatch: mismatch(&plan.files().collect(), did).filter(|_| !of_level0),
        unreadable: None,
    }
}

/// What RocksDB did, by the numbers of files.
#[derive(Debug)]
enum Did {
    /// It merged these.
    Merged(BTreeSet<u64>),
    /// It was to move them; they are these since.
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

    /// Whether the very files of a plan moved.
    fn is_move_of(&self, plan: &Plan) -> bool {
        let planned: BTreeSet<u64> = plan.files().collect();
        matches!(self, Did::Moved(files) if *files == planned)
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
        "Quota exceeded",
        "Compaction too large",
        "Space limit reached",
    ]
    .iter()
    .any(|words| message.contains(words))
}

/// The process or the machine has too little of something, a full disk among them: the
/// files are innocent.
pub(crate) fn is_for_want(message: &str) -> bool {
    is_full_disk(message)
        || [
            "Too many open files",
            "Cannot allocate memory",
            // As musl has it.
            "No file descriptors available",
            "Out of memory",
        ]
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
    use lissom_core::plan::Input;
    use lissom_core::testing::numbered_files;
    use lissom_core::validate::closure;
    use lissom_core::{File, Key, Reason, Tree};

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

    /// The bytes that RocksDB wrote where it was to move files 4 and 5 of a level, of 300 bytes,
    /// and made these of them; and whether that is told as a mismatch.
    fn moved(level: u16, made: &[&str]) -> (u64, bool) {
        let plan = Plan {
            kind: PlanKind::Move,
            inputs: vec![Input {
                level: PhysicalLevel(level),
                files: vec![4, 5],
            }],
            output: OUTPUT,
            output_file_size: 100,
            range: (Key::from("00000"), Key::from("00019")),
            input_bytes: 300,
            drain: None,
            excess: None,
            awaited: false,
            hurried: false,
            reason: Reason::Landing { bytes: 300 },
        };
        let done = CompactFilesResult {
            output_files: made.iter().map(|name| (*name).to_owned()).collect(),
            job_info: None,
        };
        let executed = succeeded(&plan, &done, &Did::of(&done), Duration::ZERO);
        let Outcome::Done { write_bytes, .. } = executed.outcome else {
            panic!("{:?}", executed.outcome);
        };
        (write_bytes, executed.mismatch.is_some())
    }

    /// What is flushed meanwhile turns a move of L0 into a merge.
    #[test]
    fn a_rewrite_in_the_place_of_a_move_has_bytes_and_is_no_mismatch_of_l0() {
        for level in [0, 1] {
            assert_eq!(
                moved(level, &["/a/000005.sst", "/a/000004.sst"]),
                (0, false)
            );
        }
        assert_eq!(moved(0, &["/a/000006.sst"]), (300, false));
        assert_eq!(moved(1, &["/a/000006.sst"]), (300, true));
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
