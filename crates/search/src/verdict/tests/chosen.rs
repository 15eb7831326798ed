//! Who is believed after the repeats.

use std::collections::BTreeSet;

use super::*;
use crate::objective::metrics::MEMORY;
use crate::search::{Decision, Measurement, Outcome, TrialId};

/// Seconds that all its trials, and full repeats, run.
const FULL: f64 = 50.0;

/// A search of which trial 2 is the best and trial 1, the default, the runner-up. It
/// bounds memory, of which all hold 50 bytes, at 100.
fn close() -> Search {
    close_to(TrialId(1))
}

/// The same with another runner-up.
fn close_to(runner_up: TrialId) -> Search {
    let mut setup = Setup::new(Objective::Throughput, 5_000.0);
    setup.method.samples = 300;
    setup.method.rounds = 0;
    setup.method.whole_budget = false;
    setup.method.points = TimePoints::Fixed(vec![FULL]);
    setup.constraints = vec!["memory_bytes <= 100".parse().expect("a bound")];
    let mut search = Search::new(&space(), setup, &[]).expect("legal");
    loop {
        let trial = match search.ask(0.0) {
            Decision::Done { .. } => return search,
            Decision::Start { trial, .. } => trial,
            _ => continue,
        };
        let value = match trial {
            near if near == runner_up => 90.0,
            TrialId(2) => 100.0,
            TrialId(other) => 10.0 + other as f64,
        };
        let outcome = Outcome::Measured {
            seconds: FULL,
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
    let choice = choice(&search, &[], 0.0).expect("measured");
    assert_eq!(
        (choice.contender, choice.trial),
        (Contender::Best, TrialId(2))
    );
    assert_eq!((choice.default, choice.note), (default, None));
    assert_eq!(choice.caution, None);
}

#[test]
fn repeats_may_choose_another() {
    let search = close();
    let best = |repeated: &[Repeated]| choice(&search, repeated, FULL).expect("metrics");
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
fn repeats_that_ran_shorter_than_the_search_do_not_change_its_choice() {
    let search = close_to(TrialId(3));
    let better = again(runs([7.0, 8.0, 9.0]), runs([10.0, 11.0, 12.0]));
    for (seconds, chosen) in [
        (12.0, Contender::Best),
        (49.0, Contender::Best),
        // Clocks are not exact.
        (49.6, Contender::RunnerUp),
        (60.0, Contender::RunnerUp),
    ] {
        let choice = choice(&search, &better, seconds).expect("metrics");
        assert_eq!(choice.contender, chosen, "{seconds} s");
        let kept = chosen == Contender::Best;
        assert_eq!(
            (choice.note.is_none(), choice.caution.is_some()),
            (kept, kept)
        );
    }
    let caution = choice(&search, &better, 12.0).expect("metrics").caution;
    let words = "the runner-up was better in all rounds of the repeats, but they ran 12 s of the \
                 50 s by which the search judged, too short to choose it by";
    assert!(
        caution.as_ref().is_some_and(|it| it.starts_with(words)),
        "{caution:?}"
    );
    let tie = again(runs([9.0, 10.0, 11.0]), runs([10.0, 11.0, 12.0]));
    let caution = choice(&search, &tie, 12.0).expect("metrics").caution;
    assert_eq!(caution, None, "they would not change it anyway");
}

/// A runner-up that is better still is not applied either, and saves no best from the default.
#[test]
fn a_best_that_is_worse_than_the_default_is_not_believed_for_a_third_that_is_better() {
    let mut repeated = again(runs([7.0, 8.0, 9.0]), runs([11.0, 12.0, 13.0]));
    let default = (1..).zip([10.0, 11.0, 12.0]);
    repeated.extend(default.map(|(round, value)| Repeated {
        round,
        contender: Contender::Default,
        metrics: Some(with_memory(value, 50.0)),
    }));
    let search = close_to(TrialId(3));
    let short = choice(&search, &repeated, 12.0).expect("metrics");
    assert_eq!(short.contender, Contender::Default);
    let caution = short.caution.expect("there is a better one");
    assert!(caution.starts_with("the runner-up was better"), "{caution}");
    let full = choice(&search, &repeated, FULL).expect("metrics");
    assert_eq!((full.contender, full.caution), (Contender::RunnerUp, None));
}

/// Nothing is applied then.
#[test]
fn a_default_that_is_better_is_believed_however_short_repeats_ran() {
    let better = again(runs([7.0, 8.0, 9.0]), runs([10.0, 11.0, 12.0]));
    let choice = choice(&close(), &better, 12.0).expect("metrics");
    assert_eq!(choice.default, Some(Contender::RunnerUp));
    assert_eq!(
        (Some(choice.contender), choice.caution),
        (choice.default, None)
    );
}

#[test]
fn what_fails_in_short_repeats_gives_way_all_the_same() {
    let search = close();
    let large = [20.0, 21.0, 22.0].map(|value| Some((value, 150.0)));
    for best in [[None; 3], large] {
        let repeated = again(best, runs([10.0, 11.0, 12.0]));
        let choice = choice(&search, &repeated, 12.0).expect("metrics");
        assert_eq!(choice.contender, Contender::RunnerUp, "{best:?}");
        assert_eq!(choice.caution, None);
    }
}

#[test]
fn who_fails_or_breaks_a_bound_gives_way() {
    let search = close();
    let best = |repeated: &[Repeated]| choice(&search, repeated, FULL).expect("metrics");
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
        choice(&search, &told.collect::<Vec<_>>(), FULL).expect("metrics")
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
fn a_best_whose_repeats_were_lost_gives_way_to_nobody_who_proves_nothing() {
    let search = close();
    for (rounds, chosen) in [
        (1, Contender::Best),
        (2, Contender::Best),
        (3, Contender::RunnerUp),
    ] {
        let mut told = again([None; 3], runs([10.0, 11.0, 12.0]));
        told.retain(|it| it.contender == Contender::RunnerUp && it.round <= rounds);
        let choice = choice(&search, &told, FULL).expect("metrics");
        assert_eq!(choice.contender, chosen, "{rounds} rounds");
        assert_eq!(choice.against[&Contender::Best], "it was not run again");
    }
}

#[test]
fn a_best_that_gives_way_to_one_that_was_run_again_is_refuted() {
    let search = close();
    let setup = search.setup();
    let all = BTreeSet::from([Contender::Best, Contender::RunnerUp]);
    let lengths = Lengths {
        repeats: FULL,
        search: FULL,
    };
    let refuted = |repeated: &[Repeated]| {
        is_refuted(
            &setup.objective,
            &setup.constraints,
            repeated,
            lengths,
            (&all, None),
        )
        .expect("metrics")
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
        let chosen = choice(&search, &repeated, FULL).expect("metrics");
        assert_eq!(chosen.contender != Contender::Best, is_so);
    }
    assert!(!refuted(&[]));
    let mut without = again(runs([7.0, 8.0, 9.0]), others);
    without.retain(|it| it.contender != Contender::Best);
    assert!(!refuted(&without), "it was not run again");
    let short = Lengths {
        repeats: 12.0,
        search: FULL,
    };
    let default = Some(Contender::RunnerUp);
    for (best, default, is_so) in [
        (runs([7.0, 8.0, 9.0]), None, false),
        (runs([7.0, 8.0, 9.0]), default, true),
        (large, None, true),
    ] {
        let repeated = again(best, others);
        let of = |measured| {
            let who = (measured, default);
            is_refuted(&setup.objective, &setup.constraints, &repeated, short, who)
        };
        assert_eq!(of(&all), Ok(is_so), "{best:?} {default:?}");
        let alone = BTreeSet::from([Contender::Best]);
        assert_eq!(of(&alone), Ok(false), "the other one failed in the search");
    }
}
