//! What merges for the reads' sake may write.
//!
//! A credit of bytes: what users write brings the bound times as much, and all that flushes and
//! compactions write takes it. Such a merge begins while the credit covers what it will write, so
//! that they are what waits where everything together would be written more often than the bound.
//!
//! A store of which nothing is known begins with one rewrite of its tree: what it was loaded with
//! nobody counted. So does one whose bound is another than before: where nobody writes it would
//! change nothing to raise it, and what was owed under the old one would have to be repaid first.
//!
//! The credit is never more than what it takes to make all runs one, level by level: more of an old
//! load could only be spent on what is written later, and that brings its own. Where each level is
//! ten times as large as the one above, that is a ninth more than the tree. Nor is a debt ever more.
//! Where nobody writes nothing is repaid, and there is no more than what was saved up.

use serde::{Deserialize, Serialize};

use crate::layout::{Layout, LogicalLevel};
use crate::tree::Tree;
use crate::tuner::Question;

/// What is kept of it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(in crate::tuner::learned) struct Credit {
    /// The bound that it is of.
    pub(super) bound: f64,
    pub(super) bytes: f64,
}

impl Credit {
    /// Whether it is such as this code makes.
    pub fn is_sound(&self) -> bool {
        self.bound.is_finite() && self.bytes.is_finite()
    }
}

/// The bytes that such merges may write.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(in crate::tuner::learned) struct Budget {
    /// Bytes that may be written for each that users write, finite and not negative; absent where
    /// nothing bounds them.
    bound: Option<f64>,
    /// Bytes, finite; absent while nothing is known, and without a bound.
    credit: Option<f64>,
}

impl Budget {
    /// A bound that is no finite number is none.
    pub fn new(bound: Option<f64>) -> Budget {
        let finite = bound.filter(|bound| bound.is_finite());
        Budget {
            bound: finite.map(|bound| bound.max(0.0)),
            credit: None,
        }
    }

    /// The same with a credit that was kept, if it is of this bound.
    pub fn with_credit(self, kept: Option<Credit>) -> Budget {
        let own = kept.filter(|kept| self.bound == Some(kept.bound));
        Budget {
            credit: own.map(|own| own.bytes),
            ..self
        }
    }

    /// What is kept.
    pub fn credit(&self) -> Option<Credit> {
        let (bound, bytes) = self.bound.zip(self.credit)?;
        Some(Credit { bound, bytes })
    }

    /// A mission is over.
    pub fn pass(&mut self, seen: &Question<'_>) {
        let tree = seen.tree.total_bytes() as f64;
        let most = level_by_level(seen.tree, &seen.shape.layout).max(tree);
        let mission = seen.mission;
        let written = mission.flush_write_bytes as f64 + mission.compaction_write_bytes as f64;
        self.credit = self.bound.map(|bound| {
            let earned = bound * mission.user_write_bytes as f64;
            let credit = self.credit.unwrap_or(tree) + earned - written;
            credit.clamp(-most, most)
        });
    }

    /// Bytes that merges may write now. Under a bound of 0 none begins, whatever was kept.
    pub fn left(&self) -> f64 {
        match self.bound {
            None => f64::INFINITY,
            Some(bound) if bound > 0.0 => self.credit.unwrap_or(0.0),
            Some(_) => f64::NEG_INFINITY,
        }
    }
}

