//! Whether the server counts what the load is told by.

use super::Pilot;
use crate::decide::observation::{Counters, Observation};
use crate::error::Error;

/// So often level 0 grows, while nothing is counted as written, before that is said: what is
/// flushed may have been written, and counted, before.
const UNMOVED: u32 = 3;

/// How the server's counters are doing.
#[derive(Clone, Debug, Default)]
pub(super) struct Counting {
    /// Why they cannot be read, so that it is said once.
    unread: Option<String>,
    /// Intervals in which level 0 grew since anything was counted as written.
    pub(super) unmoved: u32,
}

impl Pilot {
    /// Why the load is not known, or may be another than it seems, as sentences to be said once.
    pub(super) fn note_counting(&mut self, seen: &Observation) -> Option<String> {
        self.note_unread(seen).or_else(|| self.note_unmoved(seen))
    }

    fn note_unread(&mut self, seen: &Observation) -> Option<String> {
        let why = seen.counters.as_ref().err().map(Error::to_string);
        let is_new = self.counting.unread != why;
        self.counting.unread.clone_from(&why);
        why.filter(|_| is_new)
            .map(|why| format!("the load is not known, and counts as low: {why}"))
    }

    /// Counters that stand still read as no load at all.
    fn note_unmoved(&mut self, seen: &Observation) -> Option<String> {
        let written = |counters: &Counters| (counters.bytes_written, counters.wal_bytes);
        let before = self.last.as_ref()?.counters.as_ref().map(written)?;
        if seen.counters.as_ref().ok().map(written)? != before {
            self.counting.unmoved = 0;
            return None;
        }
        if !self.has_grown(seen) {
            return None;
        }
        self.counting.unmoved = self.counting.unmoved.saturating_add(1);
        (self.counting.unmoved == UNMOVED).then(|| {
            "level 0 grows, and Rocksdb_bytes_written and Rocksdb_wal_bytes stand still: the load \
             counts as low, whatever it is; where the server has a variable rocksdb_stats_level, \
             set it to 1 or more"
                .to_owned()
        })
    }

    /// Whether any level 0 has more bytes than in the last interval.
    fn has_grown(&self, seen: &Observation) -> bool {
        seen.families.iter().any(|(name, family)| {
            let before = self.courses.get(name).and_then(|course| course.level0);
            before.is_some_and(|(_, bytes)| family.level0_bytes > bytes)
        })
    }
}
