//! How much memory a process group holds.

use super::system;

/// Seconds between two readings of the members' memory.
const WEIGHED_EACH: f64 = 0.25;
/// Seconds between two searches for members, which look at every process there is.
const SEARCHED_EACH: f64 = 2.0;

/// Weighs a group from time to time.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    group: i32,
    members: Vec<i32>,
    searched: f64,
    weighed: f64,
}

impl Scale {
    /// Of the group that this process leads.
    pub fn new(group: i32) -> Scale {
        Scale {
            group,
            members: vec![group],
            searched: f64::NEG_INFINITY,
            weighed: f64::NEG_INFINITY,
        }
    }

    /// Bytes that the group holds at `now`, in seconds; `None` before it is time to
    /// look again. `limit` tells when it is worth to look closely.
    pub fn weigh(&mut self, now: f64, limit: u64) -> Option<u64> {
        if now - self.weighed < WEIGHED_EACH {
            return None;
        }
        self.weighed = now;
        if now - self.searched >= SEARCHED_EACH {
            self.searched = now;
            self.members = system::members(self.group);
        }
        let resident = self.sum(system::held_bytes);
        if resident <= limit {
            return Some(resident);
        }
        // Processes that forked share pages, which were counted more than once.
        // Telling them apart walks all page tables, so it is done only here.
        Some(
            self.sum(|pid| {
                system::proportional_bytes(pid).unwrap_or_else(|| system::held_bytes(pid))
            }),
        )
    }

    fn sum(&self, of: impl Fn(i32) -> u64) -> u64 {
        self.members
            .iter()
            .map(|pid| of(*pid))
            .fold(0, u64::saturating_add)
    }
}
