//! Spaces at their edges, and those that make no sense.

use lissom_core::cost_model::{CostModel, OperationKind, RunPolicy, System, expected_workloads};
use lissom_core::filters::FilterAllocation;
use lissom_core::robust::{DesignSpace, Neighbourhood, SizeRatios, tune, tune_limits};

use super::published;

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
        (
            DesignSpace {
                most_levels: 0,
                ..whole.clone()
            },
            "at most 0 levels cannot be searched for: give from 1 to 64",
        ),
        (
            DesignSpace {
                most_levels: System::MOST_LEVELS + 1,
                ..whole.clone()
            },
            "give from 1 to 64",
        ),
        (
            DesignSpace {
                most_levels: 1,
                ..whole.clone()
            },
            "no size ratio from 2 to 100 makes a tree of at most 1 levels",
        ),
    ] {
        let error = tune(&published(), &near, &space)
            .expect_err(says)
            .to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn no_more_levels_are_made_than_are_allowed() {
    let near = Neighbourhood::new(expected_workloads()[0].workload, 1.0).expect("legal");
    let free = tune(&published(), &near, &DesignSpace::default()).expect("a tuning");
    assert!(free.levels > 2, "{free:?}");
    for most_levels in 2..free.levels {
        for space in [DesignSpace::published(), DesignSpace::default()] {
            let space = DesignSpace {
                most_levels,
                ..space
            };
            let found = tune(&published(), &near, &space).expect("a tuning");
            assert!(found.levels <= most_levels, "{found:?}");
            let limits = tune_limits(&published(), &near, &space).expect("limits");
            assert!(limits.levels <= most_levels, "{limits:?}");
        }
    }
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
                ..DesignSpace::default()
            };
            tune(&published(), &near, &space).expect("a tuning")
        };
        assert_eq!(at(SizeRatios::Whole), at(SizeRatios::Real));
    }
}
