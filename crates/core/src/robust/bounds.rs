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
