//! Files that compactions leave out, and for how long.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// A file that RocksDB did not call damaged is asked again after this time.
pub(super) const ASK_AGAIN: Duration = Duration::from_secs(60 * 60);

/// The files of one column family that are left out.
#[derive(Debug, Default)]
pub(super) struct Quarantine {
    /// They do not hold what was written, and stay out until somebody has restored them.
    damaged: BTreeSet<u64>,
    /// Compactions of them failed for a reason that may pass, or that lies in one of
    /// them only; and the instant from which on they are asked again.
    suspected: BTreeMap<u64, Instant>,
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

    pub(super) fn suspect(&mut self, files: &[u64], now: Instant) {
        let until = now + ASK_AGAIN;
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

    /// Lets those go that are due again, or are in the tree no more.
    pub(super) fn review(&mut self, now: Instant, is_there: impl Fn(u64) -> bool) {
        self.damaged.retain(|file| is_there(*file));
        self.suspected
            .retain(|file, until| now < *until && is_there(*file));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suspect_is_asked_again_after_a_while_and_at_the_next_open() {
        let now = Instant::now();
        let mut quarantine = Quarantine::remembered(BTreeSet::from([1]));
        quarantine.add_damaged(2);
        quarantine.suspect(&[2, 3, 4], now);
        assert_eq!(quarantine.files(), BTreeSet::from([1, 2, 3, 4]));
        assert_eq!(*quarantine.damaged(), BTreeSet::from([1, 2]));
        quarantine.review(now + ASK_AGAIN - Duration::from_secs(1), |file| file != 4);
        assert_eq!(quarantine.files(), BTreeSet::from([1, 2, 3]));
        quarantine.review(now + ASK_AGAIN, |_| true);
        assert_eq!(quarantine.files(), BTreeSet::from([1, 2]));
        quarantine.review(now, |file| file != 1);
        assert_eq!(quarantine.files(), BTreeSet::from([2]));
    }
}
