//! The tuning of least worst case.
//!
//! *Filters.* With size ratio, policy and number of levels held, more filter
//! memory lowers Z0 and Z1 and leaves Q and W alone, and the worst case is a
//! maximum of sums of costs with weights of at least 0: it falls too. So for
//! each number of levels the best filters are the largest that still make no
//! more levels, and one point stands for the whole line.
//!
//! *Size ratio.* What is left is one number for each policy and number of
//! levels. Whole size ratios are all tried. Real ones are scanned, refined by
//! golden sections, and then certified: [`bounds`](super::bounds) bounds the
//! costs over an interval from below, so that intervals which cannot hold a
//! better tuning are dropped and the others halved, until none is left.

use serde::{Deserialize, Serialize};

use super::bounds::Interval;
use super::{DesignSpace, Neighbourhood, SizeRatios, WorstCase};
use crate::cost_model::{CostModel, Costs, ModelError, RunPolicy, Tuning, Workload};

/// A tuning that was found, and what it costs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Tuned {
    /// The tuning.
    pub tuning: Tuning,
    /// Levels of its tree.
    pub levels: usize,
    /// Its write buffer, bits. It is the smallest that makes these levels: when
    /// rounding, round it up and the filters down, or a level is added.
    pub buffer_bits: f64,
    /// What each kind of operation costs, I/Os.
    pub costs: Costs,
    /// Mean cost of an operation of the expected workload, I/Os.
    pub expected_cost: f64,
    /// The worst workload of the neighbourhood and its mean cost.
    pub worst: WorstCase,
}

impl Tuned {
    /// What a tuning costs in a neighbourhood.
    ///
    /// # Errors
    /// As [`CostModel::costs`].
    pub fn new(
        model: &CostModel,
        near: &Neighbourhood,
        tuning: Tuning,
    ) -> Result<Tuned, ModelError> {
        let costs = model.costs(&tuning)?;
        Ok(Tuned {
            levels: model.levels(&tuning)?,
            buffer_bits: model.buffer_bits(&tuning)?,
            costs,
            expected_cost: costs.under(near.expected()),
            worst: near.worst_case(&costs),
            tuning,
        })
    }
}

/// The tuning whose worst case in the neighbourhood is best; in
/// [`Neighbourhood::only`] the nominal tuning. With whole size ratios it is the
/// best of the space. With real ones and leveling or tiering its worst case is
/// within one part in 100,000 of the best, size ratios being told apart as
/// finely. (Other policies with real size ratios have no such bound, only the
/// scan.)
///
/// Equal tunings are decided by the expected workload, then by order: the
/// first policy, the fewest levels, the smallest size ratio.
///
/// # Errors
/// A sentence when the space is empty or does not fit the model.
pub fn tune(
    model: &CostModel,
    near: &Neighbourhood,
    space: &DesignSpace,
) -> Result<Tuned, ModelError> {
    space.check(model)?;
    let mut search = Search::new(model, near, space);
    let pieces = search.pieces();
    for piece in &pieces {
        match space.steps {
            SizeRatios::Whole => search.try_whole(piece),
            SizeRatios::Real => search.scan(piece),
        }
    }
    if space.steps == SizeRatios::Real {
        for piece in &pieces {
            search.certify(piece);
        }
    }
    search.finish()
}

/// Size ratios that, with one policy, make one number of levels.
pub(super) struct Piece<'a> {
    pub policy: &'a RunPolicy,
    pub levels: usize,
    pub least: f64,
    pub most: f64,
}

/// The best tuning so far.
struct Best {
    size_ratio: f64,
    levels: usize,
    policy: RunPolicy,
    value: f64,
    expected: f64,
    worst: Workload,
}

struct Search<'a> {
    model: &'a CostModel,
    near: &'a Neighbourhood,
    space: &'a DesignSpace,
    best: Option<Best>,
    /// The least worst case so far. That of `best` is at most
    /// [`EQUAL`] above it.
    least: f64,
}

/// Size ratios of the first scan of a piece.
const SCAN: usize = 24;

/// How much better than the best a tuning must be to be looked for.
const TOLERANCE: f64 = 1e-5;

/// Size ratios this close, relatively, are not told apart by the bounds: it
/// limits the work where costs are level.
const FINEST: f64 = 1e-5;

/// Worst cases this close, relatively, count as equal.
pub(super) const EQUAL: f64 = 1e-9;

impl<'a> Search<'a> {
    fn new(model: &'a CostModel, near: &'a Neighbourhood, space: &'a DesignSpace) -> Self {
        Search {
            model,
            near,
            space,
            best: None,
            least: f64::INFINITY,
        }
    }

