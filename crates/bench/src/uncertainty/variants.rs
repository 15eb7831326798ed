//! Two further questions to the model: do run limits by level withstand more than
//! leveling and tiering, and does the size of the data matter?

use std::fmt::Write as _;

use lissom::core::cost_model::{CostModel, System, expected_workloads};
use lissom::core::robust::benchmark::{Comparison, Sample};
use lissom::core::robust::{DesignSpace, Neighbourhood, SizeRatios, Tuned, tune, tune_limits};
use serde::Serialize;

use super::{UncertaintyPlan, evaluate_uncertainty, wrong};
use crate::error::{BenchError, Result};

/// Divergences for which limits are compared.
const LIMIT_DIVERGENCES: [f64; 3] = [0.0, 1.0, 2.0];

/// Divergence at which sizes are compared.
const SIZE_DIVERGENCE: f64 = 1.0;

/// Entries of the trees that are compared.
const SIZES: [u64; 4] = [1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/// Robust run limits by level against robust leveling or tiering, whole size
/// ratios both.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LimitsRow {
    /// The expected workload.
    pub workload: &'static str,
    /// The divergence that both allow for.
    pub rho: f64,
    /// Leveling or tiering.
    pub policy: Tuned,
    /// Limits by level.
    pub limits: Tuned,
    /// Limits against the policy, over the samples.
    pub comparison: Comparison,
}

/// The robust tunings of all expected workloads over one number of entries.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct SizeRow {
    /// Entries in the tree; memory grows with them.
    pub entries: u64,
    /// Share of comparisons with the nominal tuning that unbalanced workloads win.
    pub won: f64,
    /// Their mean gain.
    pub unbalanced_gain: f64,
    /// The uniform workload's.
    pub uniform_gain: f64,
}

/// Both answers.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct UncertaintyVariants {
    /// By expected workload and rho.
    pub limits: Vec<LimitsRow>,
    /// By size.
    pub sizes: Vec<SizeRow>,
}

/// Evaluates both for a plan, of whose divergences it uses none.
///
/// # Errors
/// As [`evaluate_uncertainty`].
pub fn evaluate_variants(plan: &UncertaintyPlan) -> Result<UncertaintyVariants> {
    let samples = plan.sampled()?;
    Ok(UncertaintyVariants {
        limits: limits(plan, &samples)?,
        sizes: SIZES
            .into_iter()
            .map(|entries| size(plan, entries))
            .collect::<Result<_>>()?,
    })
}

fn limits(plan: &UncertaintyPlan, samples: &[Sample]) -> Result<Vec<LimitsRow>> {
    let model = CostModel::new(plan.system, plan.filters).map_err(wrong)?;
    let mut rows = Vec::new();
    for expected in expected_workloads() {
        for rho in LIMIT_DIVERGENCES {
            let near = Neighbourhood::new(expected.workload, rho).map_err(wrong)?;
            let space = DesignSpace {
                steps: SizeRatios::Whole,
                least_filter_bits: if rho > 0.0 {
                    plan.least_filter_bits
                } else {
                    0.0
                },
                ..DesignSpace::published()
            };
            let policy = tune(&model, &near, &space).map_err(wrong)?;
            let limits = tune_limits(&model, &near, &space).map_err(wrong)?;
            let comparison = Comparison::new(samples, &policy.costs, &limits.costs)
                .ok_or_else(|| BenchError::new("a comparison needs samples: give at least one"))?;
            rows.push(LimitsRow {
                workload: expected.name,
                rho,
                policy,
                limits,
                comparison,
            });
        }
    }
    Ok(rows)
}

fn size(plan: &UncertaintyPlan, entries: u64) -> Result<SizeRow> {
    let bits = plan.system.memory_bits as f64 / plan.system.entries as f64;
    let memory_bits = (entries as f64 * bits) as u64;
    let sized = UncertaintyPlan {
        divergences: vec![SIZE_DIVERGENCE],
        system: System {
            entries,
            memory_bits,
            min_buffer_bits: plan.system.min_buffer_bits.min(memory_bits),
            ..plan.system
        },
        ..plan.clone()
    };
    let seen = evaluate_uncertainty(&sized)?;
    let of = |category: &str| seen.summaries.iter().find(|it| it.category == category);
    let (unbalanced, uniform) = of("unbalanced")
        .zip(of("uniform"))
        .ok_or_else(|| BenchError::new("a category was not evaluated"))?;
    Ok(SizeRow {
        entries,
        won: unbalanced.won,
        unbalanced_gain: unbalanced.mean_gain,
        uniform_gain: uniform.mean_gain,
    })
}

/// Both as tables.
pub fn render_variants(seen: &UncertaintyVariants) -> String {
    let mut text = String::from(
        "\nrobust run limits by level against robust leveling or tiering\n  \
         rho   worst case, %   comparisons won, %   mean gain, %   least gain, %\n",
    );
    for rho in LIMIT_DIVERGENCES {
        let rows: Vec<_> = seen.limits.iter().filter(|row| row.rho == rho).collect();
        let mean = |of: &dyn Fn(&LimitsRow) -> f64| {
            100.0 * rows.iter().map(|row| of(row)).sum::<f64>() / rows.len().max(1) as f64
        };
        let least = rows.iter().map(|row| row.comparison.least_gain);
        let _ = writeln!(
            text,
            "  {rho:3}   {:13.1}   {:18.1}   {:12.1}   {:13.1}",
            mean(&|row| row.limits.worst.cost / row.policy.worst.cost - 1.0),
            mean(&|row| row.comparison.share_won()),
            mean(&|row| row.comparison.mean_gain),
            100.0 * least.fold(f64::INFINITY, f64::min)
        );
    }
    text += "\nsize of the data, rho = 1, memory in proportion\n         \
             entries   won, %   unbalanced gain, %   uniform gain, %\n";
    for row in &seen.sizes {
        let _ = writeln!(
            text,
            "  {:14}   {:6.1}   {:18.1}   {:15.1}",
            row.entries,
            100.0 * row.won,
            100.0 * row.unbalanced_gain,
            100.0 * row.uniform_gain
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_never_have_a_worse_worst_case_and_sizes_are_all_there() {
        let plan = UncertaintyPlan::published(100, 3);
        let seen = evaluate_variants(&plan).expect("a plan");
        assert_eq!(seen.limits.len(), 45);
        for row in &seen.limits {
            // Leveling and tiering are among the limits that are tried.
            let (limits, policy) = (row.limits.worst.cost, row.policy.worst.cost);
            assert!(
                limits <= policy * 1.02,
                "{}: {limits} {policy}",
                row.workload
            );
        }
        let entries: Vec<u64> = seen.sizes.iter().map(|row| row.entries).collect();
        assert_eq!(entries, SIZES);
        assert!(render_variants(&seen).contains("1000000000"));
    }
}