/// Bytes that are written if the runs of each level become one, and go into the next, until one is
/// left.
fn level_by_level(tree: &Tree, layout: &Layout) -> f64 {
    let Some(deepest) = tree.deepest_occupied(layout) else {
        return 0.0;
    };
    let levels = (1..=deepest.0).map(|level| tree.level_bytes(layout, LogicalLevel(level)) as f64);
    let so_far = levels.scan(0.0, |above, bytes| {
        *above += bytes;
        Some(*above)
    });
    so_far.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::Mission;
    use crate::shape::{RunLimit, RunLimits};
    use crate::testing::{numbered_files, small_shape};

    /// One run of 10,000 bytes in level 2: the credit is at most as much.
    fn tree() -> Tree {
        levels(&[0, 100])
    }

    /// One run in each level, of so many files of 100 bytes.
    fn levels(files: &[u64]) -> Tree {
        let layout = small_shape().layout;
        let mut levels = Vec::new();
        for (level, files) in (1..).map(LogicalLevel).zip(files) {
            let (_, last) = layout.span(level);
            levels.resize(usize::from(last.0) + 1, Vec::new());
            levels[usize::from(last.0)] = numbered_files(*files);
        }
        Tree::new(levels).expect("runs")
    }

    /// What a mission leaves in which users, flushes and compactions wrote so much.
    fn pass(budget: &mut Budget, [user, flushed, compacted]: [u64; 3]) -> f64 {
        let mission = Mission {
            user_write_bytes: user,
            flush_write_bytes: flushed,
            compaction_write_bytes: compacted,
            ..Mission::default()
        };
        budget.pass(&Question {
            shape: &small_shape(),
            tree: &tree(),
            limits: &RunLimits::uniform(RunLimit::ONE),
            refused: &[],
            mission: &mission,
        });
        budget.left()
    }

    #[test]
    fn users_bring_what_flushes_and_compactions_take() {
        let mut budget = Budget::new(Some(10.0));
        assert_eq!(budget.left(), 0.0, "nothing was seen");
        assert_eq!(pass(&mut budget, [0, 0, 0]), 10_000.0, "a rewrite");
        assert_eq!(pass(&mut budget, [0, 0, 9_000]), 1_000.0);
        assert_eq!(pass(&mut budget, [100, 100, 400]), 1_500.0);
        assert_eq!(pass(&mut budget, [0, 0, 2_000]), -500.0, "it ran already");
        assert_eq!(pass(&mut budget, [100, 0, 0]), 500.0);
    }

    /// As a load, and as merges that limits ask for.
    #[test]
    fn what_was_long_ago_counts_for_one_merge_of_everything() {
        let mut budget = Budget::new(Some(10.0));
        assert_eq!(pass(&mut budget, [1 << 40, 0, 0]), 10_000.0);
        assert_eq!(pass(&mut budget, [0, 1_000, 0]), 9_000.0);
        assert_eq!(pass(&mut budget, [1, 0, 1 << 40]), -10_000.0);
    }

    #[test]
    fn level_by_level_what_lies_above_is_written_once_more_for_each() {
        let layout = small_shape().layout;
        let of = |files: &[u64]| level_by_level(&levels(files), &layout);
        assert_eq!(of(&[]), 0.0);
        assert_eq!(of(&[3]), 300.0);
        assert_eq!(of(&[1, 10, 100]), 100.0 + 1_100.0 + 11_100.0);
        assert_eq!(of(&[2, 0, 5]), 200.0 + 200.0 + 700.0);
    }

    #[test]
    fn without_a_bound_there_is_always_enough_and_under_none_at_all_never() {
        let mut free = Budget::new(None);
        assert_eq!(pass(&mut free, [0, 0, 1 << 40]), f64::INFINITY);
        assert_eq!(free.credit(), None);
        let mut none = Budget::new(Some(0.0));
        assert_eq!(pass(&mut none, [1 << 40, 0, 0]), f64::NEG_INFINITY);
        assert_eq!(none.credit, Some(10_000.0));
    }

    #[test]
    fn whatever_it_is_told_the_credit_is_a_number() {
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(Budget::new(Some(odd)), Budget::new(None), "{odd}");
        }
        assert_eq!(Budget::new(Some(-1.0)), Budget::new(Some(0.0)));
        let most = u64::MAX;
        for bound in [0.0, 0.5, f64::MAX] {
            for kept in [None, Some(f64::MAX), Some(f64::MIN)] {
                let mut budget = Budget {
                    credit: kept,
                    ..Budget::new(Some(bound))
                };
                for told in [[most, most, most], [most, 0, 0], [0, most, most]] {
                    pass(&mut budget, told);
                    let credit = budget.credit.expect("a bound");
                    assert!(credit.abs() <= 10_000.0, "{bound}: {credit}");
                }
            }
        }
    }

    #[test]
    fn what_is_kept_goes_on_and_is_a_number() {
        let mut budget = Budget::new(Some(10.0));
        pass(&mut budget, [0, 0, 9_000]);
        let kept = budget.credit().expect("a bound");
        let mut again = Budget::new(Some(10.0)).with_credit(Some(kept));
        assert_eq!(again, budget);
        assert_eq!(pass(&mut again, [0, 0, 0]), 1_000.0);
        let bytes = f64::NAN;
        let sound = [kept, Credit { bytes, ..kept }].map(|it| it.is_sound());
        assert_eq!(sound, [true, false]);
    }

    /// Under a bound of 0 all that is written is owed, and never repaid.
    #[test]
    fn under_another_bound_it_begins_anew() {
        let mut before = Budget::new(Some(0.0));
        pass(&mut before, [0, 0, 1 << 40]);
        for (bound, left) in [(Some(0.0), f64::NEG_INFINITY), (Some(10.0), 10_000.0)] {
            let mut now = Budget::new(bound).with_credit(before.credit());
            assert_eq!(pass(&mut now, [0, 0, 0]), left, "{bound:?}");
        }
        let free = Budget::new(None).with_credit(before.credit());
        assert_eq!(free, Budget::new(None));
    }
}
