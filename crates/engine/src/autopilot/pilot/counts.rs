//! Entries and tombstones of files, where RocksDB's metadata does not give them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::{Duration, Instant};

use lissom_core::{Key, Tree};

use crate::error::Result;
use crate::ffi::snapshot::TableRow;

/// A look reads so many files, or all that lie at one key where those are more: the planner
/// waits for them.
const MOST_FILES: usize = 32;

/// When files that could not be read are asked again.
const ASK_AGAIN: Duration = Duration::from_secs(600);

/// What files say of themselves, by their numbers.
type Tables = BTreeMap<u64, TableRow>;

/// RocksDB reads the properties of some 20 files at an open and after each compaction, and
/// those of the others never. They are read here, a few in each look.
#[derive(Default)]
pub(super) struct Counts {
    /// Entries and tombstones by file number, as they were read or RocksDB told them.
    known: HashMap<u64, (u64, u64)>,
    /// Files that could not be read.
    failed: BTreeSet<u64>,
    failed_at: Option<Instant>,
    /// Files of the tree, as it was last seen, that are not known.
    unknown: usize,
    /// Those of them that the next look may read.
    left: usize,
}

impl Counts {
    /// Fills in what is known of a tree's files, once `read` was asked for some of the
    /// others: for all files that lie at some keys.
    ///
    /// # Errors
    /// The first of `read`'s; what could be read is filled in.
    pub(super) fn complete(
        &mut self,
        tree: &mut Tree,
        now: Instant,
        read: impl Fn(&[&[u8]]) -> Result<Tables>,
    ) -> Result<()> {
        self.forgive(now);
        let asked = points(tree, |number| self.is_due(number));
        let mut outcome = Ok(());
        if !asked.is_empty() {
            outcome = self.ask(&asked, read);
            self.leave_out(&asked, now);
            self.forget_all_but(tree);
        }
        self.fill_in(tree);
        outcome
    }

    /// Fills in what is known of a tree's files.
    pub(super) fn fill_in(&mut self, tree: &mut Tree) {
        self.note(tree);
        tree.fill_counts(|number| self.known.get(&number).copied());
        self.count(tree);
    }

    /// Takes up what RocksDB's metadata tell of files: they forget it when one moves.
    fn note(&mut self, tree: &Tree) {
        let told = tree.iter().filter(|(_, file)| file.entries > 0);
        let counts = told.map(|(_, file)| (file.number, (file.entries, file.deletions)));
        self.known.extend(counts);
        if self.known.len() > 2 * tree.iter().count() {
            self.forget_all_but(tree);
        }
    }

    /// Whether the next look reads more.
    pub(super) fn has_more(&self) -> bool {
        self.left > 0
    }

    /// Whether the entries of all files are known.
    pub(super) fn are_whole(&self) -> bool {
        self.unknown == 0
    }

    fn is_due(&self, number: u64) -> bool {
        !self.known.contains_key(&number) && !self.failed.contains(&number)
    }

    fn forgive(&mut self, now: Instant) {
        let is_over = |at| now.duration_since(at) >= ASK_AGAIN;
        if self.failed_at.is_some_and(is_over) {
            self.failed.clear();
            self.failed_at = None;
        }
    }

    /// All keys at once, or else one by one: a file that cannot be read spoils the answer
    /// for all keys that are asked with its own.
    fn ask(
        &mut self,
        points: &[(u64, Key)],
        read: impl Fn(&[&[u8]]) -> Result<Tables>,
    ) -> Result<()> {
        let keys: Vec<&[u8]> = points.iter().map(|(_, key)| key.as_bytes()).collect();
        if let Ok(tables) = read(&keys) {
            self.learn(&tables);
            return Ok(());
        }
        let mut outcome = Ok(());
        for key in keys {
            match read(&[key]) {
                Ok(tables) => self.learn(&tables),
                Err(error) => outcome = outcome.and(Err(error)),
            }
        }
        outcome
    }

    fn learn(&mut self, tables: &Tables) {
        let counts = tables.iter();
        self.known
            .extend(counts.map(|(number, table)| (*number, table.counts())));
    }

    /// Those without an answer, which may have been merged meanwhile.
    fn leave_out(&mut self, asked: &[(u64, Key)], now: Instant) {
        for (number, _) in asked {
            if !self.known.contains_key(number) {
                self.failed.insert(*number);
                self.failed_at.get_or_insert(now);
            }
        }
    }

    /// A number is never given to another file.
    fn forget_all_but(&mut self, tree: &Tree) {
        let there: HashSet<u64> = tree.iter().map(|(_, file)| file.number).collect();
        self.known.retain(|number, _| there.contains(number));
    }

    fn count(&mut self, tree: &Tree) {
        let unknown = tree.uncounted().map(|file| file.number);
        let unknown: Vec<u64> = unknown
            .filter(|number| !self.known.contains_key(number))
            .collect();
        let left = unknown.iter().filter(|number| self.is_due(**number));
        self.left = left.count();
        self.unknown = unknown.len();
    }
}

