//! How much of a tree users can still read: an estimate from a sample.
//!
//! The manifest does not tell. The bytes of the tree over those of the oldest run bound the
//! space amplification from above, and far from above where newer entries are new keys. So a
//! few stretches of the tree are read as a scan reads them, and what a scan passes for each
//! entry that it returns is the space amplification there, told in entries.
//!
//! Stretches begin at files that lie evenly over the bytes of the tree. Keys that have many
//! versions are met more often that way, which errs towards more. So does a tombstone, which
//! counts as an entry and takes next to no bytes. The error of the mean is added twice.

use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::tree::{File, Tree};

/// Stretches of a sample, and entries that users can read in each: some 2,000 in all, of
/// which half may be obsolete and the error of their share stays near 1 %.
pub const STRETCHES: usize = 32;
/// See [`STRETCHES`].
pub const STRETCH: u64 = 64;

/// Entries that users can read from which a sample tells anything.
const ENOUGH: u64 = 500;

/// Standard errors that are added to the mean.
const ERRORS: f64 = 2.0;

/// A tree of which a larger share of the bytes came after the sample is another one.
const UNSEEN: f64 = 0.25;

/// What is known of the data in a tree.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub enum Live {
    /// Nobody looks: all that is newer than the oldest run may replace what it holds.
    #[default]
    Unknown,
    /// Somebody looks where it is asked for, and has not told yet.
    Awaited,
    /// A sample told.
    Sampled(LiveSample),
}

/// What scans met in a stretch of the keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stretch {
    /// Entries that they returned.
    pub live: u64,
    /// Entries that they passed, those included: older versions, and tombstones.
    pub passed: u64,
}

/// What a sample of a tree told.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct LiveSample {
    /// The highest file number in the tree.
    newest: u64,
    /// Bytes that users can read, at the least.
    live_bytes: f64,
    /// Bytes of an entry of any kind.
    entry_bytes: f64,
}

/// Keys at which the stretches of a sample begin: of as many files, evenly over the bytes.
pub fn starts(tree: &Tree) -> Vec<Key> {
    let every = tree.total_bytes() as f64 / STRETCHES as f64;
    let (mut passed, mut starts) = (0.0, Vec::with_capacity(STRETCHES));
    for (_, file) in tree.iter() {
        passed += file.size as f64;
        while (starts.len() as f64 + 0.5) * every < passed {
            starts.push(file.smallest.clone());
        }
    }
    starts
}

impl LiveSample {
    /// What the stretches of a sample told of the tree that it began with; `None` where that is
    /// too little to tell anything.
    pub fn of(tree: &Tree, stretches: &[Stretch]) -> Option<LiveSample> {
        let live: u64 = stretches.iter().map(|it| it.live).sum();
        if live < ENOUGH {
            return None;
        }
        let newest = tree.iter().map(|(_, file)| file.number).max()?;
        let amplification = mean(stretches) + ERRORS * error(stretches);
        let entries: u64 = tree.iter().map(|(_, file)| file.entries).sum();
        let bytes = tree.total_bytes() as f64;
        Some(LiveSample {
            newest,
            live_bytes: bytes / amplification.max(1.0),
            entry_bytes: bytes / entries.max(1) as f64,
        })
    }

    /// Bytes of the tree over those that users can read, at the most. What came since the
    /// sample may all replace what was there, and each tombstone of it hides an entry.
    pub fn space_amplification(&self, tree: &Tree) -> f64 {
        let hidden: u64 = self.unseen(tree).map(|file| file.deletions).sum();
        let live = self.live_bytes - hidden as f64 * self.entry_bytes;
        tree.total_bytes() as f64 / live.max(1.0)
    }

    /// Whether it still speaks of this tree: not where much of it came since, or was written
    /// anew, for nobody knows what went meanwhile.
    pub fn is_fresh(&self, tree: &Tree) -> bool {
        let unseen: u64 = self.unseen(tree).map(|file| file.size).sum();
        unseen as f64 <= UNSEEN * tree.total_bytes() as f64
    }

    fn unseen<'a>(&self, tree: &'a Tree) -> impl Iterator<Item = &'a File> {
        let newest = self.newest;
        let files = tree.iter().map(|(_, file)| file);
        files.filter(move |file| file.number > newest)
    }
}

/// Entries that are passed for each one that is returned.
fn mean(stretches: &[Stretch]) -> f64 {
    let live: u64 = stretches.iter().map(|it| it.live).sum();
    let passed: u64 = stretches.iter().map(|it| it.passed).sum();
    passed as f64 / live.max(1) as f64
}

