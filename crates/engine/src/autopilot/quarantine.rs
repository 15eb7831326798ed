//! Files that compactions leave out, and for how long.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use lissom_core::{PhysicalLevel, Plan, Tree};

/// A file that RocksDB did not call damaged is asked again after this time.
pub(super) const ASK_AGAIN: Duration = Duration::from_secs(60 * 60);

/// And so are, after this time, the inputs of a plan that RocksDB would not begin: nobody has
/// found anything wrong with them, somebody else compacts where it leads.
pub(super) const ASK_SOON: Duration = Duration::from_secs(60);

/// The files of one column family that are left out.
#[derive(Debug, Default)]
pub(super) struct Quarantine {
    /// They do not hold what was written, and stay out until somebody has restored them.
    damaged: BTreeSet<u64>,
    /// Compactions of them failed for a reason that may pass, or that lies in one of
    /// them only; and until when they are left out.
    suspected: BTreeMap<u64, Until>,
}

/// When a suspect is asked again.
#[derive(Clone, Copy, Debug)]
struct Until {
    at: Instant,
    /// Sooner if L0 holds a newer file than this one by then.
    level0: Option<u64>,
}

impl Until {
    /// `newest` is L0's newest file.
    fn is_over(&self, now: Instant, newest: Option<u64>) -> bool {
        let has_grown = self.level0.is_some_and(|before| newest > Some(before));
        has_grown || self.at <= now
    }
}

/// The newest file of L0, for a plan that takes files of L0. They hold back all newer
/// ones, so they are left out no longer than L0 stays as it is: otherwise it would grow
/// until writers are held back, for what may have passed long ago.
pub(super) fn level0_of(tree: &Tree, plan: &Plan) -> Option<u64> {
    let newest = tree.newest_in_level0();
    newest.filter(|_| plan.top() == PhysicalLevel::L0)
}

impl Quarantine {
    /// What an earlier open found damaged.
    pub(super) fn remembered(damaged: BTreeSet<u64>) -> Quarantine {
        Quarantine {
            damaged,
            suspected: BTreeMap::new(),
        }
    }

    pub(super) fn add_damaged(&mut self, file: u64) {
        self.damaged.insert(file);
    }

    /// Leaves files out until an instant; where a newest file of L0 is given, no longer than
    /// until L0 has grown.
    pub(super) fn suspect(&mut self, files: &[u64], level0: Option<u64>, at: Instant) {
        let until = Until { at, level0 };
        self.suspected
            .extend(files.iter().map(|file| (*file, until)));
    }

    /// Every file that is left out.
    pub(super) fn files(&self) -> BTreeSet<u64> {
        let suspected = self.suspected.keys();
        self.damaged.iter().chain(suspected).copied().collect()
    }

    /// What the next open leaves out: all others are asked again.
    pub(super) fn damaged(&self) -> &BTreeSet<u64> {
        &self.damaged
    }

    /// Lets those go that are due again, or are in the tree no more. `newest` is L0's
    /// newest file.
    pub(super) fn review(
        &mut self,
        now: Instant,
        newest: Option<u64>,
        is_there: impl Fn(u64) -> bool,
    ) {
        self.damaged.retain(|file| is_there(*file));
        self.suspected
            .retain(|file, until| !until.is_over(now, newest) && is_there(*file));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autopilot::testing::merge_of;
    use lissom_core::testing::numbered_files;

    #[test]
    fn a_suspect_is_asked_again_after_a_while_and_at_the_next_open() {
        let now = Instant::now();
        let mut quarantine = Quarantine::remembered(BTreeSet::from([1]));
        quarantine.add_damaged(2);
        quarantine.suspect(&[2, 3, 4], None, now + ASK_AGAIN);
        assert_eq!(quarantine.files(), BTreeSet::from([1, 2, 3, 4]));
        assert_eq!(*quarantine.damaged(), BTreeSet::from([1, 2]));
        let almost = now + ASK_AGAIN - Duration::from_secs(1);
        quarantine.review(almost, Some(9), |file| file != 4);
        assert_eq!(quarantine.files(), BTreeSet::from([1, 2, 3]));
        quarantine.review(now + ASK_AGAIN, Some(9), |_| true);
        assert_eq!(quarantine.files(), BTreeSet::from([1, 2]));
        quarantine.review(now, Some(9), |file| file != 1);
        assert_eq!(quarantine.files(), BTreeSet::from([2]));
    }

    /// They hold back all that is flushed.
    #[test]
    fn what_a_merge_of_level_0_takes_is_asked_again_when_level_0_has_grown() {
        let now = Instant::now();
        let mut files = numbered_files(5);
        let deep = files.split_off(3);
        let tree = Tree::new(vec![files, Vec::new(), deep]).expect("legal");
        let mut quarantine = Quarantine::default();
        for (level, files) in [(0, vec![1, 2]), (2, vec![4, 5])] {
            let plan = merge_of(PhysicalLevel(level), files);
            let inputs: Vec<u64> = plan.files().collect();
            quarantine.suspect(&inputs, level0_of(&tree, &plan), now + ASK_AGAIN);
        }
        for newest in [None, Some(3)] {
            quarantine.review(now, newest, |_| true);
            assert_eq!(quarantine.files(), BTreeSet::from([1, 2, 4, 5]));
        }
        quarantine.review(now, Some(6), |_| true);
        assert_eq!(quarantine.files(), BTreeSet::from([4, 5]));
    }
}
