//! How often a filter passes a key that its run does not hold.

use crate::filters::{FilterAllocation, false_positive_rate};

pub(super) use crate::filters::LN2_SQUARED;

/// False-positive rate of a run in each level (f_i), given the runs per level
/// (K_i <= T - 1), level 1 first.
///
/// *Uniform*: e^(-b * ln²2) everywhere, with b bits per entry.
///
/// *Monkey*: f_i = T^(T/(T-1)) / T^(L+1-i) * e^(-b * ln²2) where all K_i are
/// alike (Endure, equation 11), otherwise in proportion to T^i / K_i, the
/// entries of one run. The closed form stands for a tree that goes on above
/// level 1 with K_1 for ever, so it spends a little less than its memory.
///
/// Equation 11 exceeds 1 below b = ln T / ((T-1) * ln²2). There the largest
/// level goes without filters, f_L = 1, and the others, which hold 1/T of the
/// entries, share all memory: b * T bits each; and so on upwards. Both forms
/// meet at that b. Since K_i <= T - 1, a larger level never has a smaller rate,
/// so the levels without filters are always the largest.
pub(super) fn false_positive_rates(
    allocation: FilterAllocation,
    size_ratio: f64,
    bits_per_entry: f64,
    runs: &[f64],
    rates: &mut [f64],
) {
    match allocation {
        FilterAllocation::Uniform => rates.fill(false_positive_rate(bits_per_entry)),
        FilterAllocation::Monkey => monkey(size_ratio, bits_per_entry, runs, rates),
    }
}

fn monkey(size_ratio: f64, bits_per_entry: f64, runs: &[f64], rates: &mut [f64]) {
    rates.fill(1.0);
    let mut bits = bits_per_entry;
    for filtered in (1..=runs.len()).rev() {
        let log_scale = log_scale(size_ratio, bits, &runs[..filtered]);
        if log_scale <= runs[filtered - 1].ln() {
            let mut scale = log_scale.exp();
            for level in (0..filtered).rev() {
                rates[level] = scale / runs[level];
                scale /= size_ratio;
            }
            return;
        }
        bits *= size_ratio;
    }
}

/// ln of K_n * f_n for the largest level n with filters: the multiplier that
/// spends `bits` per filtered entry. Of the entries in an endless tree, level
/// n-k holds the share (1 - 1/T) * T^-k.
fn log_scale(size_ratio: f64, bits: f64, runs: &[f64]) -> f64 {
    let mut mean_log_runs = 0.0;
    let mut share = 1.0 - 1.0 / size_ratio;
    for level_runs in runs[1..].iter().rev() {
        mean_log_runs += share * level_runs.ln();
        share /= size_ratio;
    }
    let rest = size_ratio.powi(1 - runs.len() as i32);
    mean_log_runs += rest * runs[0].ln();
    mean_log_runs + size_ratio.ln() / (size_ratio - 1.0) - bits * LN2_SQUARED
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(size_ratio: f64, bits: f64, runs: &[f64]) -> Vec<f64> {
        let mut rates = vec![0.0; runs.len()];
        false_positive_rates(FilterAllocation::Monkey, size_ratio, bits, runs, &mut rates);
        rates
    }

    /// Bits per entry over a tree of levels in geometric progression.
    fn spent(size_ratio: f64, rates: &[f64]) -> f64 {
        let entries: Vec<f64> = (0..rates.len())
            .map(|level| size_ratio.powi(level as i32))
            .collect();
        let bits: f64 = entries
            .iter()
            .zip(rates)
            .map(|(entries, rate)| -entries * rate.ln() / LN2_SQUARED)
            .sum();
        bits / entries.iter().sum::<f64>()
    }

    #[test]
    fn alike_levels_have_the_published_rates() {
        let (ratio, bits, levels) = (4.0f64, 5.0, 3);
        for runs in [1.0, 3.0] {
            for (at, rate) in rates(ratio, bits, &[runs; 3]).iter().enumerate() {
                let level = at as i32 + 1;
                let published = ratio.powf(ratio / (ratio - 1.0)) / ratio.powi(levels + 1 - level)
                    * (-bits * LN2_SQUARED).exp();
                assert!((rate / published - 1.0).abs() < 1e-12, "level {level}");
            }
        }
    }

    #[test]
    fn rates_are_probabilities_and_the_memory_is_kept() {
        for ratio in [2.0, 3.5, 10.0, 100.0] {
            let many = ratio - 1.0;
            for runs in [
                vec![1.0; 6],
                vec![many; 6],
                vec![many, many, 1.0],
                vec![1.0],
            ] {
                for step in 0..60 {
                    let bits = f64::from(step) * 0.2;
                    let rates = rates(ratio, bits, &runs);
                    assert!(rates.iter().all(|rate| (0.0..=1.0).contains(rate)));
                    assert!(rates.is_sorted(), "T {ratio}, {bits} bits: {rates:?}");
                    assert!(spent(ratio, &rates) <= bits + 1e-12, "T {ratio}, {bits}");
                }
            }
        }
    }

    #[test]
    fn a_deep_tree_spends_nearly_all_memory() {
        for bits in [0.05, 0.5, 3.0] {
            let spent = spent(
                10.0,
                &rates(10.0, bits, &[9.0, 9.0, 9.0, 4.0, 4.0, 2.0, 1.0]),
            );
            assert!(
                (bits - spent).abs() < 1e-4 * bits.max(1.0),
                "{bits}: {spent}"
            );
        }
    }

    #[test]
    fn no_memory_filters_nothing() {
        assert_eq!(rates(5.0, 0.0, &[1.0; 4]), [1.0; 4]);
        assert_eq!(rates(5.0, 0.0, &[4.0, 4.0, 1.0]), [1.0; 3]);
    }

    #[test]
    fn short_memory_leaves_the_largest_levels_unfiltered_without_a_jump() {
        let ratio = 10.0f64;
        // The published form reaches 1 at ln 10 / (9 * ln²2) = 0.5325 bits.
        let edge = ratio.ln() / (9.0 * LN2_SQUARED);
        let under = rates(ratio, edge - 1e-9, &[1.0; 3]);
        let over = rates(ratio, edge + 1e-9, &[1.0; 3]);
        assert_eq!(under[2], 1.0);
        assert!(over[2] < 1.0);
        for (under, over) in under.iter().zip(&over) {
            assert!((under - over).abs() < 1e-8);
        }
        // A tenth of that: the second level too.
        let shorter = rates(ratio, edge / 10.0 - 1e-9, &[1.0; 3]);
        assert_eq!(shorter[1..], [1.0, 1.0]);
        assert!(shorter[0] < 1.0);
    }
}