    fn pieces(&self) -> Vec<Piece<'a>> {
        let space = self.space;
        let of_policy = |policy: &'a RunPolicy| {
            (1..=space.most_levels).filter_map(move |levels| {
                let (least, most) = size_ratios_for(self.model, space, levels)?;
                Some(Piece {
                    policy,
                    levels,
                    least,
                    most,
                })
            })
        };
        space.policies.iter().flat_map(of_policy).collect()
    }

    /// The worst case at a size ratio of a piece, with the best filters.
    fn value(&mut self, piece: &Piece<'_>, size_ratio: f64) -> f64 {
        let bits = self
            .model
            .system()
            .filter_bits_for(size_ratio, piece.levels);
        let bits = bits.max(self.space.least_filter_bits);
        let costs = self
            .model
            .costs_with(size_ratio, bits, piece.policy, piece.levels);
        // The worst workload for the best tuning bounds the worst case from
        // below, at a fraction of its price.
        let bound = self
            .best
            .as_ref()
            .map_or(0.0, |best| costs.under(&best.worst));
        if bound > self.equal_to_least() {
            return bound;
        }
        let worst = self.near.worst_case(&costs);
        self.offer(piece, size_ratio, worst, costs.under(self.near.expected()));
        worst.cost
    }

    fn equal_to_least(&self) -> f64 {
        self.least * (1.0 + EQUAL)
    }

    fn offer(&mut self, piece: &Piece<'_>, size_ratio: f64, worst: WorstCase, expected: f64) {
        self.least = self.least.min(worst.cost);
        let limit = self.equal_to_least();
        let kept = self.best.as_ref().filter(|best| best.value <= limit);
        if worst.cost <= limit && kept.is_none_or(|best| expected < best.expected) {
            self.best = Some(Best {
                size_ratio,
                levels: piece.levels,
                policy: piece.policy.clone(),
                value: worst.cost,
                expected,
                worst: worst.workload,
            });
        }
    }

    fn try_whole(&mut self, piece: &Piece<'_>) {
        let mut size_ratio = piece.least.ceil();
        while size_ratio <= piece.most {
            self.value(piece, size_ratio);
            size_ratio += 1.0;
        }
    }

    fn scan(&mut self, piece: &Piece<'_>) {
        let at = scan_points(piece);
        let values: Vec<f64> = at.iter().map(|ratio| self.value(piece, *ratio)).collect();
        for middle in 1..SCAN {
            let valley =
                values[middle] <= values[middle - 1] && values[middle] <= values[middle + 1];
            if valley && values[middle] <= self.equal_to_least() {
                self.golden_section(piece, at[middle - 1], at[middle + 1]);
            }
        }
    }

    fn golden_section(&mut self, piece: &Piece<'_>, mut low: f64, mut high: f64) {
        const RATIO: f64 = 0.618_033_988_749_894_9;
        while high - low > 1e-7 * high {
            let (left, right) = (high - RATIO * (high - low), low + RATIO * (high - low));
            if self.value(piece, left) <= self.value(piece, right) {
                high = right;
            } else {
                low = left;
            }
        }
    }

    /// Halves the intervals that may hold a better tuning until none may.
    fn certify(&mut self, piece: &Piece<'_>) {
        let at = scan_points(piece);
        let mut open: Vec<(f64, f64)> = at.windows(2).map(|pair| (pair[0], pair[1])).collect();
        while let Some((low, high)) = open.pop() {
            if high - low <= FINEST * high || self.excluded(piece, low, high) {
                continue;
            }
            let middle = (low + high) / 2.0;
            self.value(piece, middle);
            open.push((low, middle));
            open.push((middle, high));
        }
    }

    fn excluded(&self, piece: &Piece<'_>, low: f64, high: f64) -> bool {
        let Some(best) = &self.best else {
            return false;
        };
        let interval = Interval {
            piece,
            low,
            high,
            least_filter_bits: self.space.least_filter_bits,
        };
        let Some(costs) = interval.least_costs(self.model) else {
            return true;
        };
        let goal = self.least * (1.0 - TOLERANCE);
        costs.under(&best.worst) >= goal || self.near.worst_case(&costs).cost >= goal
    }

    fn finish(self) -> Result<Tuned, ModelError> {
        let best = self.best.ok_or_else(|| {
            ModelError::new(format!(
                "no size ratio from {} to {} makes a tree of at most {} levels: allow larger ones, or more levels",
                self.space.size_ratios.0, self.space.size_ratios.1, self.space.most_levels
            ))
        })?;
        let system = self.model.system();
        let bits = system.filter_bits_for(best.size_ratio, best.levels);
        let tuning = Tuning {
            size_ratio: best.size_ratio,
            filter_bits_per_entry: bits.max(self.space.least_filter_bits),
            policy: best.policy,
        };
        Tuned::new(self.model, self.near, tuning)
    }
}

/// The size ratios of a space that can make so many levels, and not fewer with
/// any filters that they may have.
pub(super) fn size_ratios_for(
    model: &CostModel,
    space: &DesignSpace,
    levels: usize,
) -> Option<(f64, f64)> {
    let system = model.system();
    let root = |bits: f64, degree: usize| {
        let buffers = system.buffers(system.buffer_bits(bits));
        (buffers.ln() / degree as f64).exp()
    };
    let (mut least, mut most) = space.size_ratios;
    // Rounding may not shut out a size ratio that is exactly a root.
    least = least.max(root(space.least_filter_bits, levels) * (1.0 - 1e-12));
    if levels > 1 {
        most = most.min(root(model.most_filter_bits(), levels - 1) * (1.0 + 1e-12));
    }
    (least <= most).then_some((least, most))
}

fn scan_points(piece: &Piece<'_>) -> [f64; SCAN + 1] {
    let (low, high) = (piece.least.ln(), piece.most.ln());
    let point = |step: usize| (low + (high - low) * step as f64 / SCAN as f64).exp();
    let mut at = std::array::from_fn(|step| point(step).clamp(piece.least, piece.most));
    at[0] = piece.least;
    at[SCAN] = piece.most;
    at
}
