use super::*;
use crate::shape::{RunLimit, RunLimits};

/// A tree small enough for paper: 30 entries of 1 bit, 4 to a page, and a
/// buffer of 2 entries when filters get 2 bits per entry.
fn small() -> CostModel {
    let system = System {
        entries: 30,
        entry_bits: 1,
        memory_bits: 62,
        min_buffer_bits: 1,
        page_entries: 4.0,
        range_selectivity: 0.1,
        write_asymmetry: 2.0,
    };
    CostModel::new(system, FilterAllocation::Monkey).expect("a legal system")
}

fn tuning(size_ratio: f64, policy: RunPolicy) -> Tuning {
    Tuning {
        size_ratio,
        filter_bits_per_entry: 2.0,
        policy,
    }
}

fn close(costs: Costs, by_hand: [f64; 4]) {
    for (kind, by_hand) in OperationKind::ALL.into_iter().zip(by_hand) {
        let relative = costs[kind] / by_hand - 1.0;
        assert!(relative.abs() < 1e-5, "{kind}: {} {by_hand}", costs[kind]);
    }
}

/// m_buf = 62 - 2*30 = 2 bits, N*E/m_buf + 1 = 16, so L = 4 at T = 2 and
/// L = 2 at T = 4.
#[test]
fn levels_by_hand() {
    assert_eq!(small().levels(&tuning(2.0, RunPolicy::Leveling)), Ok(4));
    assert_eq!(small().levels(&tuning(4.0, RunPolicy::Leveling)), Ok(2));
    // log_3 16 = 2.52
    assert_eq!(small().levels(&tuning(3.0, RunPolicy::Leveling)), Ok(3));
}

/// T = 4, L = 2, K = 1. ln²2 = 0.480453, e^(-2 ln²2) = e^-0.960906 = 0.382546.
/// T^(T/(T-1)) = 4^(4/3) = 6.349604.
/// f_1 = 6.349604 / 4^2 * 0.382546 = 0.151814, f_2 = 4 f_1 = 0.607257.
/// Shares: 3/15 = 0.2 and 12/15 = 0.8.
/// Z0 = 0.151814 + 0.607257 = 0.759071
/// Z1 = 0.2 * 1 + 0.8 * (1 + 0.151814) = 1.121451
/// Q  = 0.1 * 30 / 4 + 2 = 2.75
/// W  = 2/4 * 3/2 * (1+2) = 2.25
#[test]
fn leveling_by_hand() {
    let costs = small().costs(&tuning(4.0, RunPolicy::Leveling));
    close(costs.expect("legal"), [0.759071, 1.121451, 2.75, 2.25]);
}

/// As above with K = 3, the same rates.
/// Z0 = 3 * 0.759071 = 2.277213
/// Z1 = 0.2 * (1 + 1 * 0.151814) + 0.8 * (1 + 3 * 0.151814 + 1 * 0.607257)
///    = 0.230363 + 1.650159 = 1.880522
/// Q  = 0.75 + 2 * 3 = 6.75
/// W  = 2/4 * 3/4 * 3 = 1.125
#[test]
fn tiering_by_hand() {
    let costs = small().costs(&tuning(4.0, RunPolicy::Tiering));
    close(costs.expect("legal"), [2.277213, 1.880522, 6.75, 1.125]);
}

/// K = 3 above, 1 in the largest level. The runs of level 1 are a third, so
/// ln(K_2 f_2) gains the mean of ln K: a quarter of the endless tree's entries
/// lie in level 1 and above, where K is 3: 3^(1/4) = 1.316074.
/// f_2 = 0.607257 * 1.316074 = 0.799195, f_1 = 0.799195 / 4 / 3 = 0.066600.
/// Z0 = 3 * 0.066600 + 0.799195 = 0.998994
/// Z1 = 0.2 * (1 + 0.066600) + 0.8 * (1 + 3 * 0.066600) = 1.173159
/// Q  = 0.75 + 3 + 1 = 4.75
/// W  = 3/4 * (3/4 + 3/2) = 1.6875
#[test]
fn lazy_leveling_by_hand() {
    let by_hand = [0.998994, 1.173159, 4.75, 1.6875];
    let lazy = small().costs(&tuning(4.0, RunPolicy::LazyLeveling));
    close(lazy.expect("legal"), by_hand);
    let mut limits = RunLimits::uniform(RunLimit::ONE);
    limits.set(crate::layout::LogicalLevel(1), RunLimit::clamped(3));
    let vector = small().costs(&tuning(4.0, RunPolicy::Limits(limits)));
    close(vector.expect("legal"), by_hand);
}

/// Uniform filters: every rate is e^(-2 ln²2) = 0.382546.
/// Z0 = 2 * 0.382546 = 0.765093; Z1 = 0.2 + 0.8 * 1.382546 = 1.306037.
#[test]
fn uniform_filters_by_hand() {
    let model = CostModel::new(*small().system(), FilterAllocation::Uniform).expect("legal");
    let costs = model.costs(&tuning(4.0, RunPolicy::Leveling));
    close(costs.expect("legal"), [0.765093, 1.306037, 2.75, 2.25]);
}

/// Without filters a get of an absent key reads every run.
#[test]
fn without_filters_every_run_is_read() {
    let mut plain = tuning(4.0, RunPolicy::Tiering);
    plain.filter_bits_per_entry = 0.0;
    // m_buf = 62, 30/62 + 1 = 1.48: one level of three runs, the key in the
    // middle one.
    let costs = small().costs(&plain).expect("legal");
    assert_eq!(costs[OperationKind::GetAbsent], 3.0);
    assert_eq!(costs[OperationKind::GetFound], 2.0);
}

