//! What a reader of the advice sees.

use super::*;
use crate::cost_model::{CostModel, OperationKind, RunPolicy, System, Tuning, Workload};
use crate::filters::FilterAllocation;

fn model() -> CostModel {
    CostModel::new(System::published(), FilterAllocation::Monkey).expect("a legal system")
}

fn advice(workload: &str, rho: f64) -> Advice {
    let expected: Workload = workload.parse().expect("a workload");
    let near = Neighbourhood::new(expected, rho).expect("at least 0");
    advise(&model(), &near, &DesignSpace::default()).expect("advice")
}

#[test]
fn reads_that_may_become_writes() {
    let shown = advice("z0=33,z1=33,q=33,w=1", 1.0).to_string();
    assert_eq!(
        shown,
        "\
expected workload             z0 33 %, z1 33 %, q 33 %, w 1 %
largest divergence (rho)      1.00

                                       nominal          robust
size ratio                                  40              10
filter bits per entry                     4.88            1.80
write buffer                            6.4 MB         10.3 MB
policy                                leveling        leveling
levels                                       2               3
can be held by the tree                    yes             yes
I/Os, gets of absent keys                0.108           0.604
I/Os, gets of present keys               1.003           1.054
I/Os, scans                              2.000           3.000
I/Os, writes                            19.500           6.750
I/Os, expected workload                  1.222           1.605
I/Os, worst workload                     7.675           3.709

If the guess is right, the robust tuning costs 31 % more; if it is wrong, it saves up to 52 % in the worst case.
Why: if writes grew from 1 % to 36 % of all operations, an operation would cost 7.68 I/Os under the nominal tuning and 3.51 under the robust one, which takes a size ratio of 10 instead of 40 and 1.8 filter bits per entry instead of 4.9: writes then cost 6.75 I/Os each instead of 19.50.
"
    );
}

#[test]
fn writes_that_may_become_reads() {
    let advice = advice("z0=1,z1=1,q=1,w=97", 1.0);
    assert_eq!(advice.nominal.tuning.policy, RunPolicy::Tiering);
    assert_eq!(advice.robust.tuning.policy, RunPolicy::Leveling);
    let why = advice.difference();
    let growth = why.growth.expect("scans grow");
    assert_eq!(growth.kind, OperationKind::Scan);
    assert!(growth.to > growth.from && growth.nominal_cost > growth.robust_cost);
    let sentence = why.to_string();
    assert!(
        sentence.starts_with("if scans grew from 1 % to "),
        "{sentence}"
    );
    assert!(
        sentence.contains("which takes leveling instead of tiering, a size"),
        "{sentence}"
    );
}

#[test]
fn certainty_is_told_apart_from_stability() {
    let certain = advice("z0=25,z1=25,q=25,w=25", 0.0)
        .difference()
        .to_string();
    assert!(
        certain.contains("so the nominal tuning stands"),
        "{certain}"
    );
    let near: Workload = "z0=25,z1=25,q=25,w=25".parse().expect("a workload");
    let near = Neighbourhood::new(near, 0.5).expect("at least 0");
    let space = DesignSpace {
        size_ratios: (10.0, 10.0),
        policies: vec![RunPolicy::Leveling],
        least_filter_bits: model().most_filter_bits(),
        ..DesignSpace::default()
    };
    let only_one = advise(&model(), &near, &space).expect("advice");
    assert_eq!(only_one.nominal, only_one.robust);
    let stable = only_one.difference().to_string();
    assert!(
        stable.contains("no other tuning withstands it better"),
        "{stable}"
    );
}

#[test]
fn advice_survives_being_stored() {
    let advice = advice("z0=33,z1=33,q=33,w=1", 1.0);
    let text = serde_json::to_string(&advice).expect("serialises");
    let back: Advice = serde_json::from_str(&text).expect("deserialises");
    assert_eq!(back.robust.tuning.policy, advice.robust.tuning.policy);
    // Stored numbers may come back a digit off: the costs must not jump by it.
    let costs = model().costs(&back.robust.tuning).expect("legal");
    assert!((costs.under(advice.near.expected()) / advice.robust.expected_cost - 1.0).abs() < 1e-9);
    assert_eq!(back.to_string(), advice.to_string());
}

#[test]
fn what_is_lost_and_saved_comes_from_the_same_tunings() {
    let advice = advice("z0=33,z1=33,q=33,w=1", 1.0);
    let cost = |tuning: &Tuning, workload: &Workload| {
        model().costs(tuning).expect("legal").under(workload)
    };
    let expected = advice.near.expected();
    let lost = cost(&advice.robust.tuning, expected) / cost(&advice.nominal.tuning, expected) - 1.0;
    assert!((advice.lost_if_right() - lost).abs() < 1e-12);
    let worst = |tuned: &Tuned| cost(&tuned.tuning, &tuned.worst.workload);
    let saved = 1.0 - worst(&advice.robust) / worst(&advice.nominal);
    assert!((advice.saved_if_wrong() - saved).abs() < 1e-9);
}
