//! The uncertainty benchmark: how robust tunings fare against nominal ones over many
//! workloads that nobody expected (Endure, VLDB 2022, sections 6 to 8). By the model
//! here; on the engine in `campaign`.

mod campaign;
mod campaign_table;
mod engine;
mod pictures;
mod sessions;
mod simulated;
mod table;
mod variants;

pub use campaign::{Campaign, CampaignPlan, Experiment, TuningKind, run_campaign};
pub use campaign_table::render_campaign;
pub use engine::SessionCost;
pub use pictures::write_pictures;
pub use sessions::{SessionKind, UncertainSession};
pub use simulated::{SimulatedSize, render_simulated, simulate_campaign};
pub use table::render_uncertainty;
pub use variants::{LimitsRow, SizeRow, UncertaintyVariants, evaluate_variants, render_variants};

use lissom::core::cost_model::{
    CostModel, ExpectedWorkload, ModelError, System, expected_workloads,
};
use lissom::core::filters::FilterAllocation;
use lissom::core::robust::benchmark::{Comparison, Sample, gain, sample, throughput_range};
use lissom::core::robust::{DesignSpace, Neighbourhood, Tuned, tune};
use serde::Serialize;

use crate::error::{BenchError, Result};
use crate::generate::Rng;

/// Divergences up to this are told apart in the map, in steps of [`MAP_STEP`].
const MAP_MOST: f64 = 4.0;
const MAP_STEP: f64 = 0.25;

/// A hundred times as many as the benchmark has; more take minutes and gigabytes.
const MOST_SAMPLES: usize = 1_000_000;

/// What is evaluated.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct UncertaintyPlan {
    /// Sampled workloads. The benchmark has 10,000.
    pub samples: usize,
    /// Seed of the samples.
    pub seed: u64,
    /// Values of rho. The benchmark has 0, 0.25, ... 3.75.
    pub divergences: Vec<f64>,
    /// The system.
    pub system: System,
    /// How its filters are allocated.
    pub filters: FilterAllocation,
    /// Least filter bits per entry of robust tunings. The authors' search has 1, and
    /// 0 for nominal ones.
    pub least_filter_bits: f64,
}

impl UncertaintyPlan {
    /// The published benchmark.
    pub fn published(samples: usize, seed: u64) -> UncertaintyPlan {
        UncertaintyPlan {
            samples,
            seed,
            divergences: (0..16).map(|step| f64::from(step) * 0.25).collect(),
            system: System::published(),
            filters: FilterAllocation::Monkey,
            least_filter_bits: 1.0,
        }
    }

    /// The sampled workloads, one at least.
    fn sampled(&self) -> Result<Vec<Sample>> {
        if self.samples > MOST_SAMPLES {
            return Err(BenchError::new(format!(
                "an evaluation of {} samples would not end soon: give {MOST_SAMPLES} at most",
                self.samples
            )));
        }
        let mut rng = Rng::new(&[self.seed]);
        let samples = sample(self.samples, &mut || rng.unit());
        if samples.is_empty() {
            return Err(BenchError::new(
                "an evaluation without samples shows nothing: give at least one",
            ));
        }
        Ok(samples)
    }
}

/// One expected workload with one rho.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct UncertaintyRow {
    /// The expected workload, `w0` to `w14`.
    pub workload: &'static str,
    /// How many kinds of operation dominate it.
    pub category: &'static str,
    /// The divergence that the robust tuning allows for.
    pub rho: f64,
    /// The tuning for the expected workload alone.
    pub nominal: Tuned,
    /// The robust tuning.
    pub robust: Tuned,
    /// The robust tuning against the nominal one.
    pub comparison: Comparison,
    /// Range of the nominal tuning's throughput over the samples.
    pub nominal_range: f64,
    /// Range of the robust tuning's throughput over the samples.
    pub robust_range: f64,
}

