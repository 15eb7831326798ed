//! The published formulation and the published tunings, as cross-checks.
//!
//! Endure minimises eta + rho * lambda + lambda * sum w_k * (e^((c_k-eta)/lambda) - 1)
//! over size ratio, filters, lambda >= 0 and eta at once, with sequential least
//! squares (SLSQP) from one starting point (equation 10).

use lissom_core::cost_model::{
    CostModel, Costs, RunPolicy, System, Tuning, expected_workloads, published_tunings,
};
use lissom_core::filters::FilterAllocation;
use lissom_core::robust::{DesignSpace, Neighbourhood, Tuned, tune};
use slsqp::{Func, StopTols, minimize};

/// Filters of up to 9.5 bits: one of the published tunings has 9.4, more than
/// the authors' job allows.
fn model() -> CostModel {
    let system = System {
        min_buffer_bits: 5_000_000,
        ..System::published()
    };
    CostModel::new(system, FilterAllocation::Monkey).expect("a legal system")
}

fn neighbourhoods(divergences: &[f64]) -> Vec<(&'static str, Neighbourhood)> {
    let of = |rho: f64| {
        expected_workloads().map(|expected| {
            let near = Neighbourhood::new(expected.workload, rho).expect("at least 0");
            (expected.name, near)
        })
    };
    divergences.iter().flat_map(|rho| of(*rho)).collect()
}

/// Equation 10 for given costs.
fn published_objective(near: &Neighbourhood, costs: &Costs, lambda: f64, eta: f64) -> f64 {
    let conjugates = near.expected().shares().into_iter().zip(costs.0);
    let sum: f64 = conjugates
        .map(|(share, cost)| share * (((cost - eta) / lambda).exp() - 1.0))
        .sum();
    eta + near.divergence() * lambda + lambda * sum
}

/// The least value that SLSQP finds, with differences as gradients (SciPy's
/// default too).
fn slsqp(
    objective: &dyn Fn(&[f64]) -> f64,
    start: &[f64],
    bounds: &[(f64, f64)],
) -> (Vec<f64>, f64) {
    let differentiable = |at: &[f64], gradient: Option<&mut [f64]>, _: &mut ()| {
        let here = objective(at);
        for (axis, slope) in gradient.into_iter().flatten().enumerate() {
            let mut beside = at.to_vec();
            let step = 1e-7 * at[axis].abs().max(1.0);
            beside[axis] += if at[axis] + step > bounds[axis].1 {
                -step
            } else {
                step
            };
            *slope = (objective(&beside) - here) / (beside[axis] - at[axis]);
        }
        here
    };
    let unconstrained: Vec<&dyn Func<()>> = Vec::new();
    let tolerances = StopTols {
        ftol_rel: 1e-12,
        ..StopTols::default()
    };
    match minimize(
        differentiable,
        start,
        bounds,
        &unconstrained,
        (),
        500,
        Some(tolerances),
    ) {
        Ok((_, at, least)) | Err((_, at, least)) => (at, least),
    }
}

const LEAST_LAMBDA: f64 = 1e-2;

/// For fixed costs the published problem in lambda and eta has the value of the
/// worst case.
#[test]
fn the_worst_case_is_the_published_dual_optimum() {
    for (name, near) in neighbourhoods(&[0.25, 0.5, 1.0, 2.0]) {
        for published in published_tunings() {
            let costs = model().costs(&published.nominal).expect("legal");
            let worst = near.worst_case(&costs).cost;
            let objective = |at: &[f64]| published_objective(&near, &costs, at[0], at[1]);
            // A start at which no exponential is large.
            let start = [costs.0.iter().copied().fold(1.0, f64::max), worst];
            let (_, least) = slsqp(&objective, &start, &[(LEAST_LAMBDA, 1e3), (0.0, 1e3)]);
            assert!(least >= worst * (1.0 - 1e-6), "{name} {least} {worst}");
            // The least lambda that SLSQP may take costs rho * lambda.
            let slack = near.divergence() * LEAST_LAMBDA + 2e-3 * worst;
            assert!(
                least <= worst + slack,
                "{name} {near:?} {costs:?} {least} {worst}"
            );
        }
    }
}

/// The whole published problem, from the authors' starting point and others:
/// SLSQP never finds a better tuning, and its best is not far off.
#[test]
fn slsqp_over_all_variables_never_beats_the_search() {
    let model = model();
    let space = DesignSpace {
        least_filter_bits: 1.0,
        ..DesignSpace::published()
    };
    let bounds = [
        (1.0, model.most_filter_bits()),
        (2.0, 100.0),
        (0.1, 1e3),
        (-1e3, 1e3),
    ];
    let (mut close, mut all) = (0, 0);
    for (name, near) in neighbourhoods(&[0.25, 1.0, 2.0]) {
        let found = tune(&model, &near, &space).expect("a tuning");
        let mut best = f64::INFINITY;
        for policy in [RunPolicy::Leveling, RunPolicy::Tiering] {
            let objective = |at: &[f64]| {
                let tuning = Tuning {
                    size_ratio: at[1].clamp(2.0, 100.0),
                    filter_bits_per_entry: at[0].clamp(1.0, model.most_filter_bits()),
                    policy: policy.clone(),
                };
                let costs = model.costs(&tuning).expect("within the bounds");
                published_objective(&near, &costs, at[2], at[3])
            };
            for (bits, ratio) in [(5.0, 20.0), (5.0, 5.0), (2.0, 6.0), (2.0, 10.0), (8.0, 4.0)] {
                let (_, least) = slsqp(&objective, &[bits, ratio, 1.0, 1.0], &bounds);
                assert!(
                    least >= found.worst.cost * (1.0 - 1e-5),
                    "{name}: {least} {found:?}"
                );
                best = best.min(least);
            }
        }
        all += 1;
        close += usize::from(best <= found.worst.cost * 1.05);
    }
    assert!(
        close * 2 >= all,
        "SLSQP came within 5 % in {close} of {all}"
    );
}

/// Table 3: under the corrected model none of the authors' tunings costs less,
/// and the policies of the nominal ones agree.
#[test]
fn the_authors_nominal_tunings_are_never_better() {
    let model = model();
    for (expected, published) in expected_workloads().iter().zip(published_tunings()) {
        let near = Neighbourhood::only(expected.workload);
        let ours = tune(&model, &near, &DesignSpace::published()).expect("a tuning");
        let theirs = Tuned::new(&model, &near, published.nominal).expect("legal");
        assert!(
            ours.expected_cost <= theirs.expected_cost,
            "{}",
            expected.name
        );
        assert_eq!(
            ours.tuning.policy, theirs.tuning.policy,
            "{}",
            expected.name
        );
    }
}

#[test]
fn the_authors_robust_tunings_are_never_better() {
    let model = model();
    let space = DesignSpace {
        least_filter_bits: 1.0,
        ..DesignSpace::published()
    };
    let theirs = published_tunings();
    for step in 1..16 {
        for (at, (name, near)) in neighbourhoods(&[0.25 * f64::from(step)]).iter().enumerate() {
            let ours = tune(&model, near, &space).expect("a tuning");
            let theirs = Tuned::new(&model, near, theirs[at].robust.clone()).expect("legal");
            assert!(
                ours.worst.cost <= theirs.worst.cost * (1.0 + 1e-9),
                "{name} {near:?}"
            );
            if step >= 4 {
                assert_eq!(ours.tuning.policy, RunPolicy::Leveling, "{name} {near:?}");
            }
        }
    }
}
