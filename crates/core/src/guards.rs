//! Guard keys: the cut points that runs of all levels share.
//!
//! Files of several runs that are cut at the same keys can be merged a piece at
//! a time. Guards are file boundaries of the largest run, in a binary
//! hierarchy: the one of rank 0 halves the data, those of rank 1 quarter it,
//! and so on. A level uses all guards up to the rank that gives it as many
//! intervals as it drains in pieces, so a level's cut points are always among
//! those of the levels below.

use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::tree::File;

/// One cut point: a file begins with the first key that is not less.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Guard {
    /// Where.
    pub key: Key,
    /// 0 halves the data, 1 quarters it, and so on.
    pub rank: u8,
}

/// A hierarchy of cut points, in key order.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Guards(Vec<Guard>);

impl Guards {
    /// No guard lies deeper: 2^16 intervals.
    const MAX_RANK: u8 = 15;

    /// Guards for a tree whose largest run has these files. Guards of `old`
    /// that still divide their interval well keep their place and rank, so that
    /// older files stay cut where newer ones are.
    pub fn build(largest_run: &[File], old: &Guards) -> Guards {
        let mut ends = Vec::with_capacity(largest_run.len() + 1);
        ends.push(0);
        ends.extend(largest_run.iter().scan(0u64, |sum, file| {
            *sum += file.size;
            Some(*sum)
        }));
        let mut guards = Vec::new();
        Builder {
            files: largest_run,
            ends: &ends,
            old: &old.0,
        }
        .split(0, largest_run.len(), 0, &mut guards);
        // Versions of one key that snapshots hold may fill several files, which then
        // begin with it.
        guards.dedup_by(|guard, before| {
            let same = guard.key == before.key;
            if same {
                before.rank = before.rank.min(guard.rank);
            }
            same
        });
        Guards(guards)
    }

    /// The keys that divide the data into at least `intervals`, as far as there
    /// are guards.
    pub fn for_intervals(&self, intervals: u64) -> impl Iterator<Item = &Key> {
        let ranks = intervals.max(1).next_power_of_two().trailing_zeros();
        self.0
            .iter()
            .filter(move |guard| u32::from(guard.rank) < ranks)
            .map(|guard| &guard.key)
    }

    /// How many guards there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

struct Builder<'a> {
    files: &'a [File],
    /// Bytes before each file, and after the last.
    ends: &'a [u64],
    old: &'a [Guard],
}

impl Builder<'_> {
    /// Divides the files `[first, last)` by a guard of `rank`, then both halves.
    fn split(&self, first: usize, last: usize, rank: u8, out: &mut Vec<Guard>) {
        if last - first < 2 || rank > Guards::MAX_RANK {
            return;
        }
        let (at, key) = self.kept(first, last, rank).unwrap_or_else(|| {
            let at = self.middle(first, last);
            (at, self.files[at].smallest.clone())
        });
        self.split(first, at, rank + 1, out);
        out.push(Guard { key, rank });
        self.split(at, last, rank + 1, out);
    }

    /// The file before which the bytes are best halved; never the first one.
    fn middle(&self, first: usize, last: usize) -> usize {
        let half = u64::midpoint(self.ends[first], self.ends[last]);
        let after = self.ends.partition_point(|end| *end < half);
        let before = after.saturating_sub(1);
        let nearer = if half.abs_diff(self.ends[before]) <= self.ends[after].abs_diff(half) {
            before
        } else {
            after
        };
        nearer.clamp(first + 1, last - 1)
    }

    /// An old guard of this rank and the first file behind it, if that leaves
    /// at least a quarter of the bytes on each side.
    fn kept(&self, first: usize, last: usize, rank: u8) -> Option<(usize, Key)> {
        let bytes = self.ends[last] - self.ends[first];
        let from = &self.files[first].smallest;
        let begin = self.old.partition_point(|guard| guard.key <= *from);
        let until = &self.files[last - 1].smallest;
        self.old[begin..]
            .iter()
            .take_while(|guard| guard.key <= *until)
            .find(|guard| guard.rank == rank)
            .and_then(|guard| {
                let at = self.files.partition_point(|file| file.smallest < guard.key);
                let left = self.ends[at] - self.ends[first];
                (at > first && at < last && left >= bytes / 4 && bytes - left >= bytes / 4)
                    .then(|| (at, guard.key.clone()))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::numbered_files;

    fn keys(guards: &Guards, intervals: u64) -> Vec<String> {
        guards
            .for_intervals(intervals)
            .map(Key::to_string)
            .collect()
    }

    #[test]
    fn ranks_halve_and_halve_again() {
        let guards = Guards::build(&numbered_files(8), &Guards::default());
        assert_eq!(keys(&guards, 1), Vec::<String>::new());
        assert_eq!(keys(&guards, 2), ["00040"]);
        assert_eq!(keys(&guards, 4), ["00020", "00040", "00060"]);
        assert_eq!(guards.len(), 7);
    }

    #[test]
    fn coarse_cuts_are_among_the_fine_ones() {
        let guards = Guards::build(&numbered_files(37), &Guards::default());
        for power in 0..6 {
            let coarse = keys(&guards, 1 << power);
            let fine = keys(&guards, 1 << (power + 1));
            assert!(coarse.iter().all(|key| fine.contains(key)));
        }
    }

    #[test]
    fn guards_stay_while_they_divide_well() {
        let old = Guards::build(&numbered_files(8), &Guards::default());
        let grown = Guards::build(&numbered_files(10), &old);
        assert_eq!(keys(&grown, 2), ["00040"]);
        let far_grown = Guards::build(&numbered_files(64), &old);
        assert_eq!(keys(&far_grown, 2), ["00320"]);
    }

    /// The engine's guard table takes strictly ascending keys only.
    #[test]
    fn files_that_begin_with_one_key_give_one_guard() {
        let file = |number: u64, smallest: &str, largest: &str| File {
            number,
            size: 100,
            smallest: Key::from(smallest),
            largest: Key::from(largest),
            entries: 1,
            deletions: 0,
        };
        let run = [
            file(1, "a", "k"),
            file(2, "k", "k"),
            file(3, "k", "k"),
            file(4, "k", "p"),
            file(5, "q", "z"),
        ];
        let guards = Guards::build(&run, &Guards::default());
        assert_eq!(keys(&guards, 1 << 10), ["k", "q"]);
        let again = Guards::build(&run, &guards);
        assert_eq!(keys(&again, 1 << 10), ["k", "q"]);
    }

    #[test]
    fn few_files_need_no_guards() {
        assert!(Guards::build(&[], &Guards::default()).is_empty());
        assert!(Guards::build(&numbered_files(1), &Guards::default()).is_empty());
    }
}
