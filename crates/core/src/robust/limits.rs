//! Run limits chosen level by level.

use super::search::{EQUAL, size_ratios_for};
use super::{DesignSpace, Neighbourhood, SizeRatios, Tuned};
use crate::cost_model::{
    CostModel, Costs, ModelError, ModelTree, RunPolicy, System, Tuning, Workload,
};
use crate::layout::Layout;
use crate::shape::{RunLimit, RunLimits};

/// Vectors of limits of one size ratio and number of levels that are all tried;
/// where there are more, they are improved from several starts.
const EXHAUSTIVE: usize = 256;

/// The tuning of least worst case with a run limit of its own for each level,
/// from 1 to T - 1 or what the layout holds. Size ratios are whole; the
/// policies of the space are not looked at. In [`DesignSpace::held`] the tree
/// can hold what is found.
///
/// Filters follow from the number of levels as in [`tune`](super::tune). Limits
/// are tried exhaustively where they are few. Elsewhere one or two neighbouring
/// levels are changed at a time until nothing is gained, from leveling,
/// tiering, and many runs above or below one run: a good tuning, not a certified
/// one.
///
/// # Errors
/// As [`tune`](super::tune).
pub fn tune_limits(
    model: &CostModel,
    near: &Neighbourhood,
    space: &DesignSpace,
) -> Result<Tuned, ModelError> {
    let space = DesignSpace {
        steps: SizeRatios::Whole,
        policies: vec![RunPolicy::Leveling],
        ..space.clone()
    };
    space.check(model)?;
    let mut trees = trees(model, near, &space);
    trees.sort_by(|one, other| one.least.total_cmp(&other.least));
    let mut best: Option<(&Tree<'_>, Found)> = None;
    for tree in &trees {
        if best
            .as_ref()
            .is_some_and(|(_, best)| tree.least > best.value * (1.0 + EQUAL))
        {
            break;
        }
        let found = tree.search();
        if best
            .as_ref()
            .is_none_or(|(_, best)| found.is_better_than(best))
        {
            best = Some((tree, found));
        }
    }
    let (tree, found) = best.ok_or_else(|| {
        ModelError::new(
            "no whole size ratio of the space makes a tree: allow larger ones, or more levels",
        )
    })?;
    Tuned::new(model, near, tree.tuning(&found.limits))
}

/// A tree for each size ratio and number of levels.
fn trees<'a>(model: &'a CostModel, near: &'a Neighbourhood, space: &DesignSpace) -> Vec<Tree<'a>> {
    (1..=space.most_levels)
        .filter_map(|levels| Some((levels, size_ratios_for(model, space, levels)?)))
        .flat_map(|(levels, (least, most))| {
            let ratios = least.ceil() as u32..=most.floor() as u32;
            ratios.map(move |ratio| Tree::new(model, near, space, ratio, levels))
        })
        .collect()
}

/// Limits, and what they cost.
#[derive(Clone)]
struct Found {
    limits: Vec<u16>,
    value: f64,
    expected: f64,
    worst: Workload,
}

impl Found {
    /// Less in the worst case, or as much and less if all goes as expected.
    fn is_better_than(&self, other: &Found) -> bool {
        let limit = other.value * (1.0 - EQUAL);
        self.value < limit || (self.value <= other.value && self.expected < other.expected)
    }
}

/// One size ratio, one number of levels, all limits open.
struct Tree<'a> {
    model: &'a CostModel,
    near: &'a Neighbourhood,
    size_ratio: f64,
    filter_bits_per_entry: f64,
    levels: usize,
    most_runs: u16,
    /// What no limits go under in the worst case.
    least: f64,
}

