//! What waits to be merged, and how much of it may.

use serde::{Deserialize, Serialize};

use super::{DeepOrder, Level0Order, Order};
use crate::layout::PhysicalLevel;
use crate::planner::Waiting;
use crate::tree::Tree;

/// What the tree owes.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Debt {
    /// Files in L0, of the column family that has the most.
    pub level0_files: usize,
    /// Bytes in L0, over all column families.
    pub level0_bytes: u64,
    /// Of these, those that wait ([`Debt::delayed`]); 0 in journals that do not tell it.
    #[serde(default)]
    pub level0_delayed_bytes: u64,
    /// L0 of a column family has come to a bound that its own settings give it. False in journals
    /// that do not tell it.
    #[serde(default)]
    pub level0_at_own_bound: bool,
    /// Files in L0 over those that may wait there, of the column family in which that is the most;
    /// absent in journals that do not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level0_share: Option<f64>,
    /// Bytes of the files in L0 that a running merge takes; 0 in journals that do not tell it.
    #[serde(default)]
    pub level0_merging_bytes: u64,
    /// A merge that runs keeps L0 from being merged: of its files, or of runs of level 1 that
    /// were set apart from it. False in journals that do not tell it.
    #[serde(default)]
    pub level0_held_up: bool,
    /// Bytes that begun drains will read: what they have left, and what they rewrite where
    /// it goes.
    pub deep_bytes: u64,
    /// Bytes that merges will read and write below L0 besides begun drains
    /// ([`Waiting`]); 0 in journals that do not tell it.
    #[serde(default)]
    pub waiting_bytes: u64,
    /// Bytes that merges below L0 move in the long run for each byte that comes into level 1
    /// ([`Waiting::per_byte`]), of the column family in which
    /// that is the most; 0 in journals that do not tell it.
    #[serde(default)]
    pub below_per_byte: f64,
    /// How far the fullest level below L0 is on its way to where no order holds it back, 0 to 1, of
    /// the column family in which that is the most; 0 in journals that do not tell it.
    #[serde(default)]
    pub crowding: f64,
}

/// Bounds that no schedule passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DebtBounds {
    /// Files in L0.
    pub max_level0_files: usize,
    /// Bytes that [wait](Debt::delayed) in L0.
    pub max_delayed_bytes: u64,
}

/// A bound that L0 has come to.
enum Reached {
    Files,
    Bytes,
    OwnFiles,
}

impl Debt {
    /// Of an L0 of such files and bytes, due from `trigger` files on, the bytes that wait: of
    /// those files that came when it was due already, by the mean file. However large write
    /// buffers are, nothing waits of an L0 that has just become due.
    pub fn delayed(files: usize, bytes: u64, trigger: u32) -> u64 {
        let waiting = files.saturating_sub(trigger as usize);
        (bytes as f64 * waiting as f64 / files.max(1) as f64) as u64
    }

    /// What a tree owes in L0; what waits of it, what is being merged, and what is owed below it, is
    /// not told.
    pub fn of_level0(tree: &Tree) -> Debt {
        Debt {
            level0_files: tree.level0().len(),
            level0_bytes: tree.bytes(PhysicalLevel::L0),
            ..Debt::default()
        }
    }

    /// Takes up what waits below L0 in one more column family.
    pub fn add_waiting(&mut self, waiting: &Waiting) {
        self.waiting_bytes += waiting.bytes;
        self.below_per_byte = self.below_per_byte.max(waiting.per_byte);
        self.crowding = self.crowding.max(waiting.crowding);
    }

    /// Bytes that merges below L0 have to move: what begun drains read they also write, and what
    /// waits besides.
    pub fn below_level0(&self) -> f64 {
        2.0 * self.deep_bytes as f64 + self.waiting_bytes as f64
    }

    /// Whether L0 has come to one of its bounds.
    pub fn is_at(&self, bounds: &DebtBounds) -> bool {
        self.reached(bounds).is_some()
    }

