//! The tree as RocksDB's manifest shows it: files, runs and levels.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::layout::{Layout, LogicalLevel, PhysicalLevel};

/// One SST file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct File {
    /// RocksDB's file number.
    pub number: u64,
    /// Size on disk, bytes.
    pub size: u64,
    /// Smallest user key.
    pub smallest: Key,
    /// Largest user key.
    pub largest: Key,
    /// Entries of any kind; 0 when RocksDB has not loaded the number.
    pub entries: u64,
    /// Tombstones among them, of points and of ranges.
    pub deletions: u64,
}

impl File {
    /// Whether the file's keys and `[low, high]` have a key in common.
    pub fn overlaps(&self, low: &Key, high: &Key) -> bool {
        self.smallest <= *high && self.largest >= *low
    }

    /// From its smallest key to its largest.
    pub fn range(&self) -> (Key, Key) {
        (self.smallest.clone(), self.largest.clone())
    }

    /// Has `range` cover the file's keys, too.
    pub fn widen(&self, range: &mut (Key, Key)) {
        let (low, high) = range;
        if self.smallest < *low {
            low.clone_from(&self.smallest);
        }
        if self.largest > *high {
            high.clone_from(&self.largest);
        }
    }

    /// Share of tombstones among the entries, 0 when unknown.
    pub fn deletion_share(&self) -> f64 {
        if self.entries == 0 {
            0.0
        } else {
            self.deletions as f64 / self.entries as f64
        }
    }
}

/// All files of one column family, by physical level.
///
/// Invariant: L0 is ordered newest first; every other physical level is one
/// run, ordered by key, whose files overlap at most in a shared boundary key
/// (range tombstones make neighbours share one).
///
/// Clones share their files, so that one is cheap however many there are.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Tree {
    levels: Vec<Arc<Vec<File>>>,
}

/// Why a list of files is not a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IllegalTree(pub String);

impl std::fmt::Display for IllegalTree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for IllegalTree {}

impl Tree {
    /// A tree from its files by physical level: L0 newest first, the others in
    /// any order.
    ///
    /// # Errors
    /// When two files of one level above 0 overlap by more than a shared
    /// boundary key, or a file's keys are reversed. RocksDB never shows that.
    pub fn new(levels: Vec<Vec<File>>) -> Result<Tree, IllegalTree> {
        let mut tree = Tree::default();
        for (at, files) in levels.into_iter().enumerate() {
            tree.replace(PhysicalLevel(at as u16), files)?;
        }
        Ok(tree)
    }

    /// Puts these files, in the order of [`Tree::new`], in the place of those of a physical
    /// level. Other trees that share the level keep theirs.
    ///
    /// # Errors
    /// As [`Tree::new`]; the tree is as before then.
    pub fn replace(
        &mut self,
        level: PhysicalLevel,
        mut files: Vec<File>,
    ) -> Result<(), IllegalTree> {
        let at = usize::from(level.0);
        if at > 0 {
            files.sort_by(|a, b| (&a.smallest, &a.largest).cmp(&(&b.smallest, &b.largest)));
        }
        check_level(at, &files)?;
        if at >= self.levels.len() {
            self.levels.resize_with(at + 1, Arc::default);
        }
        self.levels[at] = Arc::new(files);
        while self.levels.last().is_some_and(|files| files.is_empty()) {
            self.levels.pop();
        }
        Ok(())
    }

    /// The files of a physical level; empty when there are none.
    pub fn files(&self, level: PhysicalLevel) -> &[File] {
        self.levels
            .get(usize::from(level.0))
            .map_or(&[], |files| files.as_slice())
    }

    /// L0's files, newest first.
    pub fn level0(&self) -> &[File] {
        self.files(PhysicalLevel::L0)
    }

    /// Whether no two files of L0 have a key in common.
    pub fn level0_is_disjoint(&self) -> bool {
        let mut files: Vec<&File> = self.level0().iter().collect();
        files.sort_unstable_by(|a, b| a.smallest.cmp(&b.smallest));
        files
            .windows(2)
            .all(|pair| pair[0].largest < pair[1].smallest)
    }