impl<'a> Tree<'a> {
    fn new(
        model: &'a CostModel,
        near: &'a Neighbourhood,
        space: &DesignSpace,
        size_ratio: u32,
        levels: usize,
    ) -> Tree<'a> {
        let many = u16::try_from(size_ratio - 1).unwrap_or(u16::MAX);
        let size_ratio = f64::from(size_ratio);
        let bits = model.system().filter_bits_for(size_ratio, levels);
        let mut tree = Tree {
            model,
            near,
            size_ratio,
            filter_bits_per_entry: bits.max(space.least_filter_bits),
            levels,
            most_runs: many.clamp(1, Layout::V1.max_run_limit()),
            least: 0.0,
        };
        tree.least = tree.bound();
        tree
    }

    fn costs(&self, limits: &[u16]) -> Costs {
        let mut runs = [1.0; System::MOST_LEVELS];
        for (runs, limit) in runs.iter_mut().zip(limits) {
            *runs = f64::from(*limit);
        }
        self.model.costs_of(&ModelTree {
            size_ratio: self.size_ratio,
            filter_bits_per_entry: self.filter_bits_per_entry,
            runs: &runs[..self.levels],
        })
    }

    fn found(&self, limits: Vec<u16>) -> Found {
        let costs = self.costs(&limits);
        let worst = self.near.worst_case(&costs);
        Found {
            limits,
            value: worst.cost,
            expected: costs.under(self.near.expected()),
            worst: worst.workload,
        }
    }

    /// Reads as with one run each, writes as with the most. (Z0 and Z1 grow
    /// with every K: K_j * f_j and the rates of the others do.)
    fn bound(&self) -> f64 {
        let reads = self.costs(&vec![1; self.levels]);
        let writes = self.costs(&vec![self.most_runs; self.levels]);
        let [z0, z1, q, _] = reads.0;
        self.near.worst_case(&Costs([z0, z1, q, writes.0[3]])).cost
    }

    fn tuning(&self, limits: &[u16]) -> Tuning {
        Tuning {
            size_ratio: self.size_ratio,
            filter_bits_per_entry: self.filter_bits_per_entry,
            policy: RunPolicy::Limits(run_limits(limits)),
        }
    }

    fn search(&self) -> Found {
        let vectors = usize::from(self.most_runs).checked_pow(self.levels as u32);
        if vectors.is_some_and(|vectors| vectors <= EXHAUSTIVE) {
            self.exhaust()
        } else {
            self.descend_from_all()
        }
    }

    fn exhaust(&self) -> Found {
        let mut limits = vec![1; self.levels];
        let mut best = self.found(limits.clone());
        while next(&mut limits, self.most_runs) {
            self.take_if_better(&limits, &mut best);
        }
        best
    }

    fn take_if_better(&self, limits: &[u16], best: &mut Found) {
        // As in the search for size ratios, the workload that is worst for the
        // best limits tells most others off.
        let costs = self.costs(limits);
        if costs.under(&best.worst) > best.value {
            return;
        }
        let found = self.found(limits.to_vec());
        if found.is_better_than(best) {
            *best = found;
        }
    }

    fn descend_from_all(&self) -> Found {
        let many = vec![self.most_runs; self.levels];
        let one = vec![1; self.levels];
        let (mut lazy, mut eager) = (many.clone(), one.clone());
        lazy[self.levels - 1] = 1;
        eager[self.levels - 1] = self.most_runs;
        let mut best = self.descend(one);
        for start in [many, lazy, eager] {
            let found = self.descend(start);
            if found.is_better_than(&best) {
                best = found;
            }
        }
        best
    }

    /// Changes one level or two neighbours at a time while that gains.
    fn descend(&self, start: Vec<u16>) -> Found {
        let mut best = self.found(start);
        loop {
            let before = best.clone();
            for level in 0..self.levels {
                self.improve(&mut best, level, None);
            }
            for level in 1..self.levels {
                self.improve(&mut best, level - 1, Some(level));
            }
            if !best.is_better_than(&before) {
                return best;
            }
        }
    }

    fn improve(&self, best: &mut Found, level: usize, other: Option<usize>) {
        let mut limits = best.limits.clone();
        let others = if other.is_some() { self.most_runs } else { 1 };
        for limit in 1..=self.most_runs {
            limits[level] = limit;
            for other_limit in 1..=others {
                if let Some(other) = other {
                    limits[other] = other_limit;
                }
                self.take_if_better(&limits, best);
            }
        }
    }
}

/// The next vector in counting order; false after the last.
fn next(limits: &mut [u16], most: u16) -> bool {
    for limit in limits {
        if *limit < most {
            *limit += 1;
            return true;
        }
        *limit = 1;
    }
    false
}

fn run_limits(limits: &[u16]) -> RunLimits {
    let levels: Vec<RunLimit> = limits.iter().map(|runs| RunLimit::clamped(*runs)).collect();
    RunLimits {
        deeper: levels.last().copied().unwrap_or(RunLimit::ONE),
        levels,
    }
}
