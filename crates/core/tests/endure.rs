//! Tunings against brute force: what the search finds is never missed by a grid,
//! and never worse than anything on it.

use lissom_core::cost_model::{
    CostModel, Costs, OperationKind, RunPolicy, System, Tuning, Workload, expected_workloads,
};
use lissom_core::filters::FilterAllocation;
use lissom_core::robust::{
    DesignSpace, Neighbourhood, SizeRatios, Tuned, advise, benchmark, tune, tune_limits,
};
use lissom_core::{RunLimit, RunLimits};

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

fn published() -> CostModel {
    CostModel::new(System::published(), FilterAllocation::Monkey).expect("a legal system")
}

/// A system of random sizes: 10^4 to 10^9 entries, 1 to 20 bits of memory each.
fn random_model(random: &mut impl FnMut() -> f64) -> CostModel {
    let entries = 10f64.powf(4.0 + 5.0 * random());
    let memory = entries * (1.0 + 19.0 * random());
    let system = System {
        entries: entries as u64,
        entry_bits: (8.0 * 2f64.powf(4.0 + 8.0 * random())) as u64,
        memory_bits: memory as u64,
        min_buffer_bits: (memory * (0.01 + 0.2 * random())) as u64,
        page_entries: 1.0 + 100.0 * random().powi(3),
        range_selectivity: 10.0 * random() / entries,
        write_asymmetry: 3.0 * random(),
    };
    let filters = if random() < 0.5 {
        FilterAllocation::Monkey
    } else {
        FilterAllocation::Uniform
    };
    CostModel::new(system, filters).expect("a legal system")
}

fn random_near(random: &mut impl FnMut() -> f64) -> Neighbourhood {
    let expected = Workload::from_counts([(); 4].map(|()| random().powi(3))).expect("not all 0");
    let rho = if random() < 0.2 { 0.0 } else { 4.0 * random() };
    Neighbourhood::new(expected, rho).expect("at least 0")
}

