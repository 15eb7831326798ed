//! Reading the tree from RocksDB's manifest. Works on any open database, also
//! one that was opened read-only.

use std::collections::{BTreeMap, BTreeSet};

use lissom_core::{File, InFlight, Key, PhysicalLevel, Tree};
use rust_rocksdb::AsColumnFamilyRef;

use crate::error::{Error, Result};
use crate::ffi::CfRef;
use crate::ffi::snapshot::{FileRow, tree_snapshot};

/// One column family's files at one instant.
#[derive(Clone, PartialEq, Debug)]
pub struct Seen {
    /// The files by level.
    pub tree: Tree,
    /// Those that are inputs of a compaction, whoever runs it.
    pub being_compacted: BTreeSet<u64>,
}

/// Looks at a column family of an open database. RocksDB holds its mutex for the time of a copy of
/// all file metadata: some milliseconds for thousands of files.
///
/// # Errors
/// When RocksDB's metadata cannot be read, or is no tree.
pub fn observe(family: &impl AsColumnFamilyRef) -> Result<Seen> {
    let snapshot = tree_snapshot(CfRef::of(family)?)?;
    let being_compacted = snapshot
        .files
        .iter()
        .filter(|row| row.being_compacted)
        .map(|row| row.number)
        .collect();
    let mut levels: BTreeMap<u32, Vec<File>> = BTreeMap::new();
    for row in snapshot.files {
        levels.entry(row.level).or_default().push(file(row));
    }
    let deepest = levels.keys().next_back().map_or(0, |level| level + 1);
    let by_level = (0..deepest)
        .map(|level| levels.remove(&level).unwrap_or_default())
        .collect();
    let tree = Tree::new(by_level)
        .map_err(|error| Error::bug(format!("RocksDB's metadata is no tree: {error}")))?;
    Ok(Seen {
        tree,
        being_compacted,
    })
}

fn file(row: FileRow) -> File {
    File {
        number: row.number,
        size: row.size,
        smallest: Key::from(row.smallest),
        largest: Key::from(row.largest),
        entries: row.entries,
        deletions: row.deletions,
    }
}

impl Seen {
    /// What others compact: RocksDB itself, or the application. Their jobs are
    /// taken as one, over the hull of its levels and keys, since the metadata
    /// names inputs only.
    pub(crate) fn foreign(&self, own: &[InFlight]) -> Option<InFlight> {
        let is_own = |number: &u64| own.iter().any(|job| job.files.contains(number));
        let files: BTreeSet<u64> = self
            .being_compacted
            .iter()
            .copied()
            .filter(|number| !is_own(number))
            .collect();
        let mut hull: Option<InFlight> = None;
        for (level, file) in self.tree.iter() {
            if files.contains(&file.number) {
                widen(&mut hull, level, file);
            }
        }
        let mut job = hull?;
        if job.top == job.output {
            // Where it writes to is not told: mostly one level down. RocksDB itself refuses what meets
            // it elsewhere.
            job.output = PhysicalLevel(job.top.0 + 1);
        }
        job.files = files;
        Some(job)
    }
}

fn widen(hull: &mut Option<InFlight>, level: PhysicalLevel, file: &File) {
    let job = hull.get_or_insert_with(|| InFlight {
        files: BTreeSet::new(),
        top: level,
        output: level,
        range: file.range(),
        drain: None,
        foreign: true,
    });
    job.top = job.top.min(level);
    job.output = job.output.max(level);
    file.widen(&mut job.range);
}

#[cfg(test)]
mod tests {
    use super::*;
    use lissom_core::testing::numbered_files;

    #[test]
    fn foreign_jobs_reach_one_level_below_their_inputs() {
        let files = numbered_files(4);
        let seen = Seen {
            tree: Tree::new(vec![files[..2].to_vec(), vec![], files[2..].to_vec()]).expect("legal"),
            being_compacted: BTreeSet::from([1, 2]),
        };
        let job = seen.foreign(&[]).expect("a job");
        assert_eq!((job.top, job.output), (PhysicalLevel(0), PhysicalLevel(1)));
        assert_eq!(job.range, (Key::from("00000"), Key::from("00019")));
        assert_eq!(seen.foreign(&[job]), None);
    }
}
