//! How many filter bits each level's keys get.
//!
//! *Uniform* gives every key the same. *Monkey* (Dayan et al., SIGMOD 2017)
//! spends the same memory so that the sum of the levels' false-positive rates
//! is least: the rate of level i is proportional to the entries in its runs,
//! f_i = T^(i-1) * f_1, so small levels get more bits per key.

use serde::{Deserialize, Serialize};

/// How filter memory is shared among levels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FilterAllocation {
    /// The same bits per key everywhere.
    #[default]
    Uniform,
    /// Bits by level, from the levels' real sizes.
    Monkey,
}

/// ln(2)^2: a Bloom filter of b bits per key has a false-positive rate of
/// e^(-b * ln(2)^2).
pub(crate) const LN2_SQUARED: f64 = std::f64::consts::LN_2 * std::f64::consts::LN_2;

/// Rate at which a Bloom filter of so many bits per key lets absent keys pass, with the
/// best number of hash functions: e^(-b * ln(2)^2) (Monkey, as above).
pub fn false_positive_rate(bits_per_key: f64) -> f64 {
    (-bits_per_key * LN2_SQUARED).exp()
}

/// No filter gets more bits per key: past 20 its rate is under 1 in 10,000.
const MOST_BITS: f64 = 20.0;

/// Bits per key for each level, given the entries in each level and the memory
/// as average bits per key over all of them.
///
/// Monkey's problem, solved by Lagrange's multiplier lambda: it minimises the sum over
/// levels of runs_i * e^(-b_i ln²2) under
/// sum entries_i * b_i = bits_per_key * sum entries_i and b_i >= 0, where the
/// rate of a level is f_i = min(1, lambda * entries_i / runs_i). Levels for
/// which the memory is too short get none, and all of it goes to the others
/// (the limit that Endure's closed form misses). Levels without entries get the
/// bits of the next one that has some.
pub fn bits_per_key(
    allocation: FilterAllocation,
    bits_per_key: f64,
    entries: &[u64],
    runs: &[u16],
) -> Vec<f64> {
    let budget = bits_per_key.max(0.0);
    if allocation == FilterAllocation::Uniform || entries.iter().all(|count| *count == 0) {
        return vec![budget; entries.len()];
    }
    let mean_run = |level: usize| {
        entries[level] as f64 / f64::from(runs.get(level).copied().unwrap_or(1).max(1))
    };
    let total: f64 = entries.iter().map(|count| *count as f64).sum::<f64>() * budget;
    let mut filtered: Vec<usize> = (0..entries.len()).filter(|at| entries[*at] > 0).collect();
    let log_lambda = loop {
        let weight: f64 = filtered.iter().map(|at| entries[*at] as f64).sum();
        if weight == 0.0 {
            break f64::INFINITY;
        }
        let log_runs: f64 = filtered
            .iter()
            .map(|at| entries[*at] as f64 * mean_run(*at).ln())
            .sum();
        let log_lambda = (-total * LN2_SQUARED - log_runs) / weight;
        let before = filtered.len();
        filtered.retain(|at| log_lambda + mean_run(*at).ln() < 0.0);
        if filtered.len() == before {
            break log_lambda;
        }
    };
    let mut bits = vec![0.0; entries.len()];
    for at in filtered {
        bits[at] = (-(log_lambda + mean_run(at).ln()) / LN2_SQUARED).clamp(0.0, MOST_BITS);
    }
    for at in (0..entries.len().saturating_sub(1)).rev() {
        if entries[at] == 0 {
            bits[at] = bits[at + 1];
        }
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(bits: &[f64], entries: &[u64]) -> f64 {
        bits.iter().zip(entries).map(|(b, n)| b * *n as f64).sum()
    }

    #[test]
    fn monkey_spends_the_same_memory_and_halves_nothing_by_accident() {
        let entries = [1_000, 10_000, 100_000];
        let bits = bits_per_key(FilterAllocation::Monkey, 8.0, &entries, &[1, 1, 1]);
        let spent = memory(&bits, &entries);
        assert!((spent - 8.0 * 111_000.0).abs() < 1.0, "{bits:?}");
        // f_i = T * f_{i-1}: each level down has ln(10)/ln²2 = 4.79 bits less.
        assert!((bits[0] - bits[1] - 10f64.ln() / LN2_SQUARED).abs() < 1e-9);
        assert!((bits[1] - bits[2] - 10f64.ln() / LN2_SQUARED).abs() < 1e-9);
    }

    #[test]
    fn short_memory_leaves_the_largest_level_unfiltered() {
        let entries = [1_000, 10_000, 100_000];
        let bits = bits_per_key(FilterAllocation::Monkey, 0.3, &entries, &[1, 1, 1]);
        assert_eq!(bits[2], 0.0);
        assert!(bits[0] > bits[1] && bits[1] > 0.0);
        let none = bits_per_key(FilterAllocation::Monkey, 0.0, &entries, &[1, 1, 1]);
        assert_eq!(none, [0.0; 3]);
    }

    #[test]
    fn monkey_has_the_least_sum_of_rates() {
        let entries = [2_000, 10_000, 100_000];
        let runs = [4u16, 2, 1];
        let rate = |bits: &[f64]| -> f64 {
            bits.iter()
                .zip(runs)
                .map(|(b, k)| f64::from(k) * (-b * LN2_SQUARED).exp())
                .sum()
        };
        let best = bits_per_key(FilterAllocation::Monkey, 6.0, &entries, &runs);
        for (from, to) in [(0, 1), (1, 0), (1, 2), (2, 1), (0, 2), (2, 0)] {
            let mut other = best.clone();
            let moved = 100.0;
            other[from] -= moved / entries[from] as f64;
            other[to] += moved / entries[to] as f64;
            assert!(rate(&best) <= rate(&other), "{from} to {to}");
        }
    }

    #[test]
    fn empty_levels_take_the_bits_of_the_next() {
        let bits = bits_per_key(FilterAllocation::Monkey, 8.0, &[0, 10, 0], &[0, 1, 0]);
        assert_eq!(bits[0], bits[1]);
        let empty = bits_per_key(FilterAllocation::Monkey, 8.0, &[0, 0], &[0, 0]);
        assert_eq!(empty, [8.0, 8.0]);
    }
}
