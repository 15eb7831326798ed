//! The formulas.

use std::ops::Index;

use serde::{Deserialize, Serialize};

use super::rates::false_positive_rates;
use super::{ModelError, OperationKind, RunPolicy, System, Tuning, Workload};
use crate::filters::FilterAllocation;

/// What one operation of each kind costs, read I/Os (c).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Costs(pub [f64; 4]);

impl Costs {
    /// Mean cost of an operation, I/Os: z0*Z0 + z1*Z1 + q*Q + w*W (Endure,
    /// equation 2, whose text swaps the first two weights).
    pub fn under(&self, workload: &Workload) -> f64 {
        let terms = self.0.iter().zip(workload.shares());
        terms.map(|(cost, share)| cost * share).sum()
    }
}

impl Index<OperationKind> for Costs {
    type Output = f64;

    fn index(&self, kind: OperationKind) -> &f64 {
        &self.0[kind as usize]
    }
}

/// A system, checked, with a way to share filter memory.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CostModel {
    system: System,
    filters: FilterAllocation,
}

/// A tree of which the model knows all that costs depend on.
pub(crate) struct ModelTree<'a> {
    /// T.
    pub size_ratio: f64,
    /// m_filt / N.
    pub filter_bits_per_entry: f64,
    /// K_i, level 1 first; their number is L.
    pub runs: &'a [f64],
}

impl CostModel {
    /// A model of a system.
    ///
    /// # Errors
    /// A sentence when a figure of the system is out of its bounds.
    pub fn new(system: System, filters: FilterAllocation) -> Result<CostModel, ModelError> {
        system.check()?;
        Ok(CostModel { system, filters })
    }

    /// What is modelled.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// How filter memory is shared among levels.
    pub fn filters(&self) -> FilterAllocation {
        self.filters
    }

    /// The most filter bits per entry that a tuning may ask for: all memory
    /// but the smallest write buffer.
    pub fn most_filter_bits(&self) -> f64 {
        self.system.most_filter_bits()
    }

    /// What a tuning leaves for the write buffer, bits: m_buf = m - m_filt.
    ///
    /// # Errors
    /// As [`CostModel::costs`].
    pub fn buffer_bits(&self, tuning: &Tuning) -> Result<f64, ModelError> {
        tuning.check(&self.system)?;
        Ok(self.system.buffer_bits(tuning.filter_bits_per_entry))
    }

    /// Levels of the tree: L = ceil(log_T(N * E / m_buf + 1)) (Endure,
    /// equation 1).
    ///
    /// # Errors
    /// As [`CostModel::costs`].
    pub fn levels(&self, tuning: &Tuning) -> Result<usize, ModelError> {
        tuning.check(&self.system)?;
        let bits = tuning.filter_bits_per_entry;
        Ok(self.system.levels(tuning.size_ratio, bits))
    }

    /// Rate of false positives of a run in each level, level 1 first (f_i).
    ///
    /// # Errors
    /// As [`CostModel::costs`].
    pub fn false_positive_rates(&self, tuning: &Tuning) -> Result<Vec<f64>, ModelError> {
        let levels = self.levels(tuning)?;
        let runs = self.runs(tuning, levels);
        let mut rates = vec![0.0; levels];
        let (ratio, bits) = (tuning.size_ratio, tuning.filter_bits_per_entry);
        false_positive_rates(self.filters, ratio, bits, &runs[..levels], &mut rates);
        Ok(rates)
    }

    /// What each kind of operation costs under a tuning, I/Os.
    ///
    /// # Errors
    /// A sentence when the size ratio is outside 2 to 100, or the filters take
    /// more than [`CostModel::most_filter_bits`].
    pub fn costs(&self, tuning: &Tuning) -> Result<Costs, ModelError> {
        let levels = self.levels(tuning)?;
        Ok(self.costs_with(
            tuning.size_ratio,
            tuning.filter_bits_per_entry,
            &tuning.policy,
            levels,
        ))
    }

    fn runs(&self, tuning: &Tuning, levels: usize) -> [f64; System::MOST_LEVELS] {
        runs_of(&tuning.policy, levels, tuning.size_ratio)
    }

