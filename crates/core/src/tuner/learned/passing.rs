//! What a scan passes beside the entries that it returns.
//!
//! A scan merges all runs: it passes every version of a key and every tombstone in its
//! range, and returns the newest version of each key that there is. For each entry that it
//! returns it passes as many as the tree holds for each key. So a long scan costs by the
//! space amplification where a short one costs by the runs (Dostoevsky, Dayan and Idreos,
//! SIGMOD 2018), but entries count, not bytes.
//!
//! How many keys there are nobody tells. As under the bound on space, they are taken to be
//! those of the oldest run: each newer entry replaces one of its N entries, each tombstone
//! hides one. Of E newer entries, t of them tombstones, a scan then passes
//!
//! (N + E) / (N - t) = 1 + (E + t) / N to the first order
//!
//! for each that it returns: a tombstone counts for itself and for what it hides. Only the
//! first order is kept. It is a sum over levels, and it is finite whatever the tree holds.
//! Where newer entries are new keys it is too much.
//!
//! A model of levels knows bytes. What a byte of newer runs holds for a scan to pass, over
//! what one of the oldest run holds, is measured in the tree as it is. It is 1 where all
//! entries are values of one size, and more where there are tombstones, which are small.

use crate::cost_model::readahead;
use crate::layout::PhysicalLevel;
use crate::tree::{File, Tree};

/// Bounds of the weight. A file of half tombstones is merged at once, which makes it 3 at
/// most where values are of one size; what is far outside is a tree on its way from one kind
/// of entries to another.
const LIGHTEST: f64 = 0.25;
const HEAVIEST: f64 = 4.0;

/// Entries of a block of which nobody tells.
const UNTOLD: f64 = 12.0;

/// What a scan passes in a byte of newer runs, over what it passes in one of the oldest run;
/// 1 where RocksDB has loaded too few numbers of entries to tell.
pub(super) fn weight(tree: &Tree, oldest: PhysicalLevel) -> f64 {
    let newer = tree.iter().filter(|(level, _)| *level < oldest);
    let newer = newer.map(|(_, file)| file);
    let newer = density(newer, |file| file.entries.saturating_add(file.deletions));
    let own = density(tree.files(oldest).iter(), |file| file.entries);
    let both = newer.zip(own);
    both.map_or(1.0, |(newer, own)| (newer / own).clamp(LIGHTEST, HEAVIEST))
}

/// Entries of the oldest run in a block; a dozen where RocksDB has loaded too few numbers of
/// entries to tell.
pub(super) fn per_block(tree: &Tree, oldest: PhysicalLevel) -> f64 {
    let entries = density(tree.files(oldest).iter(), |file| file.entries);
    let in_block = entries.map_or(UNTOLD, |each| each * readahead::BLOCK_BYTES);
    in_block.max(1.0)
}

/// For each byte of the files whose entries are known; `None` without any.
fn density<'a>(
    files: impl Iterator<Item = &'a File>,
    passed: impl Fn(&File) -> u64,
) -> Option<f64> {
    let (mut bytes, mut sum) = (0.0, 0.0);
    for file in files.filter(|file| file.entries > 0) {
        bytes += file.size as f64;
        sum += passed(file) as f64;
    }
    (bytes > 0.0).then(|| sum / bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::numbered_files;

    /// Two files in L0, with so many entries and tombstones each, over a run of ten files of
    /// ten entries; all files have 100 bytes.
    fn weight_of(entries: u64, deletions: u64) -> f64 {
        let mut newer = numbered_files(2);
        for file in &mut newer {
            (file.entries, file.deletions) = (entries, deletions);
        }
        let tree = Tree::new(vec![newer, Vec::new(), numbered_files(10)]).expect("a tree");
        weight(&tree, PhysicalLevel(2))
    }

    #[test]
    fn by_hand() {
        assert_eq!(weight_of(10, 0), 1.0);
        assert_eq!(weight_of(5, 0), 0.5, "larger values");
        // Ten values, and ten tombstones which take next to no bytes.
        assert!((weight_of(20, 10) - 3.0).abs() < 1e-9);
        assert_eq!(weight_of(0, 0), 1.0, "nobody has counted them");
    }

    #[test]
    fn tombstones_weigh_more_the_more_there_are() {
        let weights: Vec<f64> = (0..=10).map(|deletions| weight_of(10, deletions)).collect();
        assert!(weights.is_sorted_by(|a, b| a < b), "{weights:?}");
        assert_eq!(weight_of(1, 0), LIGHTEST);
        assert_eq!(weight_of(u64::MAX, u64::MAX), HEAVIEST);
    }

    #[test]
    fn where_the_oldest_run_is_not_counted_bytes_stand_for_entries() {
        let mut oldest = numbered_files(3);
        for file in &mut oldest {
            file.entries = 0;
        }
        let newer = numbered_files(1);
        let mut tree = Tree::new(vec![newer.clone(), oldest.clone()]).expect("a tree");
        assert_eq!(weight(&tree, PhysicalLevel(1)), 1.0);
        // What is known of one file stands for all.
        oldest[0].entries = 5;
        tree = Tree::new(vec![newer, oldest]).expect("a tree");
        assert_eq!(weight(&tree, PhysicalLevel(1)), 2.0);
    }
}
