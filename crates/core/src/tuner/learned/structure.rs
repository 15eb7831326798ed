//! What run limits make of a tree: how many runs a read meets, and how often a
//! byte is rewritten.
//!
//! A level above the deepest fills from none to K runs and is drained, so after its
//! T inflows in turn a read meets (K + 1) / 2 - K / T of them on average, and an
//! inflow is merged with half of what its run will hold: (T / K + 1) / 2 rewrites
//! (RusKey 4.3, with whole inflows). The deepest level holds the data itself. With
//! one run each inflow rewrites all of it, and as long as the run that holds the data
//! is not sealed; with several it grows until it is full or the bound on space is met,
//! and then all of it is merged.

use crate::layout::LogicalLevel;
use crate::shape::{RunLimit, RunLimits, Shape};
use crate::tree::Tree;

/// A tree as the model sees it.
#[derive(Clone, Debug)]
pub(super) struct Structure<'a> {
    shape: &'a Shape,
    /// Occupied logical levels.
    pub levels: usize,
    /// Bytes of the data: of the oldest run.
    data: f64,
}

/// What a vector of limits means.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Shaped {
    /// Runs that a read meets, by level, on average.
    pub runs: Vec<f64>,
    /// Bytes that compactions write for each byte of L0's, by level.
    pub rewritten: Vec<f64>,
    /// The same in all.
    pub rewrites: f64,
}

impl<'a> Structure<'a> {
    /// `None` for a tree without a level below L0.
    pub fn of(shape: &'a Shape, tree: &Tree) -> Option<Structure<'a>> {
        let deepest = tree.deepest_occupied(&shape.layout)?;
        let oldest = tree.runs().next_back()?;
        Some(Structure {
            shape,
            levels: usize::from(deepest.0),
            data: tree.bytes(oldest).max(1) as f64,
        })
    }

    pub fn shape(&self) -> &Shape {
        self.shape
    }

    /// Bytes that come in while the last level but one fills once; while level 1 does in
    /// a tree of one level.
    pub fn turnover(&self) -> f64 {
        let last_but_one = self.levels.saturating_sub(1).max(1);
        self.shape.capacity(LogicalLevel(last_but_one as u16)) as f64
    }

    /// Bytes that come in while a run of a level is there, on average: half of what
    /// fills the level, or of the data in the deepest. The first level is at 0.
    pub fn life(&self, at: usize) -> f64 {
        let whole = if at + 1 >= self.levels {
            self.data
        } else {
            self.shape.capacity(LogicalLevel(at as u16 + 1)) as f64
        };
        0.5 * whole
    }

    /// The mean number of runs and rewrites under these limits.
    pub fn under(&self, limits: &RunLimits) -> Shaped {
        let ratio = f64::from(self.shape.size_ratio);
        let mut shaped = Shaped {
            runs: Vec::with_capacity(self.levels),
            rewritten: Vec::with_capacity(self.levels),
            rewrites: 0.0,
        };
        for at in 1..=self.levels {
            let level = LogicalLevel(at as u16);
            let own = limits.get(level);
            let limit = f64::from(own.get()).min(ratio);
            let (runs, rewrites) = if at == self.levels {
                self.deepest(level, own)
            } else {
                let runs = f64::midpoint(limit, 1.0) - limit / ratio;
                (runs, f64::midpoint(ratio / limit, 1.0))
            };
            shaped.runs.push(runs);
            shaped.rewritten.push(rewrites);
            shaped.rewrites += rewrites;
        }
        shaped
    }

    fn deepest(&self, level: LogicalLevel, limit: RunLimit) -> (f64, f64) {
        let capacity = self.shape.capacity(level) as f64;
        let inflow = self.shape.inflow(level) as f64;
        // The run of the data takes every inflow until it is sealed, which it never is
        // under limits that leave it room for more than the data.
        let sealed = self.shape.sealed_at(level, limit, 0, 0) as f64;
        if limit == RunLimit::ONE || self.data < sealed {
            return (1.0, self.data / inflow + 1.0);
        }
        let limit = f64::from(limit.get()).min(f64::from(self.shape.size_ratio));
        let bound = (self.shape.max_space_amplification - 1.0) * self.data;
        let room = (capacity - self.data).min(bound).max(inflow);
        let run = capacity / limit;
        // The new data is merged within its runs, and in the end with the rest.
        let within = f64::midpoint(run.min(room) / inflow, 1.0);
        let whole = (self.data + room) / room;
        (1.0 + (room / run).max(1.0) / 2.0, within + whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{numbered_files, small_shape};

    fn tree(deepest: u16, files: u64) -> Tree {
        let shape = small_shape();
        let (_, last) = shape.layout.span(LogicalLevel(deepest));
        let mut levels = vec![Vec::new(); usize::from(last.0) + 1];
        levels[usize::from(last.0)] = numbered_files(files);
        Tree::new(levels).expect("a run")
    }

    #[test]
    fn by_hand() {
        let shape = small_shape();
        // L0 brings 400, level 1 holds 4,000, level 2 40,000 of which 20,000 are used.
        let tree = tree(2, 200);
        let structure = Structure::of(&shape, &tree).expect("a level");
        let one = structure.under(&RunLimits::uniform(RunLimit::ONE));
        assert_eq!(one.runs, [0.9, 1.0]);
        assert!((one.rewrites - (5.5 + 6.0)).abs() < 1e-9, "{one:?}");
        let ten = structure.under(&RunLimits::uniform(RunLimit::clamped(10)));
        // 20,000 of room in runs of 4,000.
        assert_eq!(ten.runs, [4.5, 3.5]);
        assert!((ten.rewrites - (1.0 + 1.0 + 2.0)).abs() < 1e-9, "{ten:?}");
    }

    /// 10,000 bytes in a level of 40,000 fill no run before a limit of 4.
    #[test]
    fn limits_under_which_the_data_is_never_sealed_are_one_tree() {
        let shape = small_shape();
        let tree = tree(2, 100);
        let structure = Structure::of(&shape, &tree).expect("a level");
        let below = |limit: u16| {
            let mut limits = RunLimits::uniform(RunLimit::clamped(limit));
            limits.set(LogicalLevel(1), RunLimit::ONE);
            structure.under(&limits)
        };
        assert_eq!((below(2), below(3)), (below(1), below(1)));
        assert!(below(4).runs[1] > 1.0 && below(4).rewrites < below(1).rewrites);
    }

    /// In a level that holds more than an inflow.
    #[test]
    fn more_runs_are_never_rewritten_more() {
        let shape = small_shape();
        for files in [60, 100, 200, 390] {
            let tree = tree(2, files);
            let structure = Structure::of(&shape, &tree).expect("a level");
            let rewrites: Vec<f64> = (1..=10)
                .map(|limit| RunLimits::uniform(RunLimit::clamped(limit)))
                .map(|limits| structure.under(&limits).rewrites)
                .collect();
            let falls = |pair: &[f64]| pair[1] <= pair[0] + 1e-9;
            assert!(rewrites[1..].windows(2).all(falls), "{files}: {rewrites:?}");
        }
    }
}
