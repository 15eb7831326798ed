//! Repeats, contributions and estimates.

mod ablations;
mod chosen;

use super::*;
use crate::objective::metrics::{P99, THROUGHPUT};
use crate::objective::{Metrics, Objective};
use crate::search::{Search, Setup, TimePoints};
use crate::space::{BuiltIn, Configuration, Constants, Setting, Space};
use crate::testing::{Answer, Lab};

fn space() -> Space {
    let file = BuiltIn::Dremel.file().expect("reads");
    file.with(&Constants::new()).expect("is legal")
}

fn throughput(value: f64) -> Metrics {
    Metrics::new([(THROUGHPUT.to_owned(), value)].into()).expect("finite")
}

fn configuration(value: i64) -> Configuration {
    [("a".to_owned(), Setting::Integer(value))]
        .into_iter()
        .collect()
}

fn repeated(values: &[(Contender, &[f64])]) -> Vec<Repeated> {
    let mut all = Vec::new();
    for (contender, values) in values {
        for (round, value) in (1..).zip(*values) {
            all.push(Repeated {
                round,
                contender: *contender,
                metrics: (*value > 0.0).then(|| throughput(*value)),
            });
        }
    }
    all
}

#[test]
fn rounds_hold_everybody_and_begin_by_turns() {
    let contenders = [
        (Contender::Best, configuration(1)),
        (Contender::RunnerUp, configuration(2)),
        (Contender::Default, configuration(3)),
    ];
    let plan = repeats(&contenders, 4, 60.0).expect("legal");
    let order: Vec<(u32, Contender)> = plan.iter().map(|it| (it.round, it.contender)).collect();
    use Contender::{Best, Default, RunnerUp};
    let wanted: [[(u32, Contender); 3]; 4] = [
        [(1, Best), (1, RunnerUp), (1, Default)],
        [(2, RunnerUp), (2, Default), (2, Best)],
        [(3, Default), (3, Best), (3, RunnerUp)],
        [(4, Best), (4, RunnerUp), (4, Default)],
    ];
    assert_eq!(order, wanted.concat());
    assert!(plan.iter().all(|it| it.seconds == 60.0));
    for (rounds, seconds) in [(0, 60.0), (17, 60.0), (3, 0.0), (3, f64::NAN)] {
        assert!(repeats(&contenders, rounds, seconds).is_err());
    }
    assert!(repeats(&[], 3, 60.0).is_err());
}

#[test]
fn the_time_for_repeats_is_arithmetic() {
    assert_eq!(repeats_seconds(3, 3, 100.0, 10.0), 990.0);
    assert_eq!(rounds_within(990.0, 3, 100.0, 10.0), 3);
    assert_eq!(rounds_within(989.0, 3, 100.0, 10.0), 2);
    assert_eq!(rounds_within(-5.0, 3, 100.0, 10.0), 0);
    assert_eq!(rounds_within(1e12, 3, 100.0, 10.0), MOST_ROUNDS);
    assert_eq!(rounds_within(100.0, 0, 100.0, 10.0), 0);
}

#[test]
fn outside_the_spread_is_better_and_inside_a_tie() {
    let results = repeated(&[
        (Contender::Best, &[110.0, 112.0, 111.0]),
        (Contender::RunnerUp, &[109.0, 113.0, 108.0]),
        (Contender::Default, &[50.0, 60.0, 55.0]),
    ]);
    let verdict =
        judge_repeats(&Objective::Throughput, &results, Contender::Best).expect("metrics");
    assert_eq!(verdict.complete_rounds, 3);
    let goal = &verdict.goals[0];
    assert_eq!(goal.figures[&Contender::Best].median, 111.0);
    let [runner_up, default] = goal.comparisons.as_slice() else {
        panic!("two others");
    };
    assert_eq!(runner_up.standing, Standing::Tie);
    assert!(runner_up.to_string().ends_with("inside the spread: a tie"));
    assert_eq!(default.standing, Standing::Better);
    assert!((default.gain - 56.0 / 55.0).abs() < 1e-12);
    assert_eq!(default.chance, 0.125, "1 of 8 ways");
    assert_eq!(
        default.to_string(),
        "101.8 % better than the default by the median of 3 rounds, outside the spread; \
         chance alone: 0.125"
    );
}

#[test]
fn a_loss_outside_the_spread_is_as_unlikely_as_a_gain() {
    let results = repeated(&[
        (Contender::Best, &[50.0, 60.0, 55.0]),
        (Contender::Default, &[110.0, 112.0, 111.0]),
    ]);
    let verdict =
        judge_repeats(&Objective::Throughput, &results, Contender::Best).expect("metrics");
    let default = &verdict.goals[0].comparisons[0];
    assert_eq!((default.standing, default.chance), (Standing::Worse, 0.125));
}