    fn reached(&self, bounds: &DebtBounds) -> Option<Reached> {
        if self.level0_files >= bounds.max_level0_files {
            Some(Reached::Files)
        } else if self.level0_delayed_bytes >= bounds.max_delayed_bytes {
            Some(Reached::Bytes)
        } else {
            self.level0_at_own_bound.then_some(Reached::OwnFiles)
        }
    }

    /// Whether L0 of a column family has such a share of the files that may wait in that. Never
    /// where it is not told.
    pub(super) fn is_filled_to(&self, share: f64) -> bool {
        self.level0_share.is_some_and(|filled| filled >= share)
    }

    /// The order, unless L0 has come to its bound: then it is merged now, at any rate,
    /// and nothing below it waits, since it needs room there.
    pub fn bounded(&self, bounds: &DebtBounds, order: Order) -> Order {
        let why = match self.reached(bounds) {
            None => return order,
            Some(Reached::Files) => format!(
                "L0 has {} files, of which {} may wait",
                self.level0_files, bounds.max_level0_files
            ),
            Some(Reached::Bytes) => format!(
                "{} bytes wait in L0, of which {} may",
                self.level0_delayed_bytes, bounds.max_delayed_bytes
            ),
            Some(Reached::OwnFiles) => {
                "L0 of a column family has as many files as may wait in that family".into()
            }
        };
        Order {
            level0: Level0Order::Merge,
            deep: DeepOrder::All,
            bytes_per_second: None,
            at_bound: true,
            why,
            ..order
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Phase;
    use super::*;

    fn wait() -> Order {
        Order {
            level0: Level0Order::Wait,
            deep: DeepOrder::AtMost(0),
            bytes_per_second: Some(1),
            phase: Phase::High,
            at_bound: false,
            why: String::new(),
        }
    }

    #[test]
    fn at_its_bound_l0_is_merged_whatever_was_ordered() {
        let bounds = DebtBounds {
            max_level0_files: 12,
            max_delayed_bytes: 1_000,
        };
        let debt = |level0_files, level0_delayed_bytes, level0_at_own_bound| Debt {
            level0_files,
            level0_bytes: u64::MAX,
            level0_delayed_bytes,
            level0_at_own_bound,
            deep_bytes: u64::MAX,
            ..Debt::default()
        };
        let within = debt(11, 999, false);
        assert!(!within.is_at(&bounds));
        assert_eq!(within.bounded(&bounds, wait()), wait());
        for at in [debt(12, 0, false), debt(0, 1_000, false), debt(0, 0, true)] {
            assert!(at.is_at(&bounds));
            let order = at.bounded(&bounds, wait());
            assert!(order.at_bound);
            assert_eq!(order.level0, Level0Order::Merge);
            assert_eq!(order.deep, DeepOrder::All);
            assert_eq!(order.bytes_per_second, None);
            assert!(order.why.contains(" may"), "{}", order.why);
        }
    }

    #[test]
    fn what_waits_came_when_l0_was_due() {
        assert_eq!(Debt::delayed(0, 0, 4), 0);
        assert_eq!(Debt::delayed(4, 8 << 30, 4), 0, "it has just become due");
        assert_eq!(Debt::delayed(6, 600, 4), 200);
        assert_eq!(Debt::delayed(1, 5, 0), 5, "no trigger is no reason to fail");
    }

    /// A journal has a line for each order that is not like the one before.
    #[test]
    fn coming_to_the_bound_is_news_where_everything_went_on_before() {
        let bounds = DebtBounds {
            max_level0_files: 12,
            max_delayed_bytes: u64::MAX,
        };
        let of = |level0_files| {
            let debt = Debt {
                level0_files,
                ..Debt::default()
            };
            debt.bounded(&bounds, Order::all(Phase::Low, "the load is low"))
        };
        assert!(of(0).is_like(&of(11)));
        assert!(!of(11).is_like(&of(12)));
        assert!(of(12).is_like(&of(13)));
    }
}