/// Several expected workloads together, with one rho.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct UncertaintySummary {
    /// `uniform`, `unimodal`, `bimodal`, `trimodal`, or `unbalanced` for the last
    /// three together.
    pub category: &'static str,
    /// The divergence that the robust tunings allow for.
    pub rho: f64,
    /// Share of the comparisons that the robust tuning wins.
    pub won: f64,
    /// Its mean gain.
    pub mean_gain: f64,
    /// Its throughput range over the nominal one's, as a mean.
    pub range_ratio: f64,
}

/// Samples of like divergence, of all expected workloads, with one rho.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct MapCell {
    /// The divergence that the robust tunings allow for.
    pub rho: f64,
    /// Least divergence of the samples from what was expected; they lie within a
    /// quarter of it.
    pub divergence: f64,
    /// Samples.
    pub samples: usize,
    /// Mean gain of the robust tuning.
    pub mean_gain: f64,
}

/// What the model says of robust tunings.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Uncertainty {
    /// What was evaluated.
    pub plan: UncertaintyPlan,
    /// By expected workload and rho.
    pub rows: Vec<UncertaintyRow>,
    /// By category and rho.
    pub summaries: Vec<UncertaintySummary>,
    /// By rho and divergence.
    pub map: Vec<MapCell>,
}

/// Evaluates a plan. Equal plans give equal results.
///
/// # Errors
/// A plan without samples, with more than can be evaluated, or with a rho that makes no sense.
pub fn evaluate_uncertainty(plan: &UncertaintyPlan) -> Result<Uncertainty> {
    let samples = plan.sampled()?;
    let model = CostModel::new(plan.system, plan.filters).map_err(wrong)?;
    let mut rows = Vec::new();
    for expected in expected_workloads() {
        rows.extend(rows_of(&model, &expected, plan, &samples)?);
    }
    Ok(Uncertainty {
        plan: plan.clone(),
        summaries: summaries(&rows, &plan.divergences),
        map: map(&rows, &plan.divergences, &samples),
        rows,
    })
}

fn wrong(error: ModelError) -> BenchError {
    BenchError::new(error.to_string())
}

fn rows_of(
    model: &CostModel,
    expected: &ExpectedWorkload,
    plan: &UncertaintyPlan,
    samples: &[Sample],
) -> Result<Vec<UncertaintyRow>> {
    let space = DesignSpace::published();
    let robust_space = DesignSpace {
        least_filter_bits: plan.least_filter_bits,
        ..space.clone()
    };
    let only = Neighbourhood::only(expected.workload);
    let nominal = tune(model, &only, &space).map_err(wrong)?;
    let nominal_range = throughput_range(samples, &nominal.costs);
    let row = |rho: &f64| {
        let near = Neighbourhood::new(expected.workload, *rho).map_err(wrong)?;
        // Without uncertainty it is the nominal one.
        let space = if *rho > 0.0 { &robust_space } else { &space };
        let robust = tune(model, &near, space).map_err(wrong)?;
        let comparison = Comparison::new(samples, &nominal.costs, &robust.costs)
            .ok_or_else(|| BenchError::new("a comparison needs samples: give at least one"))?;
        Ok(UncertaintyRow {
            workload: expected.name,
            category: expected.category,
            rho: *rho,
            comparison,
            nominal_range,
            robust_range: throughput_range(samples, &robust.costs),
            nominal: nominal.clone(),
            robust,
        })
    };
    plan.divergences.iter().map(row).collect()
}

/// Categories in the order in which they are shown.
pub(crate) const CATEGORIES: [&str; 5] =
    ["uniform", "unimodal", "bimodal", "trimodal", "unbalanced"];

fn belongs(row: &UncertaintyRow, category: &str) -> bool {
    row.category == category || category == "unbalanced" && row.category != "uniform"
}