#[test]
fn only_whole_rounds_count_and_failures_are_told() {
    let results = repeated(&[
        (Contender::Best, &[9.0, 9.0, 9.0, 9.0]),
        (Contender::Default, &[1.0, 0.0, 1.0]),
    ]);
    let verdict =
        judge_repeats(&Objective::Throughput, &results, Contender::Best).expect("metrics");
    assert_eq!(verdict.complete_rounds, 2);
    assert_eq!(verdict.failures[&Contender::Default], 1);
    let comparison = &verdict.goals[0].comparisons[0];
    assert_eq!(comparison.standing, Standing::Tie);
    assert!(comparison.to_string().ends_with("too few to tell"));
    let none = judge_repeats(&Objective::Throughput, &[], Contender::Best).expect("nothing");
    assert!(none.goals[0].comparisons.is_empty());
}

#[test]
fn pairs_are_compared_in_the_rounds_that_both_have() {
    let results = repeated(&[
        (Contender::Best, &[110.0, 112.0, 111.0]),
        (Contender::RunnerUp, &[109.0, 0.0, 108.0]),
        (Contender::Default, &[50.0, 60.0, 55.0]),
    ]);
    let verdict =
        judge_repeats(&Objective::Throughput, &results, Contender::RunnerUp).expect("metrics");
    assert_eq!(verdict.complete_rounds, 2);
    let [best, default] = verdict.goals[0].comparisons.as_slice() else {
        panic!("two others");
    };
    assert_eq!((best.against, best.rounds), (Contender::Best, 2));
    assert_eq!((default.against, default.rounds), (Contender::Default, 2));
    let verdict =
        judge_repeats(&Objective::Throughput, &results, Contender::Best).expect("metrics");
    let default = &verdict.goals[0].comparisons[1];
    assert_eq!((default.against, default.rounds), (Contender::Default, 3));
    assert_eq!(default.standing, Standing::Better);
}

#[test]
fn less_is_better_for_latency() {
    let metrics = |value: f64| {
        let metrics = Metrics::new([(P99.to_owned(), value)].into());
        Some(metrics.expect("finite"))
    };
    let mut results = Vec::new();
    for round in 1..=5 {
        for (contender, value) in [(Contender::Best, 10.0), (Contender::Default, 20.0)] {
            results.push(Repeated {
                round,
                contender,
                metrics: metrics(value),
            });
        }
    }
    let objective: Objective = "p99".parse().expect("an objective");
    let verdict = judge_repeats(&objective, &results, Contender::Best).expect("metrics");
    let comparison = &verdict.goals[0].comparisons[0];
    assert_eq!(comparison.standing, Standing::Better);
    assert_eq!((comparison.gain, comparison.chance), (0.5, 1.0 / 32.0));
    let text = serde_json::to_string(&verdict).expect("plain data");
    assert_eq!(
        serde_json::from_str::<Verdict>(&text).expect(&text),
        verdict
    );
}

/// Compactions in parallel are worth 10 % each, nothing else is worth anything.
fn surface(configuration: &Configuration) -> Answer {
    let threads = configuration
        .get("max_background_compactions")
        .and_then(Setting::number);
    let value = 100.0 * (1.0 + 0.1 * threads.expect("a number"));
    Ok([(THROUGHPUT.to_owned(), value)].into())
}

fn searched() -> Search {
    let mut setup = Setup::new(Objective::Throughput, 5_000.0);
    setup.method.samples = 300;
    setup.method.points = TimePoints::Fixed(vec![30.0, 40.0, 50.0]);
    let mut search = Search::new(&space(), setup, &[]).expect("legal");
    let mut lab = Lab::new(&surface);
    lab.noise = 0.01;
    lab.run(&mut search, |_| {}).expect("reports are taken");
    search
}

#[test]
fn the_contenders_of_a_search() {
    let search = searched();
    let contenders = contenders(&search).expect("measured");
    let who: Vec<Contender> = contenders.iter().map(|(who, _)| *who).collect();
    assert_eq!(
        who,
        [Contender::Best, Contender::RunnerUp, Contender::Default]
    );
    let fresh = Search::new(&space(), search.setup().clone(), &[]).expect("legal");
    let error = super::contenders(&fresh)
        .expect_err("nothing measured")
        .to_string();
    assert!(error.contains("nothing to repeat"), "{error}");
    assert!(estimates(&fresh, &contenders[0].1).is_empty());
}

#[test]
fn estimates_find_what_matters() {
    let search = searched();
    let best = search.best().and_then(|id| search.trial(id));
    let estimates = estimates(&search, &best.expect("measured").configuration);
    let threads = estimates
        .iter()
        .find(|it| it.difference.name == "max_background_compactions")
        .expect("the best has more threads");
    assert!(threads.gain > 0.1, "{threads:?}");
    assert!(threads.near_best >= 2 && threads.near_default >= 2);
    assert!(threads.error > 0.0 && threads.error < threads.gain);
    assert!(
        estimates
            .windows(2)
            .all(|pair| pair[0].gain >= pair[1].gain)
    );
}
