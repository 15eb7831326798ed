use super::*;
use crate::cost_model::{OperationKind, expected_workloads};

fn workload(shares: [f64; 4]) -> Workload {
    Workload::new(shares).expect("sums to 1")
}

fn near(shares: [f64; 4], divergence: f64) -> Neighbourhood {
    Neighbourhood::new(workload(shares), divergence).expect("at least 0")
}

/// Numbers in [0, 1) from a seed (splitmix64).
fn uniform(mut seed: u64) -> impl FnMut() -> f64 {
    move || {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = seed;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Two kinds, even, of costs 0 and 1: the worst workload (1-p, p) solves
/// ln 2 + p ln p + (1-p) ln(1-p) = rho. p = 3/4 gives
/// 0.693147 - 0.215762 - 0.346574 = 0.130812.
#[test]
fn two_kinds_by_hand() {
    let rho = 2f64.ln() + 0.75 * 0.75f64.ln() + 0.25 * 0.25f64.ln();
    let worst = near([0.5, 0.0, 0.0, 0.5], rho).worst_case(&Costs([0.0, 9.0, 9.0, 1.0]));
    assert!((worst.cost - 0.75).abs() < 1e-9, "{worst:?}");
    assert!((worst.workload.share(OperationKind::Write) - 0.75).abs() < 1e-9);
    assert_eq!(worst.workload.share(OperationKind::Scan), 0.0);
}

#[test]
fn without_uncertainty_it_is_the_expected_cost() {
    let costs = Costs([0.3, 1.2, 4.0, 2.5]);
    for expected in expected_workloads() {
        let only = Neighbourhood::only(expected.workload);
        let worst = only.worst_case(&costs);
        assert_eq!(worst.cost, costs.under(&expected.workload));
        assert_eq!(worst.workload, expected.workload);
        let tiny = Neighbourhood::new(expected.workload, 1e-12).expect("legal");
        let close = tiny.worst_case(&costs).cost - worst.cost;
        assert!((0.0..1e-5).contains(&close), "{close}");
    }
}

#[test]
fn with_much_uncertainty_it_is_the_largest_cost_that_has_a_share() {
    let costs = Costs([0.3, 1.2, 4.0, 2.5]);
    let ball = near([0.97, 0.01, 0.01, 0.01], 100f64.ln());
    assert_eq!(ball.worst_case(&costs).cost, 4.0);
    let ball = near([0.97, 0.01, 0.01, 0.01], 100f64.ln() - 1e-6);
    let under = ball.worst_case(&costs).cost;
    assert!(under < 4.0 && under > 3.999, "{under}");
    // Scans are not expected at all: they stay away.
    let ball = near([0.5, 0.25, 0.0, 0.25], 50.0);
    let worst = ball.worst_case(&costs);
    assert_eq!(worst.cost, 2.5);
    assert_eq!(worst.workload.shares(), [0.0, 0.0, 0.0, 1.0]);
    // Two costliest kinds share what there is as before.
    let worst = near([0.5, 0.3, 0.1, 0.1], 50.0).worst_case(&Costs([1.0, 2.0, 2.0, 0.0]));
    assert_eq!(worst.cost, 2.0);
    assert!((worst.workload.share(OperationKind::GetFound) - 0.75).abs() < 1e-12);
}

#[test]
fn equal_costs_have_no_worst_workload() {
    let ball = near([0.25; 4], 1.0);
    let worst = ball.worst_case(&Costs([3.0; 4]));
    assert_eq!((worst.cost, worst.workload), (3.0, *ball.expected()));
}

/// Costs that differ in the last digits only, or by fourteen orders.
#[test]
fn extreme_costs_are_survived() {
    for costs in [
        [1.0, 1.0 + 1e-15, 1.0, 1.0],
        [1e-300, 1e300, 1.0, 5.0],
        [0.0, 0.0, 1e-320, 0.0],
        [1.0, 2.0, 2.0 - 1e-13, 0.0],
    ] {
        for rho in [1e-15, 1e-3, 1.0, 2.3, 4.6, 700.0] {
            let ball = near([0.97, 0.01, 0.01, 0.01], rho);
            let worst = ball.worst_case(&Costs(costs));
            let most = costs.iter().copied().fold(0.0, f64::max);
            assert!(
                worst.cost <= most * (1.0 + 1e-12) && worst.cost >= 0.0,
                "{costs:?} {rho}"
            );
            let divergence = worst.workload.divergence_from(ball.expected());
            assert!(divergence <= rho + 1e-12, "{costs:?} {rho}: {divergence}");
        }
    }
}

/// The worst case lies in the neighbourhood, no sampled workload of it costs
/// more, and no multiplier's dual bound is lower.
#[test]
fn the_worst_case_is_met_and_never_exceeded() {
    let mut random = uniform(1);
    for expected in expected_workloads() {
        for rho in [0.05, 0.5, 1.0, 2.0, 3.75] {
            let ball = Neighbourhood::new(expected.workload, rho).expect("legal");
            let costs = Costs([(); 4].map(|()| 20.0 * random().powi(3)));
            let worst = ball.worst_case(&costs);
            assert!(worst.workload.divergence_from(&expected.workload) <= rho * (1.0 + 1e-9));
            assert!((costs.under(&worst.workload) - worst.cost).abs() <= 1e-9 * worst.cost);
            let mut closest = 0f64;
            for _ in 0..300 {
                let sampled = drawn(&expected.workload, rho, &mut random);
                let cost = costs.under(&sampled);
                assert!(cost <= worst.cost * (1.0 + 1e-9), "{cost} {worst:?}");
                closest = closest.max(cost);
            }
            assert!(closest > 0.8 * worst.cost, "{closest} {worst:?}");
            let duals =
                (-120..120).map(|step| ball.dual(&costs, 10f64.powf(f64::from(step) / 20.0)));
            let least = duals.fold(f64::INFINITY, f64::min);
            assert!(least >= worst.cost * (1.0 - 1e-9), "{least} {worst:?}");
            assert!(least <= worst.cost * 1.01, "{least} {worst:?}");
        }
    }
}

/// A random workload on the rim of the neighbourhood, or a corner inside it: the
/// last point of the way from the expected one to a random one.
fn drawn(expected: &Workload, rho: f64, random: &mut impl FnMut() -> f64) -> Workload {
    let far = Workload::from_counts([(); 4].map(|()| random().powi(4))).expect("not all 0");
    let on_the_way = |part: f64| {
        let mixed: [f64; 4] = std::array::from_fn(|at| {
            (1.0 - part) * expected.shares()[at] + part * far.shares()[at]
        });
        Workload::new(mixed).expect("sums to 1")
    };
    let (mut low, mut high) = (0.0, 1.0);
    if on_the_way(1.0).divergence_from(expected) <= rho {
        return far;
    }
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if on_the_way(middle).divergence_from(expected) <= rho {
            low = middle;
        } else {
            high = middle;
        }
    }
    on_the_way(low)
}

#[test]
fn the_worst_case_grows_with_the_neighbourhood() {
    let costs = Costs([0.3, 1.2, 4.0, 2.5]);
    for expected in expected_workloads() {
        let mut before = 0.0;
        for step in 0..100 {
            let rho = f64::from(step) * 0.05;
            let ball = Neighbourhood::new(expected.workload, rho).expect("legal");
            let cost = ball.worst_case(&costs).cost;
            assert!(cost >= before, "{}: {rho}", expected.name);
            before = cost;
        }
    }
}

#[test]
fn wrong_neighbourhoods_say_what_to_give() {
    for rho in [-1.0, f64::NAN, f64::INFINITY] {
        let error = Neighbourhood::new(workload([0.25; 4]), rho).expect_err("bad");
        assert!(
            error.to_string().contains("give a number of at least 0"),
            "{error}"
        );
    }
    let text = r#"{"expected":[0.25,0.25,0.25,0.25],"divergence":-1}"#;
    assert!(serde_json::from_str::<Neighbourhood>(text).is_err());
}