    /// The costs of a tree with so many levels. The caller answers for the
    /// bounds and for the number of levels.
    pub(crate) fn costs_with(
        &self,
        size_ratio: f64,
        filter_bits_per_entry: f64,
        policy: &RunPolicy,
        levels: usize,
    ) -> Costs {
        let runs = runs_of(policy, levels, size_ratio);
        self.costs_of(&ModelTree {
            size_ratio,
            filter_bits_per_entry,
            runs: &runs[..levels],
        })
    }

    /// The costs of a tree, whose limits are at most T - 1.
    pub(crate) fn costs_of(&self, tree: &ModelTree<'_>) -> Costs {
        let mut rates = [0.0; System::MOST_LEVELS];
        let rates = &mut rates[..tree.runs.len()];
        self.rates_of(tree, rates);
        Costs([
            gets_absent(tree.runs, rates),
            gets_found(tree.size_ratio, tree.runs, rates),
            self.scans(tree.runs),
            self.writes(tree.size_ratio, tree.runs),
        ])
    }

    /// The rates of a tree.
    pub(crate) fn rates_of(&self, tree: &ModelTree<'_>, rates: &mut [f64]) {
        false_positive_rates(
            self.filters,
            tree.size_ratio,
            tree.filter_bits_per_entry,
            tree.runs,
            rates,
        );
    }

    /// Q, I/Os: a seek in every run, and the pages that the scan covers:
    /// S_RQ * N / B + sum K_i (Endure, equation 15, where K is 1 or T-1).
    pub(crate) fn scans(&self, runs: &[f64]) -> f64 {
        let System {
            entries,
            page_entries,
            range_selectivity,
            ..
        } = self.system;
        range_selectivity * entries as f64 / page_entries + runs.iter().sum::<f64>()
    }

    /// W, I/Os: an entry is read and written (T-1) / (K_i+1) times in level i,
    /// a page for B entries: (1 + A_rw) / B * sum (T-1) / (K_i+1) (Dostoevsky,
    /// section 4). With K = 1 it is L/B * (T-1)/2 * (1+A_rw), with K = T-1 it is
    /// L/B * (T-1)/T * (1+A_rw) (Endure, equation 16).
    pub(crate) fn writes(&self, size_ratio: f64, runs: &[f64]) -> f64 {
        let merges: f64 = runs
            .iter()
            .map(|runs| (size_ratio - 1.0) / (runs + 1.0))
            .sum();
        merges * (1.0 + self.system.write_asymmetry) / self.system.page_entries
    }
}

fn runs_of(policy: &RunPolicy, levels: usize, size_ratio: f64) -> [f64; System::MOST_LEVELS] {
    let mut runs = [1.0; System::MOST_LEVELS];
    for (at, runs) in runs.iter_mut().take(levels).enumerate() {
        *runs = policy.runs(at + 1, levels, size_ratio);
    }
    runs
}

/// Z0, I/Os: every run is probed, and read when its filter errs: sum K_i * f_i
/// (Endure, equation 12).
fn gets_absent(runs: &[f64], rates: &[f64]) -> f64 {
    runs.iter().zip(rates).map(|(runs, rate)| runs * rate).sum()
}

/// Z1, I/Os: the key is in level i with the level's share of all entries,
/// share_i = (T-1) * T^(i-1) / (T^L - 1), and costs one read, the false
/// positives of all levels above, and those of half the other runs in its own:
/// sum share_i * (1 + sum_{j<i} K_j * f_j + (K_i-1)/2 * f_i)
/// (Endure, equation 14).
fn gets_found(size_ratio: f64, runs: &[f64], rates: &[f64]) -> f64 {
    let mut share = smallest_share(size_ratio, runs.len());
    let mut above = 0.0;
    let mut cost = 0.0;
    for (runs, rate) in runs.iter().zip(rates) {
        cost += share * (1.0 + above + (runs - 1.0) / 2.0 * rate);
        above += runs * rate;
        share *= size_ratio;
    }
    cost
}

/// The share of all entries that level 1 of a full tree holds:
/// (T-1) / (T^L - 1).
pub(crate) fn smallest_share(size_ratio: f64, levels: usize) -> f64 {
    (size_ratio - 1.0) / (size_ratio.powi(levels as i32) - 1.0)
}

#[cfg(test)]
#[path = "costs_tests.rs"]
mod tests;
