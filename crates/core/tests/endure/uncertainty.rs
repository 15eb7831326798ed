//! What rho does: its ends, and what it saves.

use lissom_core::cost_model::{Costs, OperationKind, Workload, expected_workloads};
use lissom_core::robust::{DesignSpace, Neighbourhood, advise, benchmark, tune};

use super::grid::{grid, whole_ratios};
use super::{published, uniform};

#[test]
fn without_uncertainty_the_robust_tuning_is_the_nominal_one() {
    for expected in expected_workloads() {
        let near = Neighbourhood::new(expected.workload, 0.0).expect("legal");
        let advice = advise(&published(), &near, &DesignSpace::published()).expect("advice");
        assert_eq!(advice.nominal, advice.robust);
        assert_eq!(advice.robust.worst.cost, advice.robust.expected_cost);
        assert_eq!(
            (advice.lost_if_right(), advice.saved_if_wrong()),
            (0.0, 0.0)
        );
    }
}

#[test]
fn with_much_uncertainty_the_largest_cost_is_least() {
    let (model, space) = (published(), DesignSpace::default());
    let grid = grid(&model, &space, &whole_ratios(), 200);
    let largest = |costs: &Costs| costs.0.iter().copied().fold(0.0, f64::max);
    let least = grid
        .iter()
        .map(|(_, costs)| largest(costs))
        .fold(f64::INFINITY, f64::min);
    for expected in expected_workloads() {
        let near = Neighbourhood::new(expected.workload, 10.0).expect("legal");
        let found = tune(&model, &near, &space).expect("a tuning");
        assert_eq!(found.worst.cost, largest(&found.costs));
        assert!(
            found.worst.cost <= least * (1.0 + 1e-9),
            "{found:?} {least}"
        );
    }
}

#[test]
fn more_uncertainty_never_costs_less() {
    for space in [DesignSpace::published(), DesignSpace::default()] {
        for expected in expected_workloads() {
            let (mut worst, mut nominal) = (0f64, f64::INFINITY);
            for step in 0..8 {
                let rho = 0.5 * f64::from(step);
                let near = Neighbourhood::new(expected.workload, rho).expect("legal");
                let advice = advise(&published(), &near, &space).expect("advice");
                let robust = &advice.robust;
                assert!(
                    robust.worst.cost >= worst * (1.0 - 1e-5),
                    "{} {rho}",
                    expected.name
                );
                worst = worst.max(robust.worst.cost);
                nominal = nominal.min(advice.nominal.expected_cost);
                assert!(robust.worst.cost <= advice.nominal.worst.cost * (1.0 + 1e-5));
                assert!(advice.nominal.expected_cost <= robust.expected_cost * (1.0 + 1e-5));
                assert!((advice.nominal.expected_cost / nominal - 1.0).abs() < 1e-9);
            }
        }
    }
}

/// A kind without a share is not prepared for, however uncertain the rest.
#[test]
fn a_share_of_zero_stays_zero() {
    let expected: Workload = "z0=50,z1=50".parse().expect("sums to 100");
    let near = Neighbourhood::new(expected, 3.0).expect("legal");
    let advice = advise(&published(), &near, &DesignSpace::default()).expect("advice");
    assert_eq!(
        advice.robust.worst.workload.share(OperationKind::Write),
        0.0
    );
    assert!(advice.robust.costs[OperationKind::Write] > 5.0);
    let text = advice.to_string();
    assert!(
        text.contains("No scans are expected, so no tuning prepares for them: give q"),
        "{text}"
    );
    assert!(text.contains("No writes are expected"), "{text}");
}

/// The published evaluation: tunings of unbalanced workloads, over 10,000 samples.
#[test]
fn robust_tunings_win_most_sampled_workloads() {
    let (model, space) = (
        published(),
        DesignSpace {
            least_filter_bits: 1.0,
            ..DesignSpace::published()
        },
    );
    let samples = benchmark::sample(10_000, &mut uniform(2022));
    assert_eq!(samples.len(), 10_000);
    let (mut won, mut gains) = (0usize, 0.0);
    for expected in &expected_workloads()[1..] {
        let near = Neighbourhood::new(expected.workload, 1.0).expect("legal");
        let advice = advise(&model, &near, &space).expect("advice");
        let (nominal, robust) = (&advice.nominal.costs, &advice.robust.costs);
        let compared = benchmark::Comparison::new(&samples, nominal, robust).expect("samples");
        won += compared.won;
        gains += compared.mean_gain;
    }
    let (won, gain) = (won as f64 / 140_000.0, gains / 14.0);
    assert!(won > 0.5 && gain > 0.5, "won {won}, gain {gain}");
}