/// The costs of every tuning on a grid over size ratio, filters and policy.
fn grid(
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

fn whole_ratios() -> Vec<f64> {
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

/// Every vector of limits at a size ratio and filters: the least worst case.
fn best_limits(model: &CostModel, near: &Neighbourhood, ratio: u16, bits: f64) -> f64 {
    let mut tuning = Tuning {
        size_ratio: f64::from(ratio),
        filter_bits_per_entry: bits,
        policy: RunPolicy::Leveling,
    };
    let levels = model.levels(&tuning).expect("legal");
    let base = usize::from(ratio - 1);
    let worst_cases = (0..base.pow(levels as u32)).map(|vector| {
        tuning.policy = RunPolicy::Limits(digits(vector, base, levels));
        let costs = model.costs(&tuning).expect("legal");
        near.worst_case(&costs).cost
    });
    worst_cases.fold(f64::INFINITY, f64::min)
}

fn digits(mut vector: usize, base: usize, levels: usize) -> RunLimits {
    let mut limits = RunLimits::uniform(RunLimit::ONE);
    for _ in 0..levels {
        let runs = (vector % base + 1) as u16;
        limits
            .levels
            .push(RunLimit::new(runs).expect("at most the size ratio"));
        vector /= base;
    }
    limits
}

/// Trees of up to 6^4 vectors: more than are tried exhaustively.
#[test]
fn run_limits_are_never_beaten_by_brute_force() {
    let mut random = uniform(11);
    for filters in [FilterAllocation::Monkey, FilterAllocation::Uniform] {
        for _ in 0..3 {
            let system = System {
                entries: 200_000,
                entry_bits: 1024,
                memory_bits: 600_000 + (800_000.0 * random()) as u64,
                min_buffer_bits: 300_000,
                page_entries: 1.0 + 3.0 * random(),
                range_selectivity: 0.0,
                write_asymmetry: 1.0,
            };
            let model = CostModel::new(system, filters).expect("legal");
            let near = random_near(&mut random);
            let space = DesignSpace {
                size_ratios: (2.0, 7.0),
                ..DesignSpace::default()
            };
            let found = tune_limits(&model, &near, &space).expect("limits");
            let Tuning {
                size_ratio,
                filter_bits_per_entry,
                ..
            } = found.tuning;
            let here = best_limits(&model, &near, size_ratio as u16, filter_bits_per_entry);
            assert!(
                (found.worst.cost / here - 1.0).abs() <= 1e-9,
                "{here} {found:?}"
            );
            for ratio in 2..=7 {
                for step in 0..=12 {
                    let bits = model.most_filter_bits() * f64::from(step) / 12.0;
                    let brute = best_limits(&model, &near, ratio, bits);
                    assert!(
                        found.worst.cost <= brute * (1.0 + 1e-9),
                        "{brute} {found:?}"
                    );
                }
            }
        }
    }
}

/// Where a page holds little more than an entry, writes and scans both weigh,
/// and neither end is best: two runs where they are small, one where large.
#[test]
fn limits_between_the_ends_can_be_best() {
    let system = System {
        entries: 20_537_621,
        entry_bits: 1_683,
        memory_bits: 188_377_813,
        min_buffer_bits: 10_225_230,
        page_entries: 1.3,
        range_selectivity: 0.0,
        write_asymmetry: 1.0,
    };
    let model = CostModel::new(system, FilterAllocation::Monkey).expect("legal");
    let expected: Workload = "z1=1,q=42,w=57".parse().expect("sums to 100");
    let near = Neighbourhood::new(expected, 1.6).expect("legal");
    let space = DesignSpace {
        size_ratios: (2.0, 13.0),
        ..DesignSpace::default()
    };
    let policy = tune(&model, &near, &space).expect("a tuning");
    let limits = tune_limits(&model, &near, &space).expect("limits");
    assert!(
        limits.worst.cost < 0.95 * policy.worst.cost,
        "{policy:?} {limits:?}"
    );
    let held = limits
        .tuning
        .run_limits(limits.levels)
        .expect("the tree holds it");
    assert!(
        held.levels.is_sorted_by(|upper, lower| upper >= lower),
        "{held}"
    );
    assert!(held.levels.first() > held.levels.last(), "{held}");
}

/// Leveling, tiering and lazy leveling are vectors of limits, as long as the
/// layout holds T - 1 runs.
#[test]
fn run_limits_are_never_worse_than_a_policy() {
    let mut random = uniform(5);
    for _ in 0..12 {
        let model = random_model(&mut random);
        let near = random_near(&mut random);
        let space = DesignSpace {
            size_ratios: (2.0, 13.0),
            ..DesignSpace::default()
        };
        let policy = tune(&model, &near, &space).expect("a tuning");
        let limits = tune_limits(&model, &near, &space).expect("limits");
        assert!(
            limits.worst.cost <= policy.worst.cost * (1.0 + 1e-9),
            "{policy:?} {limits:?}"
        );
    }
}

/// One level, one run, filters beyond need; and one entry in one bit.
#[test]
fn memory_for_all_data_and_for_none() {
    let near = Neighbourhood::new(expected_workloads()[0].workload, 1.0).expect("legal");
    let much = System {
        memory_bits: 90_000_000_000,
        ..System::published()
    };
    let little = System {
        entries: 1,
        entry_bits: 1,
        memory_bits: 1,
        min_buffer_bits: 1,
        ..System::published()
    };
    for (system, found_cost) in [(much, 1.0), (little, 1.0)] {
        let model = CostModel::new(system, FilterAllocation::Monkey).expect("legal");
        for space in [DesignSpace::published(), DesignSpace::default()] {
            let found = tune(&model, &near, &space).expect("a tuning");
            assert_eq!(
                (found.tuning.size_ratio, found.levels),
                (2.0, 1),
                "{found:?}"
            );
            assert_eq!(found.costs[OperationKind::GetFound], found_cost);
            assert_eq!(found.costs[OperationKind::Scan], 1.0);
            let limits = tune_limits(&model, &near, &space).expect("limits");
            assert!(limits.worst.cost <= found.worst.cost * (1.0 + 1e-9));
        }
    }
}

#[test]
fn wrong_spaces_say_what_to_give() {
    let near = Neighbourhood::only(expected_workloads()[0].workload);
    let whole = DesignSpace::default();
    for (space, says) in [
        (
            DesignSpace {
                size_ratios: (1.0, 10.0),
                ..whole.clone()
            },
            "give two from 2 to 100",
        ),
        (
            DesignSpace {
                size_ratios: (9.0, 3.0),
                ..whole.clone()
            },
            "the smaller one first",
        ),
        (
            DesignSpace {
                size_ratios: (2.1, 2.9),
                ..whole.clone()
            },
            "no whole size ratio",
        ),
        (
            DesignSpace {
                policies: Vec::new(),
                ..whole.clone()
            },
            "name at least one",
        ),
        (
            DesignSpace {
                least_filter_bits: 10.0,
                ..whole.clone()
            },
            "the memory holds from 0 to 9.161",
        ),
        (
            DesignSpace {
                least_filter_bits: f64::NAN,
                ..whole.clone()
            },
            "do not fit",
        ),
    ] {
        let error = tune(&published(), &near, &space)
            .expect_err(says)
            .to_string();
        assert!(error.contains(says), "{error}");
    }
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

#[test]
fn real_and_whole_spaces_agree_where_they_meet() {
    let near = Neighbourhood::new(expected_workloads()[11].workload, 1.0).expect("legal");
    for ratio in [2.0, 10.0, 41.0] {
        let at = |steps| {
            let policies = vec![RunPolicy::Leveling, RunPolicy::Tiering];
            let space = DesignSpace {
                size_ratios: (ratio, ratio),
                steps,
                policies,
                least_filter_bits: 0.0,
            };
            tune(&published(), &near, &space).expect("a tuning")
        };
        assert_eq!(at(SizeRatios::Whole), at(SizeRatios::Real));
    }
}
