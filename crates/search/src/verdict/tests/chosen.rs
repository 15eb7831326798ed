//! Who is believed after the repeats.

use super::*;
use crate::objective::metrics::MEMORY;
use crate::search::{Decision, Measurement, Outcome, TrialId};

/// A search of which trial 2 is the best and trial 1, the default, the runner-up. It
/// bounds memory, of which all hold 50 bytes, at 100.
fn close() -> Search {
    let mut setup = Setup::new(Objective::Throughput, 5_000.0);
    setup.method.samples = 300;
    setup.method.rounds = 0;
    setup.method.whole_budget = false;
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
            notes: Vec::new(),
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
fn who_was_not_run_again_has_not_proved_itself() {
    let search = close();
    let best = |repeated: Vec<Repeated>, without| {
        let told = repeated.into_iter().filter(|it| it.contender != without);
        choice(&search, &told.collect::<Vec<_>>()).expect("metrics")
    };
    let all = || again(runs([20.0, 21.0, 22.0]), runs([10.0, 11.0, 12.0]));
    let chosen = best(all(), Contender::Best);
    assert_eq!(chosen.contender, Contender::RunnerUp);
    let note = chosen.note.expect("it changed");
    assert!(
        note.contains("but it was not run again, so that trial 1"),
        "{note}"
    );
    assert_eq!(best(all(), Contender::RunnerUp).contender, Contender::Best);
    let large = [20.0, 21.0, 22.0].map(|value| Some((value, 150.0)));
    let chosen = best(again(large, runs([1.0; 3])), Contender::RunnerUp);
    assert_eq!(
        chosen.contender,
        Contender::RunnerUp,
        "it kept the bound in the search"
    );
    assert_eq!(chosen.against[&Contender::RunnerUp], "it was not run again");
}

#[test]
fn a_best_that_gives_way_to_one_that_was_run_again_is_refuted() {
    let search = close();
    let setup = search.setup();
    let refuted = |repeated: &[Repeated]| {
        is_refuted(&setup.objective, &setup.constraints, repeated).expect("metrics")
    };
    let others = runs([10.0, 11.0, 12.0]);
    let large = [20.0, 21.0, 22.0].map(|value| Some((value, 150.0)));
    for (best, other, is_so) in [
        (runs([9.0, 10.0, 11.0]), others, false),
        (runs([7.0, 8.0, 9.0]), others, true),
        (large, others, true),
        (large, large, false),
        ([None; 3], others, true),
        ([None; 3], [None; 3], false),
    ] {
        let repeated = again(best, other);
        assert_eq!(refuted(&repeated), is_so, "{best:?} {other:?}");
        let chosen = choice(&search, &repeated).expect("metrics").contender;
        assert_eq!(chosen != Contender::Best, is_so);
    }
    assert!(!refuted(&[]));
    let mut without = again(runs([7.0, 8.0, 9.0]), others);
    without.retain(|it| it.contender != Contender::Best);
    assert!(!refuted(&without), "it was not run again");
}