/// The standard error of that ratio, from how the stretches differ (Cochran, Sampling
/// Techniques, 6.4).
fn error(stretches: &[Stretch]) -> f64 {
    let number = stretches.len() as f64;
    let live: u64 = stretches.iter().map(|it| it.live).sum();
    let ratio = mean(stretches);
    let off = |it: &Stretch| (it.passed as f64 - ratio * it.live as f64).powi(2);
    let squares: f64 = stretches.iter().map(off).sum();
    let each = live as f64 / number.max(1.0);
    (squares / (number - 1.0).max(1.0) / number.max(1.0)).sqrt() / each.max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::numbered_files;

    /// A newer run of files 1 to `newer`, over one of the rest; 100 bytes each.
    fn tree(newer: u64, oldest: u64) -> Tree {
        let mut files = numbered_files(newer + oldest);
        let below = files.split_off(newer as usize);
        Tree::new(vec![Vec::new(), files, below]).expect("runs")
    }

    fn alike(live: u64, passed: u64) -> Vec<Stretch> {
        vec![Stretch { live, passed }; STRETCHES]
    }

    #[test]
    fn stretches_lie_evenly_over_the_bytes() {
        let tree = tree(64, 192);
        let found = starts(&tree);
        assert_eq!(found.len(), STRETCHES);
        let newer = tree.files(crate::layout::PhysicalLevel(1));
        let among = |key: &&Key| newer.iter().any(|file| file.smallest == **key);
        assert_eq!(found.iter().filter(among).count(), STRETCHES / 4);
        assert_eq!(starts(&Tree::default()), []);
        let one = Tree::new(vec![numbered_files(1)]).expect("a file");
        assert_eq!(starts(&one).len(), STRETCHES, "one file has them all");
    }

    #[test]
    fn by_hand() {
        let tree = tree(50, 50);
        let told = |passed| {
            let sample = LiveSample::of(&tree, &alike(64, passed)).expect("enough");
            sample.space_amplification(&tree)
        };
        assert_eq!(told(64), 1.0, "all keys are new");
        assert_eq!(told(128), 2.0, "each has two versions");
        assert_eq!(LiveSample::of(&tree, &alike(10, 20)), None, "320 entries");
        assert_eq!(LiveSample::of(&Tree::default(), &alike(64, 64)), None);
    }

    /// Half of the stretches of one version, half of three: the mean is 2, its error
    /// 1 / sqrt(31).
    #[test]
    fn stretches_that_differ_tell_less() {
        let tree = tree(50, 50);
        let mut stretches = alike(64, 64);
        for stretch in stretches.iter_mut().skip(STRETCHES / 2) {
            stretch.passed = 3 * 64;
        }
        let sample = LiveSample::of(&tree, &stretches).expect("enough");
        let expected = 2.0 + 2.0 / 31f64.sqrt();
        assert!((sample.space_amplification(&tree) - expected).abs() < 1e-9);
    }

    #[test]
    fn what_came_since_may_hide_what_was_there() {
        let before = tree(50, 50);
        let sample = LiveSample::of(&before, &alike(64, 64)).expect("enough");
        let with = |files: u64, deletions: u64| {
            let mut newer = numbered_files(100 + files).split_off(100);
            for file in &mut newer {
                file.deletions = deletions;
            }
            let mut after = before.clone();
            after
                .replace(crate::layout::PhysicalLevel::L0, newer)
                .expect("a level");
            (sample.space_amplification(&after), sample.is_fresh(&after))
        };
        assert_eq!(with(0, 0), (1.0, true));
        assert_eq!(with(20, 0), (1.2, true));
        // 120 files of 100 bytes, and of 1,000 entries of ten bytes 200 are hidden.
        assert_eq!(with(20, 10), (1.5, true));
        assert_eq!(with(40, 0), (1.4, false), "two of seven came since");
    }

    #[test]
    fn deletes_without_end_never_divide_by_nothing() {
        let before = tree(1, 1);
        let sample = LiveSample::of(&before, &alike(64, 64)).expect("enough");
        let mut newer = numbered_files(3).split_off(2);
        newer[0].deletions = u64::MAX;
        let mut after = before.clone();
        after
            .replace(crate::layout::PhysicalLevel::L0, newer)
            .expect("a level");
        assert_eq!(sample.space_amplification(&after), 300.0);
    }
}