    /// The highest number of a file in L0: what is flushed later has a higher one.
    pub fn newest_in_level0(&self) -> Option<u64> {
        self.level0().iter().map(|file| file.number).max()
    }

    /// Bytes of those files of L0 whose numbers are asked for.
    pub fn level0_bytes_of(&self, wanted: impl Fn(u64) -> bool) -> u64 {
        let files = self.level0().iter().filter(|file| wanted(file.number));
        files.map(|file| file.size).sum()
    }

    /// Bytes in a physical level.
    pub fn bytes(&self, level: PhysicalLevel) -> u64 {
        self.files(level).iter().map(|file| file.size).sum()
    }

    /// Bytes in the whole tree.
    pub fn total_bytes(&self) -> u64 {
        self.iter().map(|(_, file)| file.size).sum()
    }

    /// Bytes in the tree over bytes in its oldest run: never less than the
    /// space amplification. `None` without runs.
    pub fn space_amplification(&self) -> Option<f64> {
        let oldest = self.bytes(self.runs().next_back()?);
        (oldest > 0).then(|| self.total_bytes() as f64 / oldest as f64)
    }

    /// Files in the whole tree.
    pub fn total_files(&self) -> usize {
        self.levels.iter().map(|files| files.len()).sum()
    }

    /// Every file with its physical level, shallowest first.
    pub fn iter(&self) -> impl Iterator<Item = (PhysicalLevel, &File)> {
        self.levels.iter().enumerate().flat_map(|(at, files)| {
            let level = PhysicalLevel(at as u16);
            files.iter().map(move |file| (level, file))
        })
    }

    /// The files whose entries are unknown.
    pub fn uncounted(&self) -> impl Iterator<Item = &File> {
        let files = self.levels.iter().flat_map(|files| files.iter());
        files.filter(|file| file.entries == 0)
    }

    /// Gives each of these the entries and tombstones that `counts` knows by its number.
    pub fn fill_counts(&mut self, counts: impl Fn(u64) -> Option<(u64, u64)>) {
        let unknown = |file: &File| file.entries == 0;
        for level in self.levels.iter_mut() {
            if !level.iter().any(unknown) {
                continue;
            }
            for file in Arc::make_mut(level).iter_mut().filter(|file| unknown(file)) {
                if let Some((entries, deletions)) = counts(file.number) {
                    file.entries = entries;
                    file.deletions = deletions;
                }
            }
        }
    }

    /// The files whose range of keys holds `key`.
    pub fn at(&self, key: &Key) -> impl Iterator<Item = &File> {
        let level0 = self.level0().iter();
        let level0 = level0.filter(move |file| file.overlaps(key, key));
        let runs = self.levels.iter().skip(1).flat_map(move |files| {
            let first = files.partition_point(|file| file.largest < *key);
            let from = files[first..].iter();
            from.take_while(move |file| file.smallest <= *key)
        });
        level0.chain(runs)
    }

    /// Occupied physical levels above 0, newest first.
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = PhysicalLevel> + '_ {
        (1..self.levels.len())
            .filter(|at| !self.levels[*at].is_empty())
            .map(|at| PhysicalLevel(at as u16))
    }

    /// Occupied physical levels within `[first, last]`, newest first.
    pub fn runs_within(&self, first: PhysicalLevel, last: PhysicalLevel) -> Vec<PhysicalLevel> {
        self.runs()
            .filter(|run| *run >= first && *run <= last)
            .collect()
    }

    /// The runs of a logical level, newest first.
    pub fn runs_of(&self, layout: &Layout, level: LogicalLevel) -> Vec<PhysicalLevel> {
        let (first, last) = layout.span(level);
        self.runs_within(first, last)
    }

    /// Bytes of a logical level.
    pub fn level_bytes(&self, layout: &Layout, level: LogicalLevel) -> u64 {
        let runs = self.runs_of(layout, level);
        runs.into_iter().map(|run| self.bytes(run)).sum()
    }

    /// The deepest logical level that holds a run.
    pub fn deepest_occupied(&self, layout: &Layout) -> Option<LogicalLevel> {
        self.runs()
            .rev()
            .find_map(|run| layout.logical(run))
            .map(|(level, _)| level)
    }

    /// The physical level of each file, by number.
    pub fn places(&self) -> BTreeMap<u64, PhysicalLevel> {
        self.iter()
            .map(|(level, file)| (file.number, level))
            .collect()
    }
}

