//! What a run holds, without its keys.
//!
//! Keys are hashed, so each class of popularity is spread evenly over the key
//! space, and a run is alike everywhere within its bounds. For each class it is
//! enough to know how many of its keys the run holds:
//!
//! - `fresh`: keys that did not exist before, each in one run only;
//! - `updates`: keys drawn among those that existed;
//! - `deletes`: those of the updates that are tombstones;
//! - `hides`: the share of the keys existing before that the updates name.
//!
//! A newer run hides that share of what an older one holds, but for its tombstones:
//! a key that was deleted is not drawn again. An older update cannot name a key that
//! came later.

/// Entries of one class in the whole key space, if the run reached over all of it.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Density {
    /// Keys that did not exist before.
    pub fresh: f64,
    /// Distinct keys drawn among those that existed.
    pub updates: f64,
    /// Those of the updates that are tombstones.
    pub deletes: f64,
    /// Share of the keys that existed before that the updates name.
    pub hides: f64,
}

impl Density {
    /// Entries of any kind.
    pub fn entries(&self) -> f64 {
        self.fresh + self.updates
    }

    /// Entries that are no tombstones.
    pub fn living(&self) -> f64 {
        self.fresh + self.updates - self.deletes
    }

    /// `operations` draws among `keys` that exist before them, of which `deletes`
    /// (a share) remove.
    pub fn drawn(operations: f64, keys: f64, deletes: f64) -> Density {
        if keys <= 0.0 || operations <= 0.0 {
            return Density::default();
        }
        // keys * (1 - (1 - 1/keys)^operations)
        let named = -(operations * (-1.0 / keys.max(1.0 + 1e-9)).ln_1p()).exp_m1();
        Density {
            fresh: 0.0,
            updates: keys * named,
            deletes: keys * named * deletes,
            hides: named,
        }
    }

    /// This over an older one of the same class.
    pub fn over(&self, older: &Density) -> Density {
        let left = 1.0 - self.hides;
        Density {
            fresh: self.fresh + older.fresh * left,
            updates: self.updates + (older.updates - older.deletes) * left + older.deletes,
            deletes: self.deletes + older.deletes,
            hides: 1.0 - left * (1.0 - older.hides),
        }
    }

    /// At the bottom of the tree, where tombstones hide nothing.
    pub fn settled(&self) -> Density {
        Density {
            updates: self.updates - self.deletes,
            deletes: 0.0,
            ..*self
        }
    }

    /// The mean of two stretches of such widths.
    pub fn mean(&self, width: f64, other: &Density, other_width: f64) -> Density {
        let (a, b) = (
            width / (width + other_width),
            other_width / (width + other_width),
        );
        Density {
            fresh: a * self.fresh + b * other.fresh,
            updates: a * self.updates + b * other.updates,
            deletes: a * self.deletes + b * other.deletes,
            hides: a * self.hides + b * other.hides,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh(keys: f64) -> Density {
        Density {
            fresh: keys,
            ..Density::default()
        }
    }

    #[test]
    fn draws_repeat_keys() {
        let drawn = Density::drawn(1e6, 1e6, 0.0);
        assert!((drawn.updates / 1e6 - (1.0 - (-1f64).exp())).abs() < 1e-6);
        assert!((Density::drawn(10.0, 1e12, 0.0).updates - 10.0).abs() < 1e-6);
        assert_eq!(Density::drawn(5.0, 0.0, 0.0), Density::default());
    }

    #[test]
    fn nothing_inserted_is_lost_and_updates_hide_what_they_name() {
        assert_eq!(fresh(3.0).over(&fresh(4.0)).entries(), 7.0);
        let updates = Density::drawn(1e6, 100.0, 0.0);
        let merged = updates.over(&fresh(100.0));
        assert!((merged.entries() - 100.0).abs() < 1e-6, "{merged:?}");
    }

    #[test]
    fn what_was_deleted_stays_deleted_whatever_is_updated_then() {
        // 50 of 100 keys are deleted, then the other 50 are all updated.
        let half = Density {
            updates: 50.0,
            deletes: 50.0,
            hides: 0.5,
            ..Density::default()
        };
        let rest = Density {
            updates: 50.0,
            hides: 1.0,
            ..Density::default()
        };
        let all = rest.over(&half).over(&fresh(100.0));
        assert_eq!((all.entries(), all.settled().entries()), (100.0, 50.0));
        let other_order = rest.over(&half.over(&fresh(100.0)));
        assert_eq!(other_order.settled().entries(), 50.0);
    }
}