#[test]
fn a_size_ratio_of_two_makes_all_policies_alike() {
    let model = CostModel::new(System::published(), FilterAllocation::Monkey).expect("legal");
    for bits in [0.0, 0.3, 2.0, 5.0, 9.0] {
        let costs = |policy| {
            model.costs(&Tuning {
                size_ratio: 2.0,
                filter_bits_per_entry: bits,
                policy,
            })
        };
        let leveling = costs(RunPolicy::Leveling);
        assert!(leveling.is_ok());
        assert_eq!(leveling, costs(RunPolicy::Tiering));
        assert_eq!(leveling, costs(RunPolicy::LazyLeveling));
        let twelve = RunLimits::uniform(RunLimit::clamped(12));
        assert_eq!(leveling, costs(RunPolicy::Limits(twelve)));
    }
}

#[test]
fn equal_limits_meet_leveling_and_tiering() {
    let model = CostModel::new(System::published(), FilterAllocation::Monkey).expect("legal");
    let at = |policy| {
        model.costs(&Tuning {
            size_ratio: 10.0,
            filter_bits_per_entry: 4.0,
            policy,
        })
    };
    let limits = |runs| RunPolicy::Limits(RunLimits::uniform(RunLimit::clamped(runs)));
    assert_eq!(at(limits(1)), at(RunPolicy::Leveling));
    assert_eq!(at(limits(9)), at(RunPolicy::Tiering));
    assert_eq!(at(limits(10)), at(RunPolicy::Tiering));
}

#[test]
fn more_filters_in_the_same_levels_never_cost_more() {
    for filters in [FilterAllocation::Monkey, FilterAllocation::Uniform] {
        let model = CostModel::new(System::published(), filters).expect("legal");
        for policy in [
            RunPolicy::Leveling,
            RunPolicy::Tiering,
            RunPolicy::LazyLeveling,
        ] {
            for ratio in [2.0, 4.7, 10.0, 64.0] {
                let mut before = [f64::INFINITY; 4];
                for step in 0..=500 {
                    let bits = f64::from(step) * 0.02;
                    let costs = model.costs_with(ratio, bits, &policy, 4);
                    for (now, before) in costs.0.iter().zip(before) {
                        assert!(*now <= before * (1.0 + 1e-14), "{policy} {ratio} {bits}");
                    }
                    before = costs.0;
                }
            }
        }
    }
}

#[test]
fn wrong_systems_and_tunings_say_what_to_give() {
    let good = System::published();
    for (system, says) in [
        (System { entries: 0, ..good }, "a tree of 0 entries"),
        (
            System {
                entry_bits: 0,
                ..good
            },
            "an entry cannot have 0 bytes",
        ),
        (
            System {
                memory_bits: 0,
                ..good
            },
            "there is no memory",
        ),
        (
            System {
                memory_bits: 1000,
                ..good
            },
            "does not fit the memory",
        ),
        (
            System {
                min_buffer_bits: 0,
                ..good
            },
            "the smallest write buffer cannot have 0 bytes",
        ),
        (
            System {
                page_entries: 0.0,
                ..good
            },
            "a page cannot hold 0",
        ),
        (
            System {
                page_entries: f64::NAN,
                ..good
            },
            "a page cannot hold NaN",
        ),
        (
            System {
                range_selectivity: 1.5,
                ..good
            },
            "a share of 1.5",
        ),
        (
            System {
                write_asymmetry: -1.0,
                ..good
            },
            "-1 times a read",
        ),
        (
            System {
                entries: u64::MAX,
                entry_bits: u64::MAX,
                ..good
            },
            "too small",
        ),
    ] {
        let error = CostModel::new(system, FilterAllocation::Monkey).expect_err(says);
        assert!(error.to_string().contains(says), "{error}");
    }
    let model = CostModel::new(good, FilterAllocation::Monkey).expect("legal");
    for (size_ratio, filter_bits_per_entry, says) in [
        (1.0, 5.0, "a size ratio of 1 is not possible"),
        (101.0, 5.0, "choose one from 2 to 100"),
        (f64::NAN, 5.0, "a size ratio of NaN"),
        (10.0, -1.0, "choose from 0 to 9.161"),
        (10.0, 10.0, "leave no write buffer"),
        (10.0, f64::NAN, "NaN filter bits"),
    ] {
        let policy = RunPolicy::Leveling;
        let tuning = Tuning {
            size_ratio,
            filter_bits_per_entry,
            policy,
        };
        let error = model.costs(&tuning).expect_err(says).to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn what_the_tree_cannot_hold_is_told() {
    let limits = |ratio, policy, levels| tuning(ratio, policy).run_limits(levels);
    let text = |ratio, policy, levels| limits(ratio, policy, levels).map(|held| held.to_string());
    assert_eq!(
        text(10.0, RunPolicy::LazyLeveling, 3),
        Ok("10,10,1,10".into())
    );
    assert_eq!(text(12.0, RunPolicy::Tiering, 3), Ok("12".into()));
    assert_eq!(text(50.0, RunPolicy::Leveling, 3), Ok("1".into()));
    for (tuned, says) in [
        (
            limits(5.2, RunPolicy::Leveling, 3),
            "whole size ratios, not 5.20",
        ),
        (
            limits(13.0, RunPolicy::Tiering, 3),
            "choose one from 1 to 12",
        ),
        (
            limits(2.0, RunPolicy::Leveling, 13),
            "13 levels are more than the 12",
        ),
    ] {
        assert!(tuned.expect_err(says).to_string().contains(says));
    }
}
