//! Run limits level by level, against brute force.

use lissom_core::cost_model::{CostModel, RunPolicy, System, Tuning, Workload};
use lissom_core::filters::FilterAllocation;
use lissom_core::robust::{DesignSpace, Neighbourhood, tune, tune_limits};
use lissom_core::{RunLimit, RunLimits};

use super::{random_model, random_near, uniform};

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
