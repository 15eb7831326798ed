//! The shape of a tree, without its files: as much as a tuner decides by, so that it decides
//! again over what the journal tells as it did over the tree.

use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::layout::{Layout, LogicalLevel, PhysicalLevel};
use crate::tree::{File, Tree};

/// A tree.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct TreeSummary {
    /// Files in L0.
    pub level0_files: usize,
    /// Bytes in L0.
    pub level0_bytes: u64,
    /// What else is told of L0's files; absent in older journals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level0_told: Option<FilesSummary>,
    /// All runs, newest first.
    pub runs: Vec<RunSummary>,
}

/// One run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RunSummary {
    /// Where it lies.
    pub physical: PhysicalLevel,
    /// Its logical level; absent on the landing level.
    pub level: Option<LogicalLevel>,
    /// Its size.
    pub bytes: u64,
    /// Its files.
    pub files: usize,
    /// What else is told of its files; absent in older journals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<FilesSummary>,
}

/// Some files, beside their number and their bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FilesSummary {
    /// The lowest of RocksDB's numbers of them.
    pub lowest: u64,
    /// The highest.
    pub highest: u64,
    /// Bytes of those whose entries RocksDB has counted.
    pub counted_bytes: u64,
    /// Entries of any kind in those.
    pub entries: u64,
    /// Tombstones among them, of points and of ranges.
    pub deletions: u64,
}

impl FilesSummary {
    /// The summary of files; `None` without any.
    fn of(files: &[File]) -> Option<FilesSummary> {
        let numbers = || files.iter().map(|file| file.number);
        let counted = || files.iter().filter(|file| file.entries > 0);
        let sum = |each: fn(&File) -> u64| counted().map(each).fold(0, u64::saturating_add);
        Some(FilesSummary {
            lowest: numbers().min()?,
            highest: numbers().max()?,
            counted_bytes: sum(|file| file.size),
            entries: sum(|file| file.entries),
            deletions: sum(|file| file.deletions),
        })
    }
}

/// More files than any L0 has; a line that tells of more is not a store's.
const MOST_LEVEL0_FILES: usize = 1 << 20;

/// Files that stand for `count` that were summed up, of so many bytes.
struct StandIns {
    count: usize,
    bytes: u64,
    told: FilesSummary,
}

impl StandIns {
    /// The first has all that is counted, the second the rest of the bytes, any others
    /// nothing. Each has its part of the keys, so that they can be a run.
    fn files(&self) -> Vec<File> {
        let counted = self.told.counted_bytes.min(self.bytes);
        let all = (0..self.count).map(|at| {
            let (low, high) = (at as u64 * 2, at as u64 * 2 + 1);
            File {
                number: if at == 0 {
                    self.told.lowest
                } else {
                    self.told.highest
                },
                size: match at {
                    0 if self.count == 1 => self.bytes,
                    0 => counted,
                    1 => self.bytes - counted,
                    _ => 0,
                },
                smallest: Key::from(low.to_be_bytes()),
                largest: Key::from(high.to_be_bytes()),
                entries: if at == 0 { self.told.entries } else { 0 },
                deletions: if at == 0 { self.told.deletions } else { 0 },
            }
        });
        all.collect()
    }
}

impl TreeSummary {
    /// A tree of such runs, each of at most two files: what a tuner sees of a tree.
    pub fn as_tree(&self) -> Tree {
        let deepest = self.runs.iter().map(|run| run.physical.0).max();
        let mut levels = vec![Vec::new(); usize::from(deepest.unwrap_or(0)) + 1];
        // What nobody told counts for nothing; where numbers are not told, those of newer
        // runs are higher.
        let told = |told: Option<FilesSummary>, older: usize| {
            let untold = FilesSummary {
                lowest: older as u64,
                highest: older as u64,
                ..FilesSummary::default()
            };
            told.unwrap_or(untold)
        };
        let level0 = StandIns {
            count: self.level0_files.min(MOST_LEVEL0_FILES),
            bytes: self.level0_bytes,
            told: told(self.level0_told, self.runs.len()),
        };
        levels[0] = level0.files();
        for (newer, run) in self.runs.iter().enumerate() {
            let stand_ins = StandIns {
                count: run.files.clamp(1, 2),
                bytes: run.bytes,
                told: told(run.told, self.runs.len() - 1 - newer),
            };
            levels[usize::from(run.physical.0)] = stand_ins.files();
        }
        Tree::new(levels).unwrap_or_default()
    }

    /// The summary of a tree.
    pub fn of(tree: &Tree, layout: &Layout) -> TreeSummary {
        TreeSummary {
            level0_files: tree.level0().len(),
            level0_bytes: tree.bytes(PhysicalLevel::L0),
            level0_told: FilesSummary::of(tree.level0()),
            runs: tree
                .runs()
                .map(|physical| RunSummary {
                    physical,
                    level: layout.logical(physical).map(|(level, _)| level),
                    bytes: tree.bytes(physical),
                    files: tree.files(physical).len(),
                    told: FilesSummary::of(tree.files(physical)),
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::numbered_files;

    /// Files of which every third is not counted, as of a run or of L0.
    fn files(count: u64, from: u64) -> Vec<File> {
        let mut files = numbered_files(count);
        for (at, file) in files.iter_mut().enumerate() {
            file.number = from + at as u64;
            file.size = 100 + at as u64;
            let counted = at % 3 < 2;
            file.entries = if counted { 7 + at as u64 } else { 0 };
            file.deletions = if counted { at as u64 } else { 0 };
        }
        files
    }

    fn tree(level0: u64, runs: &[u64]) -> Tree {
        let mut levels = vec![files(level0, 900)];
        for (at, count) in runs.iter().enumerate() {
            levels.push(files(*count, 100 * (runs.len() - at) as u64));
        }
        Tree::new(levels).expect("runs")
    }

    /// Each run has as many files as stand for it.
    fn with_stand_ins(mut summary: TreeSummary) -> TreeSummary {
        for run in &mut summary.runs {
            run.files = run.files.min(2);
        }
        summary
    }

    #[test]
    fn what_stands_for_a_tree_is_summed_up_as_it_is() {
        for (level0, runs) in [
            (0, &[][..]),
            (1, &[]),
            (5, &[1]),
            (4, &[3, 1]),
            (0, &[0, 9, 2]),
            (2, &[10, 20, 200]),
        ] {
            let summary = TreeSummary::of(&tree(level0, runs), &Layout::V1);
            let line = serde_json::to_string(&summary).expect("a summary is data");
            let read: TreeSummary = serde_json::from_str(&line).expect(&line);
            assert_eq!(read, summary);
            let again = TreeSummary::of(&read.as_tree(), &Layout::V1);
            assert_eq!(again, with_stand_ins(summary), "{level0} over {runs:?}");
        }
    }

    #[test]
    fn of_an_old_journal_bytes_and_runs_are_known() {
        let line = r#"{"level0_files":3,"level0_bytes":10,"runs":[
            {"physical":2,"level":1,"bytes":7,"files":1},
            {"physical":5,"level":2,"bytes":90,"files":40}]}"#;
        let old: TreeSummary = serde_json::from_str(line).expect("an old summary");
        let tree = old.as_tree();
        assert_eq!((tree.level0().len(), tree.total_bytes()), (3, 107));
        let numbers = [2, 5].map(|run| tree.files(PhysicalLevel(run))[0].number);
        assert!(numbers[0] > numbers[1], "newer runs have newer files");
        assert_eq!(tree.uncounted().count(), tree.total_files());
    }
}
