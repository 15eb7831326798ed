//! Repeats, contributions and estimates.

use super::*;
use crate::objective::metrics::{MEMORY, P99, THROUGHPUT};
use crate::objective::{Metrics, Objective};
use crate::search::{Decision, Measurement, Outcome, Search, Setup, TimePoints, TrialId};
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
fn what_loses_its_effect_is_set_back_with_its_cause() {
    let file = BuiltIn::RocksDb.file().expect("reads");
    let space = file.with(&Constants::new()).expect("is legal");
    let default = space.default_configuration();
    let mut best = default.clone();
    best.set("filter_policy", Setting::Choice("bloomfilter".to_owned()));
    best.set("bits_per_key", Setting::Float(14.0));
    let found = ablations(&space, &default, &best).expect("of the space");
    let run = |name: &str| {
        let mut runs = found.runs.iter();
        let run = runs.find(|it| it.difference.name == name).expect(name);
        run.configuration.clone()
    };
    assert_eq!(
        run("filter_policy"),
        default,
        "there are no bits without it"
    );
    let bits = run("bits_per_key");
    assert_eq!(bits.get("bits_per_key"), Some(&Setting::Float(10.0)));
    assert_eq!(bits.get("filter_policy"), best.get("filter_policy"));
    assert_eq!(found.runs.len(), 2);
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

#[test]
fn parameters_are_set_back_one_at_a_time() {
    let space = space();
    let default = space.default_configuration();
    let mut best = default.clone();
    for (name, value) in [
        ("level0_slowdown_writes_trigger", 12),
        ("level0_stop_writes_trigger", 13),
        ("max_background_compactions", 4),
    ] {
        best.set(name, Setting::Integer(value));
    }
    let mut tight = best.clone();
    tight.set("level0_file_num_compaction_trigger", Setting::Integer(8));
    tight.set("min_write_buffer_number_to_merge", Setting::Integer(1));
    space.check(&tight).expect("legal");
    let plan = ablations(&space, &default, &tight).expect("of the space");
    let runs: Vec<String> = plan
        .runs
        .iter()
        .map(|it| it.difference.to_string())
        .collect();
    assert_eq!(
        runs,
        [
            "level0_file_num_compaction_trigger 4 -> 8",
            "level0_stop_writes_trigger 16 -> 13",
            "max_background_compactions 1 -> 4",
        ]
    );
    for run in &plan.runs {
        space.check(&run.configuration).expect("legal");
        assert_eq!(run.configuration.differences(&tight).len(), 1);
    }
    let bound: Vec<&str> = plan.bound.iter().map(|(it, _)| it.name.as_str()).collect();
    assert_eq!(
        bound,
        [
            "level0_slowdown_writes_trigger",
            "min_write_buffer_number_to_merge"
        ]
    );
    let gains = contribution(
        &Objective::Throughput,
        &throughput(120.0),
        &throughput(100.0),
    );
    assert_eq!(gains, Ok(vec![0.2]));
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

/// A search of which trial 2 is the best and trial 1, the default, the runner-up. It
/// bounds memory, of which all hold 50 bytes, at 100.
fn close() -> Search {
    let mut setup = Setup::new(Objective::Throughput, 5_000.0);
    setup.method.samples = 300;
    setup.method.rounds = 0;
    setup.method.points = TimePoints::Fixed(vec![50.0]);
    setup.constraints = vec!["memory_bytes <= 100".parse().expect("a bound")];
    let mut search = Search::new(&space(), setup, &[]).expect("legal");
    loop {
        let trial = match search.ask(0.0) {
            Decision::Done { .. } => return search,
            Decision::Start { trial, .. } => trial,
            _ => continue,
        };
        let value = match trial {
            TrialId(1) => 90.0,
            TrialId(2) => 100.0,
            TrialId(other) => 10.0 + other as f64,
        };
        let outcome = Outcome::Measured {
            seconds: 50.0,
            setup_seconds: 0.0,
            metrics: with_memory(value, 50.0),
            series: Vec::new(),
        };
        let told = search.tell(Measurement { trial, outcome });
        told.expect("it runs");
    }
}

fn with_memory(throughput: f64, bytes: f64) -> Metrics {
    let metrics = [
        (THROUGHPUT.to_owned(), throughput),
        (MEMORY.to_owned(), bytes),
    ];
    Metrics::new(metrics.into()).expect("finite")
}

/// Repeats of the best and the runner-up: throughput and memory, or failures.
fn again(best: [Option<(f64, f64)>; 3], other: [Option<(f64, f64)>; 3]) -> Vec<Repeated> {
    let of = |contender, runs: [Option<(f64, f64)>; 3]| {
        (1..).zip(runs).map(move |(round, run)| Repeated {
            round,
            contender,
            metrics: run.map(|(throughput, bytes)| with_memory(throughput, bytes)),
        })
    };
    let best = of(Contender::Best, best);
    best.chain(of(Contender::RunnerUp, other)).collect()
}

fn runs(values: [f64; 3]) -> [Option<(f64, f64)>; 3] {
    values.map(|value| Some((value, 50.0)))
}

#[test]
fn the_default_may_be_the_runner_up() {
    let search = close();
    let contenders = contenders(&search).expect("measured");
    let who: Vec<Contender> = contenders.iter().map(|(who, _)| *who).collect();
    assert_eq!(who, [Contender::Best, Contender::RunnerUp]);
    let default = default_among(&search, &contenders);
    assert_eq!(default, Some(Contender::RunnerUp));
    let choice = choice(&search, &[]).expect("measured");
    assert_eq!(
        (choice.contender, choice.trial),
        (Contender::Best, TrialId(2))
    );
    assert_eq!((choice.default, choice.note), (default, None));
}

#[test]
fn repeats_may_choose_another() {
    let search = close();
    let best = |repeated: &[Repeated]| choice(&search, repeated).expect("metrics");
    let tie = best(&again(runs([9.0, 10.0, 11.0]), runs([10.0, 11.0, 12.0])));
    assert_eq!(tie.contender, Contender::Best);
    let other = best(&again(runs([7.0, 8.0, 9.0]), runs([10.0, 11.0, 12.0])));
    assert_eq!(
        (other.contender, other.trial),
        (Contender::RunnerUp, TrialId(1))
    );
    let note = other.note.expect("it changed");
    assert!(
        note.starts_with("the search chose trial 2, but trial 1, the runner-up, was better"),
        "{note}"
    );
    let few = again(runs([7.0, 8.0, 9.0]), runs([10.0, 11.0, 12.0]));
    let few: Vec<Repeated> = few.into_iter().filter(|it| it.round < 3).collect();
    assert_eq!(best(&few).contender, Contender::Best, "two rounds are few");
}

#[test]
fn who_fails_or_breaks_a_bound_gives_way() {
    let search = close();
    let best = |repeated: &[Repeated]| choice(&search, repeated).expect("metrics");
    let [one, two, _] = runs([20.0, 21.0, 22.0]);
    let failing = [one, two, None];
    let chosen = best(&again(failing, runs([10.0, 11.0, 12.0])));
    assert_eq!(chosen.contender, Contender::RunnerUp);
    assert_eq!(
        chosen.against,
        [(Contender::Best, "it failed in 1 of 3 repeats".to_owned())].into()
    );
    let large = [20.0, 21.0, 22.0].map(|value| Some((value, 150.0)));
    let chosen = best(&again(large, runs([10.0, 11.0, 12.0])));
    assert_eq!(chosen.contender, Contender::RunnerUp);
    let note = chosen.note.expect("it changed");
    assert!(
        note.contains("memory_bytes is 150, where memory_bytes <= 100 is asked for"),
        "{note}"
    );
    let chosen = best(&again(large, [None; 3]));
    assert_eq!(chosen.contender, Contender::Best, "the lesser evil");
    assert_eq!(chosen.against.len(), 2);
    let chosen = best(&again([None; 3], [None; 3]));
    assert_eq!((chosen.contender, chosen.note), (Contender::Best, None));
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
