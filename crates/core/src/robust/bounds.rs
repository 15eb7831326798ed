//! Costs that no size ratio of an interval goes under.
//!
//! For leveling and tiering with a fixed number of levels L, and the filters
//! that go with each size ratio T (more for a larger one, as less buffer makes
//! the same levels): runs K, and what an entry costs to write, do not fall with
//! T; rates of false positives do not rise; the share of all entries that lies
//! in the upper i < L levels falls, and so does that of each of them. Taking
//! each factor at the end of the interval where it is least bounds the sums.

use super::search::Piece;
use crate::cost_model::{CostModel, Costs, ModelTree, RunPolicy, System, smallest_share};

/// Size ratios of a piece.
pub(super) struct Interval<'a> {
    pub piece: &'a Piece<'a>,
    pub low: f64,
    pub high: f64,
    pub least_filter_bits: f64,
}

impl Interval<'_> {
    /// The bounds, or none for a policy of which the above is not known.
    pub(super) fn least_costs(&self, model: &CostModel) -> Option<Costs> {
        if !matches!(self.piece.policy, RunPolicy::Leveling | RunPolicy::Tiering) {
            return None;
        }
        let levels = self.piece.levels;
        let runs = self.piece.policy.runs(1, levels, self.low);
        let mut rates = [0.0; System::MOST_LEVELS];
        let rates = &mut rates[..levels];
        self.least_rates(model, rates);
        let all_runs = [runs; System::MOST_LEVELS];
        Some(Costs([
            runs * rates.iter().sum::<f64>(),
            1.0 + self.least_misses(runs, rates),
            model.scans(&all_runs[..levels]),
            // (T-1)/2 for leveling, (T-1)/T for tiering.
            model.writes(self.low, &all_runs[..levels]),
        ]))
    }

    /// The rates at the upper end. Alike limits have the rates of single runs.
    fn least_rates(&self, model: &CostModel, rates: &mut [f64]) {
        let bits = model.system().filter_bits_for(self.high, rates.len());
        let tree = ModelTree {
            size_ratio: self.high,
            filter_bits_per_entry: bits.max(self.least_filter_bits),
            runs: &[1.0; System::MOST_LEVELS][..rates.len()],
        };
        model.rates_of(&tree, rates);
    }

    /// Z1 - 1, summed by the level that is read in vain:
    /// sum_j f_j * (K * (share of the levels below j) + (K-1)/2 * share_j).
    fn least_misses(&self, runs: f64, rates: &[f64]) -> f64 {
        let levels = rates.len();
        let mut share_at_low = smallest_share(self.low, levels);
        let mut share_at_high = smallest_share(self.high, levels);
        let (mut to_here, mut misses) = (0.0, 0.0);
        for (at, rate) in rates.iter().enumerate() {
            to_here += share_at_low;
            let below = (1.0 - to_here).max(0.0);
            let share = share_at_low.min(share_at_high);
            let deepest = at + 1 == levels;
            misses +=
                rate * (if deepest { 0.0 } else { runs * below } + (runs - 1.0) / 2.0 * share);
            share_at_low *= self.low;
            share_at_high *= self.high;
        }
        misses
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filters::FilterAllocation;

    /// Costs at many size ratios of many intervals, wide and narrow.
    #[test]
    fn no_cost_of_an_interval_is_under_its_bound() {
        for filters in [FilterAllocation::Monkey, FilterAllocation::Uniform] {
            let model = CostModel::new(System::published(), filters).expect("a legal system");
            for policy in [RunPolicy::Leveling, RunPolicy::Tiering] {
                for (levels, least, most) in [(2, 29.0, 100.0), (4, 5.4, 21.0), (9, 2.2, 3.1)] {
                    for (start, width) in [(0.0, 1.0), (0.2, 0.3), (0.5, 0.01), (0.99, 0.01)] {
                        let piece = Piece {
                            policy: &policy,
                            levels,
                            least,
                            most,
                        };
                        let low = least + (most - least) * start;
                        let high = low + (most - least) * width;
                        check(&model, &piece, low, high);
                    }
                }
            }
        }
    }

    fn check(model: &CostModel, piece: &Piece<'_>, low: f64, high: f64) {
        for least_filter_bits in [0.0, 1.0] {
            let interval = Interval {
                piece,
                low,
                high,
                least_filter_bits,
            };
            let bound = interval.least_costs(model).expect("a policy with bounds");
            for step in 0..=50 {
                let ratio = low + (high - low) * f64::from(step) / 50.0;
                let bits = model.system().filter_bits_for(ratio, piece.levels);
                let bits = bits.max(least_filter_bits);
                let costs = model.costs_with(ratio, bits, piece.policy, piece.levels);
                for (cost, bound) in costs.0.iter().zip(bound.0) {
                    assert!(bound <= cost * (1.0 + 1e-12), "{ratio} in {low}..{high}");
                }
            }
        }
    }

    #[test]
    fn a_narrow_interval_has_a_close_bound() {
        let model = CostModel::new(System::published(), FilterAllocation::Monkey);
        let model = model.expect("a legal system");
        for policy in [RunPolicy::Leveling, RunPolicy::Tiering] {
            let piece = Piece {
                policy: &policy,
                levels: 4,
                least: 5.4,
                most: 21.0,
            };
            let interval = Interval {
                piece: &piece,
                low: 8.0,
                high: 8.0 + 1e-9,
                least_filter_bits: 0.0,
            };
            let bound = interval.least_costs(&model).expect("a policy with bounds");
            let bits = model.system().filter_bits_for(8.0, 4);
            let costs = model.costs_with(8.0, bits, &policy, 4);
            for (cost, bound) in costs.0.iter().zip(bound.0) {
                assert!(
                    (cost / bound - 1.0).abs() < 1e-6,
                    "{policy}: {cost} {bound}"
                );
            }
        }
    }
}
