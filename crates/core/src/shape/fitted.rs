//! A size ratio that fits the data.

use super::Shape;
use crate::layout::LogicalLevel;
use crate::tree::Tree;

/// The least ratio of a tree.
const LEAST_RATIO: u32 = 2;

impl Shape {
    /// The shape for a tree of this size: with the lowest ratio under which the data fit into
    /// as many levels as they need under [`Shape::size_ratio`], or already lie in. The shape
    /// itself where [`Shape::level_compaction_dynamic_level_bytes`] is false, and while one
    /// level is enough.
    ///
    /// A ratio that the data do not need leaves the deepest level a small part full, and the
    /// one above it nearly as large: the same data are rewritten in more merges, and reads
    /// meet levels that are not worth their run. RocksDB's option of this name divides the
    /// capacities of all levels by one number, so that the ratio between the first two
    /// shrinks alone; here it is shared among all levels, since each may hold several runs.
    pub fn fitted(&self, tree: &Tree) -> Shape {
        self.fitted_to(tree.total_bytes(), tree.deepest_occupied(&self.layout))
    }

    /// The same for `bytes` that lie in levels down to `deepest`, if in any.
    pub fn fitted_to(&self, bytes: u64, deepest: Option<LogicalLevel>) -> Shape {
        match self.level_for(bytes).max(deepest) {
            Some(level) if self.level_compaction_dynamic_level_bytes && level.0 > 1 => {
                self.with_lowest_ratio(level, bytes)
            }
            _ => self.clone(),
        }
    }

    /// The first level that `bytes` leave under the size at which it is full; `None` where
    /// no level is large enough.
    pub fn level_for(&self, bytes: u64) -> Option<LogicalLevel> {
        let mut levels = self.layout.logical_levels();
        levels.find(|level| self.holds(*level, bytes))
    }

    /// Whether `bytes` leave a level under the size at which it is full.
    fn holds(&self, level: LogicalLevel, bytes: u64) -> bool {
        !self.is_full(level, bytes)
    }

    fn with_lowest_ratio(&self, deepest: LogicalLevel, bytes: u64) -> Shape {
        let mut fitted = self.clone();
        fitted.largest_size_ratio = self.size_ratio;
        fitted.size_ratio = LEAST_RATIO.min(self.size_ratio);
        while fitted.size_ratio < self.size_ratio && !fitted.holds(deepest, bytes) {
            fitted.size_ratio += 1;
        }
        fitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::PhysicalLevel;
    use crate::testing::{numbered_files, small_shape};

    fn dynamic() -> Shape {
        Shape {
            level_compaction_dynamic_level_bytes: true,
            ..small_shape()
        }
    }

    /// A tree of `bytes` in one run of a logical level.
    fn tree(bytes: u64, level: u16) -> Tree {
        let (_, last) = small_shape().layout.span(LogicalLevel(level));
        let mut levels = vec![Vec::new(); usize::from(last.0) + 1];
        levels[usize::from(last.0)] = numbered_files(bytes / 100);
        Tree::new(levels).expect("a legal tree")
    }

    fn ratio(bytes: u64, level: u16) -> u32 {
        dynamic().fitted(&tree(bytes, level)).size_ratio
    }

    #[test]
    fn the_ratio_is_the_lowest_that_holds_the_data() {
        // L0 brings 400 bytes: 4,000 in level 1, 40,000 in level 2 with a ratio of 10.
        assert_eq!(ratio(3_000, 1), 10, "one level is enough");
        assert_eq!(
            ratio(10_000, 2),
            6,
            "400 * 6 * 5.5 = 13,200; 400 * 5 * 4.5 = 9,000"
        );
        assert_eq!(ratio(30_000, 2), 9, "400 * 9 * 8.5 = 30,600 holds it");
        assert_eq!(
            ratio(39_000, 2),
            5,
            "level 2 is full: 400 * 25 * 4.5 in level 3"
        );
    }

    #[test]
    fn data_that_lie_deeper_than_they_need_keep_their_level() {
        assert_eq!(
            ratio(10_000, 3),
            4,
            "400 * 16 * 3.5 = 22,400, 400 * 9 * 2.5 = 9,000"
        );
        assert_eq!(ratio(1_000, 4), 2);
    }

    #[test]
    fn a_fixed_ratio_stays() {
        let shape = small_shape();
        assert_eq!(shape.fitted(&tree(10_000, 2)), shape);
    }

    #[test]
    fn no_level_that_the_data_need_is_full() {
        for bytes in (5_000..900_000).step_by(3_100) {
            let fitted = dynamic().fitted(&tree(bytes, 1));
            let needed = dynamic().level_for(bytes).expect("a level");
            assert!(fitted.full_at(needed) > bytes, "{bytes}");
            assert!((2..=10).contains(&fitted.size_ratio));
        }
    }

    #[test]
    fn level0_counts_as_data() {
        let mut levels = vec![Vec::new(); 1];
        levels[usize::from(PhysicalLevel::L0.0)] = numbered_files(60);
        let tree = Tree::new(levels).expect("a legal tree");
        assert!(dynamic().fitted(&tree).size_ratio < 10);
    }
}
