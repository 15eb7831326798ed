//! No point of a grid over size ratio, filters and policy is better than what was found.

use lissom_core::cost_model::{CostModel, Costs, Tuning, expected_workloads};
use lissom_core::robust::{DesignSpace, Neighbourhood, Tuned, tune};

use super::{published, random_model, random_near, uniform};

/// The costs of every tuning on a grid over size ratio, filters and policy.
pub fn grid(
    model: &CostModel,
    space: &DesignSpace,
    ratios: &[f64],
    steps: u32,
) -> Vec<(Tuning, Costs)> {
    let least = space.least_filter_bits;
    let most = model.most_filter_bits();
    let mut grid = Vec::new();
    for policy in &space.policies {
        for size_ratio in ratios {
            for step in 0..=steps {
                let part = f64::from(step) / f64::from(steps);
                let tuning = Tuning {
                    size_ratio: *size_ratio,
                    filter_bits_per_entry: least + (most - least) * part,
                    policy: policy.clone(),
                };
                let costs = model.costs(&tuning).expect("on the grid");
                grid.push((tuning, costs));
            }
        }
    }
    grid
}

pub fn whole_ratios() -> Vec<f64> {
    (2..=100).map(f64::from).collect()
}

fn real_ratios() -> Vec<f64> {
    (0..=200)
        .map(|step| 2.0 * 50f64.powf(f64::from(step) / 200.0))
        .collect()
}

/// No tuning on the grid has a better worst case. The cost under one workload of
/// the neighbourhood, that which is worst for `found`, bounds the worst case from
/// below; only where that does not tell is it computed.
fn assert_none_better(grid: &[(Tuning, Costs)], near: &Neighbourhood, found: &Tuned, part: f64) {
    let goal = found.worst.cost * (1.0 - part);
    let better = grid.iter().find(|(_, costs)| {
        costs.under(&found.worst.workload) < goal && near.worst_case(costs).cost < goal
    });
    assert!(better.is_none(), "{near:?}: {better:?} beats {found:?}");
}

#[test]
fn real_tunings_are_never_beaten_by_a_grid() {
    let (model, space) = (published(), DesignSpace::published());
    let grid = grid(&model, &space, &real_ratios(), 60);
    for expected in expected_workloads() {
        for rho in [0.0, 0.25, 1.0, 2.0, 3.75] {
            let near = Neighbourhood::new(expected.workload, rho).expect("legal");
            let found = tune(&model, &near, &space).expect("a tuning");
            assert_none_better(&grid, &near, &found, 1e-5);
        }
    }
}

#[test]
fn whole_tunings_are_never_beaten_by_a_grid() {
    let (model, space) = (published(), DesignSpace::default());
    let grid = grid(&model, &space, &whole_ratios(), 100);
    for expected in expected_workloads() {
        for rho in [0.0, 0.25, 1.0, 2.0, 3.75] {
            let near = Neighbourhood::new(expected.workload, rho).expect("legal");
            let found = tune(&model, &near, &space).expect("a tuning");
            assert_eq!(found.tuning.size_ratio.fract(), 0.0);
            assert_none_better(&grid, &near, &found, 1e-9);
        }
    }
}

#[test]
fn random_systems_are_never_beaten_by_a_grid() {
    let mut random = uniform(7);
    for _ in 0..15 {
        let model = random_model(&mut random);
        let least_filter_bits = model.most_filter_bits() * random().powi(3);
        let real = DesignSpace {
            least_filter_bits,
            ..DesignSpace::published()
        };
        let whole = DesignSpace {
            least_filter_bits,
            ..DesignSpace::default()
        };
        for (space, ratios, part) in [(&real, real_ratios(), 1e-5), (&whole, whole_ratios(), 1e-9)]
        {
            let grid = grid(&model, space, &ratios[..], 20);
            for _ in 0..5 {
                let near = random_near(&mut random);
                let found = tune(&model, &near, space).expect("a tuning");
                assert_none_better(&grid, &near, &found, part);
                assert!(found.tuning.filter_bits_per_entry >= least_filter_bits);
            }
        }
    }
}

/// The best filters of a number of levels are the most that make it: a finer
/// line of filters at the size ratio that was found finds nothing better either.
#[test]
fn the_filters_found_are_best_on_a_fine_line() {
    let model = published();
    for expected in expected_workloads() {
        let near = Neighbourhood::new(expected.workload, 0.5).expect("legal");
        let found = tune(&model, &near, &DesignSpace::published()).expect("a tuning");
        let space = DesignSpace {
            policies: vec![found.tuning.policy.clone()],
            ..DesignSpace::published()
        };
        let line = grid(&model, &space, &[found.tuning.size_ratio], 4_000);
        assert_none_better(&line, &near, &found, 1e-5);
    }
}

#[test]
fn tunings_keep_the_memory() {
    let mut random = uniform(3);
    for _ in 0..25 {
        let model = random_model(&mut random);
        let near = random_near(&mut random);
        for space in [DesignSpace::published(), DesignSpace::default()] {
            let found = tune(&model, &near, &space).expect("a tuning");
            let system = model.system();
            let filters = found.tuning.filter_bits_per_entry * system.entries as f64;
            let memory = system.memory_bits as f64;
            assert!((filters + found.buffer_bits - memory).abs() <= 1e-9 * memory);
            assert!(found.buffer_bits >= system.min_buffer_bits as f64 * (1.0 - 1e-9));
            assert!(filters_spent(&model, &found) <= filters * (1.0 + 1e-9) + 1e-6);
        }
    }
}

/// Bits that the filters of a full tree take at their false-positive rates.
fn filters_spent(model: &CostModel, found: &Tuned) -> f64 {
    let rates = model.false_positive_rates(&found.tuning).expect("legal");
    let shares: Vec<f64> = (0..rates.len())
        .map(|level| found.tuning.size_ratio.powi(level as i32))
        .collect();
    let whole: f64 = shares.iter().sum();
    let ln2_squared = std::f64::consts::LN_2.powi(2);
    let bits = shares.iter().zip(&rates).map(|(share, rate)| {
        share / whole * model.system().entries as f64 * -rate.ln() / ln2_squared
    });
    bits.sum()
}