fn check_level(at: usize, files: &[File]) -> Result<(), IllegalTree> {
    for file in files {
        if file.smallest > file.largest {
            return Err(IllegalTree(format!(
                "file {} at physical level {at} has keys {}..{} in reverse",
                file.number, file.smallest, file.largest
            )));
        }
    }
    if at == 0 {
        return Ok(());
    }
    for pair in files.windows(2) {
        if pair[0].largest > pair[1].smallest {
            return Err(IllegalTree(format!(
                "files {} and {} overlap at physical level {at}, which must be one sorted run",
                pair[0].number, pair[1].number
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::numbered_files;

    fn numbers<'a>(files: impl Iterator<Item = &'a File>) -> Vec<u64> {
        files.map(|file| file.number).collect()
    }

    /// Files 1 and 2 in L0, 3 to 6 side by side below, the last two with a key in common.
    fn tree() -> Tree {
        let mut files = numbered_files(6);
        files[1].smallest = files[0].smallest.clone();
        files[5].smallest = files[4].largest.clone();
        let below = files.split_off(2);
        Tree::new(vec![files, Vec::new(), below]).expect("legal")
    }

    #[test]
    fn a_key_lies_in_the_files_around_it() {
        let tree = tree();
        let at = |key: &str| numbers(tree.at(&Key::from(key)));
        assert_eq!(at("00005"), [1, 2]);
        assert_eq!(at("00015"), [2]);
        assert_eq!(at("00020"), [3]);
        assert_eq!(at("00049"), [5, 6]);
        assert!(at("00060").is_empty());
    }

    #[test]
    fn a_level_is_replaced_and_what_was_shared_stays() {
        let before = tree();
        let mut after = before.clone();
        let below = PhysicalLevel(2);
        after.replace(below, Vec::new()).expect("legal");
        assert_eq!((before.files(below).len(), after.total_files()), (4, 2));
        assert_eq!(
            after,
            Tree::new(vec![before.level0().to_vec()]).expect("legal")
        );
        after
            .replace(below, before.files(below).to_vec())
            .expect("legal");
        assert_eq!(after, before);
        let overlapping = vec![before.files(below)[0].clone(); 2];
        assert!(after.replace(PhysicalLevel(1), overlapping).is_err());
        assert_eq!(after, before, "a refusal changes nothing");
    }

    #[test]
    fn a_tree_is_written_as_lists_of_files() {
        let tree = tree();
        let lists: Vec<Vec<File>> = (0..3)
            .map(|at| tree.files(PhysicalLevel(at)).to_vec())
            .collect();
        let written = serde_json::to_value(&tree).expect("a tree is JSON");
        assert_eq!(
            written["levels"],
            serde_json::to_value(&lists).expect("lists are JSON")
        );
        assert_eq!(
            serde_json::from_value::<Tree>(written).expect("as written"),
            tree
        );
    }

    #[test]
    fn counts_are_filled_in_where_they_are_unknown() {
        let mut files = numbered_files(3);
        for file in &mut files[1..] {
            file.entries = 0;
        }
        let mut tree = Tree::new(vec![files]).expect("legal");
        assert_eq!(numbers(tree.uncounted()), [2, 3]);
        tree.fill_counts(|number| (number != 3).then_some((8, 6)));
        assert_eq!(numbers(tree.uncounted()), [3]);
        let shares: Vec<f64> = tree.level0().iter().map(File::deletion_share).collect();
        assert_eq!(shares, [0.0, 0.75, 0.0]);
    }
}