/// Files that are due, each with a key at which it lies: as many as a look may read.
fn points(tree: &Tree, is_due: impl Fn(u64) -> bool) -> Vec<(u64, Key)> {
    let mut reached: BTreeSet<u64> = BTreeSet::new();
    let mut points = Vec::new();
    for file in tree.uncounted().filter(|file| is_due(file.number)) {
        if reached.contains(&file.number) {
            continue;
        }
        let mut all = reached.clone();
        all.extend(tree.at(&file.smallest).map(|file| file.number));
        if !points.is_empty() && all.len() > MOST_FILES {
            break;
        }
        reached = all;
        points.push((file.number, file.smallest.clone()));
    }
    points
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use lissom_core::File;
    use lissom_core::testing::numbered_files;

    use super::*;
    use crate::error::Error;

    /// Half of the entries are tombstones.
    fn table() -> TableRow {
        TableRow {
            entries: 10,
            deletions: 5,
            range_deletions: 0,
            filter_entries: 0,
            filter_size: 0,
            index_size: 0,
            data_size: 0,
            raw_key_size: 0,
            raw_value_size: 0,
            filter_policy: String::new(),
            compression: String::new(),
        }
    }

    /// Two runs of as many files, of which nothing is known.
    fn unknown_tree(files: u64) -> Tree {
        let run = |first: u64| -> Vec<File> {
            let mut run = numbered_files(files);
            for file in &mut run {
                file.number += first;
                file.entries = 0;
            }
            run
        };
        Tree::new(vec![Vec::new(), run(0), run(files)]).expect("legal")
    }

    /// What RocksDB answers: an error where a file at one of the keys is `broken`.
    fn answer(tree: &Tree, keys: &[&[u8]], broken: Option<u64>) -> Result<Tables> {
        let mut tables = Tables::new();
        for key in keys {
            let key = Key::from(key);
            tables.extend(tree.at(&key).map(|file| (file.number, table())));
        }
        match broken.filter(|number| tables.contains_key(number)) {
            Some(number) => Err(Error::fix(format!("{number:06}.sst"))),
            None => Ok(tables),
        }
    }

    #[test]
    fn a_large_tree_is_known_after_some_looks_of_few_files_each() {
        let tree = unknown_tree(2_500);
        let (mut counts, now) = (Counts::default(), Instant::now());
        let most = Cell::new(0);
        let read = |keys: &[&[u8]]| -> Result<Tables> {
            let tables = answer(&tree, keys, None)?;
            most.set(most.get().max(tables.len()));
            Ok(tables)
        };
        let mut looks = 0;
        while looks == 0 || counts.has_more() {
            let mut seen = tree.clone();
            counts.complete(&mut seen, now, read).expect("read");
            looks += 1;
            assert!(looks <= 5_000 / MOST_FILES + 1);
            assert_eq!(counts.are_whole(), seen.uncounted().next().is_none());
        }
        assert!(most.get() <= MOST_FILES, "{most:?}");
        let mut seen = tree.clone();
        let unasked = |_: &[&[u8]]| -> Result<Tables> { panic!("all is known") };
        counts.complete(&mut seen, now, unasked).expect("known");
        let is_half = |(_, file): (_, &File)| (file.deletion_share() - 0.5).abs() < 1e-9;
        assert!(seen.iter().all(is_half));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_left_out_for_a_while() {
        let tree = unknown_tree(4);
        let (mut counts, begun) = (Counts::default(), Instant::now());
        let broken = Cell::new(Some(2));
        let asked = Cell::new(0);
        let mut look = |now: Instant| {
            let mut seen = tree.clone();
            let read = |keys: &[&[u8]]| {
                asked.set(asked.get() + 1);
                answer(&tree, keys, broken.get())
            };
            let told = counts.complete(&mut seen, now, read);
            let unknown: Vec<u64> = seen.uncounted().map(|file| file.number).collect();
            (
                told.is_err(),
                unknown,
                counts.has_more(),
                counts.are_whole(),
            )
        };
        // File 6 lies at the same key: what is read there is read with file 2.
        assert_eq!(look(begun), (true, vec![2, 6], true, false));
        assert_eq!(look(begun), (true, vec![2, 6], false, false));
        let before = asked.get();
        assert_eq!(look(begun), (false, vec![2, 6], false, false));
        assert_eq!(asked.get(), before, "it is not asked at every look");
        broken.set(None);
        assert_eq!(look(begun + ASK_AGAIN), (false, vec![], false, true));
    }

    #[test]
    fn what_has_left_the_tree_is_forgotten() {
        let (mut counts, now) = (Counts::default(), Instant::now());
        let first = unknown_tree(4);
        let read = |keys: &[&[u8]]| answer(&first, keys, None);
        counts
            .complete(&mut first.clone(), now, read)
            .expect("read");
        assert_eq!(counts.known.len(), 8);
        let mut files = first.files(lissom_core::PhysicalLevel(1)).to_vec();
        files[3].number = 100;
        let second = Tree::new(vec![Vec::new(), files]).expect("legal");
        let read = |keys: &[&[u8]]| answer(&second, keys, None);
        counts
            .complete(&mut second.clone(), now, read)
            .expect("read");
        let known: BTreeSet<u64> = counts.known.keys().copied().collect();
        assert_eq!(known, BTreeSet::from([1, 2, 3, 100]));
    }

    #[test]
    fn what_the_metadata_told_before_a_move_is_not_read_again() {
        let mut counts = Counts::default();
        let mut told = Tree::new(vec![Vec::new(), numbered_files(4)]).expect("legal");
        counts.fill_in(&mut told);
        let mut files = numbered_files(4);
        for file in &mut files {
            file.entries = 0;
        }
        let mut moved = Tree::new(vec![Vec::new(), Vec::new(), files]).expect("legal");
        let unasked = |_: &[&[u8]]| -> Result<Tables> { panic!("all is known") };
        let done = counts.complete(&mut moved, Instant::now(), unasked);
        done.expect("known");
        assert_eq!(moved.uncounted().count(), 0);
    }

    #[test]
    fn what_the_metadata_told_of_trees_of_before_is_forgotten() {
        let mut counts = Counts::default();
        for first in 0..20 {
            let mut files = numbered_files(4);
            for file in &mut files {
                file.number += 10 * first;
            }
            let mut tree = Tree::new(vec![Vec::new(), files]).expect("legal");
            counts.fill_in(&mut tree);
            assert!(counts.known.len() <= 8);
        }
    }
}