fn summaries(rows: &[UncertaintyRow], divergences: &[f64]) -> Vec<UncertaintySummary> {
    let of = |category: &'static str, rho: f64| {
        let rows: Vec<_> = rows
            .iter()
            .filter(|row| row.rho == rho && belongs(row, category))
            .collect();
        let mean = |figure: &dyn Fn(&UncertaintyRow) -> f64| {
            rows.iter().map(|row| figure(row)).sum::<f64>() / rows.len() as f64
        };
        UncertaintySummary {
            category,
            rho,
            won: mean(&|row| row.comparison.share_won()),
            mean_gain: mean(&|row| row.comparison.mean_gain),
            range_ratio: mean(&|row| row.robust_range / row.nominal_range),
        }
    };
    CATEGORIES
        .into_iter()
        .flat_map(|category| divergences.iter().map(move |rho| (category, *rho)))
        .map(|(category, rho)| of(category, rho))
        .collect()
}

fn map(rows: &[UncertaintyRow], divergences: &[f64], samples: &[Sample]) -> Vec<MapCell> {
    let expected = expected_workloads();
    let bins = (MAP_MOST / MAP_STEP) as usize;
    let mut cells = Vec::new();
    for rho in divergences {
        let mut sums = vec![(0usize, 0.0); bins];
        for row in rows.iter().filter(|row| row.rho == *rho) {
            let Some(expected) = expected.iter().find(|it| it.name == row.workload) else {
                continue;
            };
            for sample in samples {
                let divergence = sample.workload.divergence_from(&expected.workload);
                if let Some((count, sum)) = sums.get_mut((divergence / MAP_STEP) as usize) {
                    *count += 1;
                    *sum += gain(&sample.workload, &row.nominal.costs, &row.robust.costs);
                }
            }
        }
        cells.extend(sums.iter().enumerate().filter(|(_, cell)| cell.0 > 0).map(
            |(at, (count, sum))| MapCell {
                rho: *rho,
                divergence: at as f64 * MAP_STEP,
                samples: *count,
                mean_gain: sum / *count as f64,
            },
        ));
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> UncertaintyPlan {
        UncertaintyPlan {
            divergences: vec![0.0, 1.0],
            ..UncertaintyPlan::published(200, 7)
        }
    }

    #[test]
    fn without_uncertainty_both_tunings_are_one() {
        let seen = evaluate_uncertainty(&small()).expect("a plan");
        for row in seen.rows.iter().filter(|row| row.rho == 0.0) {
            assert_eq!(row.comparison.tied, 200, "{}", row.workload);
        }
        assert_eq!(seen.rows.len(), 30);
        assert_eq!(seen.summaries.len(), 10);
        let mapped: usize = seen
            .map
            .iter()
            .filter(|cell| cell.rho == 1.0)
            .map(|cell| cell.samples)
            .sum();
        assert!(mapped > 2_800 && mapped <= 3_000, "{mapped}");
    }

    #[test]
    fn unbalanced_workloads_gain_and_the_range_shrinks() {
        let seen = evaluate_uncertainty(&small()).expect("a plan");
        let unbalanced = seen
            .summaries
            .iter()
            .find(|it| it.category == "unbalanced" && it.rho == 1.0)
            .expect("evaluated");
        assert!(unbalanced.mean_gain > 0.2, "{unbalanced:?}");
        assert!(unbalanced.range_ratio < 1.0, "{unbalanced:?}");
    }

    #[test]
    fn equal_seeds_give_equal_results() {
        assert_eq!(
            evaluate_uncertainty(&small()),
            evaluate_uncertainty(&small())
        );
    }

    #[test]
    fn plans_that_make_no_sense_are_refused() {
        let none = UncertaintyPlan {
            samples: 0,
            ..small()
        };
        let error = evaluate_uncertainty(&none).expect_err("no samples");
        assert!(error.to_string().contains("give at least one"), "{error}");
        let endless = UncertaintyPlan {
            samples: usize::MAX,
            ..small()
        };
        let words = "give 1000000 at most";
        let error = evaluate_uncertainty(&endless).expect_err(words);
        assert!(error.to_string().contains(words), "{error}");
        let error = evaluate_variants(&endless).expect_err(words);
        assert!(error.to_string().contains(words), "{error}");
        let negative = UncertaintyPlan {
            divergences: vec![-1.0],
            ..small()
        };
        let error = evaluate_uncertainty(&negative).expect_err("no rho");
        assert!(error.to_string().contains("cannot diverge"), "{error}");
    }
}
