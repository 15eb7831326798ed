//! Findings of sessions in virtual time.

use lissom_search::verdict::Standing;

use super::*;
use crate::session::testing::{Pages, Virtual, Watch, plan};
use crate::session::{Opening, Session};

pub(crate) fn found(budget: f64, rounds: u32) -> Findings {
    with(&plan(budget, 60.0, rounds), &mut Virtual::default())
}

fn with(plan: &Plan, trials: &mut Virtual) -> Findings {
    let mut pages = Pages::default();
    let opening = Opening::of(plan, &pages.log(), false).expect("legal");
    let mut watch = Watch::for_looks(u32::MAX);
    Session::run(plan, opening, trials, &mut pages, &mut watch).expect("an end")
}

#[test]
fn findings_hold_everything_that_happened() {
    let found = found(3_000.0, 3);
    let best = found.best.as_ref().expect("measured");
    assert!(!best.is_default);
    let row = found.trials.iter().find(|it| it.trial == best.trial);
    let row = row.expect("it is a trial");
    assert_eq!(row.place, Some(1));
    assert_eq!(row.readings.len(), found.points.len());
    assert_eq!(row.readings.last().expect("three").values.len(), 1);
    let spent: Vec<f64> = row.readings.iter().map(|it| it.spent).collect();
    assert!(spent.is_sorted() && spent.iter().all(|it| *it <= found.spent_seconds));
    assert!(found.trials.iter().all(|it| !it.why.is_empty()));
    let stopped = found.trials.iter().filter(|it| it.stopped.is_some());
    assert_eq!(
        stopped.count() + found.failures().count(),
        found.trials.len()
    );
    assert_eq!(found.repeats.len(), 9);
    assert_eq!(found.repeat_seconds, Some(60.0));
    let verdict = found.verdict.as_ref().expect("repeats");
    assert_eq!(verdict.goals[0].comparisons.len(), 2);
    let against_default = &verdict.goals[0].comparisons[1];
    assert_eq!(against_default.standing, Standing::Better);
    assert_eq!(
        (found.chosen, found.default),
        (Some(Contender::Best), Some(Contender::Default))
    );
    assert!(found.is_worth_applying());
    assert!(!found.contributions.is_empty());
    for contribution in &found.contributions {
        assert!(contribution.gains.is_some(), "{contribution:?}");
        assert_eq!(contribution.spreads, [0.0]);
    }
    let differing = found.parameters.iter().take_while(|it| it.differs).count();
    let all = found.parameters.iter().filter(|it| it.differs).count();
    assert_eq!(differing, all, "those that differ come first");
    assert!(all >= 1);
}

#[test]
fn the_text_says_what_was_found_and_how_sure_it_is() {
    let text = render(&found(3_000.0, 3));
    for words in [
        "small on a test, throughput: ",
        "\nbest: trial ",
        "times the default",
        "outside the spread",
        "option   default",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("not run again"), "{text}");
    let unsure = render(&found(3_000.0, 0));
    assert!(
        unsure.contains("caution: the best was not run again"),
        "{unsure}"
    );
}

#[test]
fn the_verdict_tells_whether_rounds_had_operations_of_their_own() {
    let mut found = found(3_000.0, 3);
    assert!(render(&found).contains("{seed} in the command tells it the round"));
    found.seeded = true;
    let text = render(&found);
    assert!(
        text.contains("each round of repeats had operations of its own"),
        "{text}"
    );
    found.verdict = None;
    assert!(!render(&found).contains("operations of its own"));
}

#[test]
fn what_all_trials_had_is_named() {
    let mut found = found(3_000.0, 0);
    assert!(!render(&found).contains("measured with"));
    let direct = |name: &str| (name.to_owned(), Setting::Boolean(true));
    found.measured_with = vec![direct("use_direct_reads"), direct("another")];
    let text = render(&found);
    let line = "\nmeasured with: use_direct_reads=true, another=true\n";
    assert!(text.contains(line), "{text}");
}

/// Findings of a search whose repeats reach this instead; `None` crashes.
fn repeating(again: &[(&'static str, Option<f64>)]) -> Findings {
    let mut trials = Virtual {
        again: again.iter().copied().collect(),
        ..Virtual::default()
    };
    with(&plan(3_000.0, 60.0, 3), &mut trials)
}

#[test]
fn a_best_that_crashes_in_its_repeats_gives_way() {
    let found = repeating(&[("best", None)]);
    let best = found.best.as_ref().expect("measured");
    let row = found.trials.iter().find(|it| it.trial == best.trial);
    assert_eq!(row.and_then(|it| it.place), Some(2));
    assert_eq!(found.chosen, Some(Contender::RunnerUp));
    assert!(found.is_worth_applying());
    assert!(
        found
            .notes
            .iter()
            .any(|it| it.contains("it failed in 3 of 3 repeats, so that")),
        "{:?}",
        found.notes
    );
    assert!(
        found
            .cautions
            .contains(&"the search's best failed in 3 of its repeats".to_owned())
    );
    let verdict = found.verdict.as_ref().expect("repeats");
    let against_default = &verdict.goals[0].comparisons[0];
    assert_eq!(against_default.against, Contender::Default);
    assert_eq!(against_default.standing, Standing::Better);
    assert!(!found.cautions.iter().any(|it| it.contains("by chance")));
}

#[test]
fn a_default_that_wins_the_repeats_is_the_best() {
    let found = repeating(&[
        ("best", Some(100.0)),
        ("runner-up", Some(90.0)),
        ("default", Some(900.0)),
    ]);
    let best = found.best.as_ref().expect("measured");
    assert!(best.is_default && !found.is_worth_applying());
    assert_eq!(
        (found.chosen, found.default),
        (Some(Contender::Default), Some(Contender::Default))
    );
    assert!(
        found
            .cautions
            .contains(&"nothing better than the default was found".to_owned())
    );
    assert!(found.parameters.iter().all(|it| !it.differs));
}

#[test]
fn a_runner_up_that_wins_the_repeats_is_the_best() {
    let found = repeating(&[("best", Some(700.0)), ("runner-up", Some(800.0))]);
    assert_eq!(found.chosen, Some(Contender::RunnerUp));
    let text = render(&found);
    assert!(
        text.contains("was better in all rounds of the repeats and is taken for the best"),
        "{text}"
    );
    assert!(text.contains("better than the search's best"), "{text}");
    assert!(text.contains("times the default"), "{text}");
}

/// Findings of a search whose best ran 60 s and whose repeats are planned to run this long, and
/// reach this instead; `None` crashes.
fn repeating_for(seconds: f64, again: &[(&'static str, Option<f64>)]) -> Findings {
    let plan = plan(3_000.0, 60.0, 3);
    let (mut pages, mut watch) = (Pages::default(), Watch::for_looks(u32::MAX));
    let run = |pages: &mut Pages, watch: &mut Watch, trials: &mut Virtual| {
        let opening = Opening::of(&plan, &pages.log(), false).expect("legal");
        Session::run(&plan, opening, trials, pages, watch).expect("an end")
    };
    run(&mut pages, &mut watch, &mut Virtual::default());
    // Interrupted before the first repeat.
    let planned = |it: &Event| matches!(it, Event::Repeats { .. });
    let place = pages.events.iter().position(planned).expect("repeats");
    pages.events.truncate(place);
    pages.events.push(Event::Repeats {
        at: 2_000.0,
        rounds: 3,
        seconds,
    });
    let mut trials = Virtual {
        again: again.iter().copied().collect(),
        ..Virtual::default()
    };
    run(&mut pages, &mut watch, &mut trials)
}

#[test]
fn repeats_that_ran_shorter_than_the_search_do_not_overturn_it() {
    let better = [("best", Some(700.0)), ("runner-up", Some(800.0))];
    let words = "the runner-up was better in all rounds of the repeats, but they ran 30 s of the \
                 60 s by which the search judged";
    for (seconds, chosen) in [(30.0, Contender::Best), (60.0, Contender::RunnerUp)] {
        let found = repeating_for(seconds, &better);
        assert_eq!(found.repeat_seconds, Some(seconds));
        assert_eq!(found.chosen, Some(chosen), "{seconds} s");
        let said = found.cautions.iter().any(|it| it.starts_with(words));
        assert_eq!(said, seconds < 60.0, "{:?}", found.cautions);
    }
    let failing = repeating_for(30.0, &[("best", None)]);
    assert_eq!(failing.chosen, Some(Contender::RunnerUp));
}

#[test]
fn without_three_complete_rounds_nothing_is_proven() {
    let found = repeating(&[("default", None)]);
    let says = |found: &Findings, words: &str| {
        let all = &found.cautions;
        assert!(all.iter().any(|it| it.contains(words)), "{words}: {all:?}");
    };
    says(
        &found,
        "not compared with the default in three complete rounds",
    );
    says(&found, "by chance: repeats failed");
    says(&found, "the default failed in 3 of its repeats");
    assert_eq!(found.chosen, Some(Contender::Best));
    let two = with(&plan(3_000.0, 60.0, 2), &mut Virtual::default());
    says(
        &two,
        "not compared with the default in three complete rounds",
    );
    let none = repeating(&[("best", None), ("runner-up", None), ("default", None)]);
    assert!(!none.is_worth_applying());
    says(&none, "the best is in doubt: it failed in 3 of 3 repeats");
}

#[test]
fn a_default_that_is_the_runner_up_is_compared_all_the_same() {
    let mut found = repeating(&[("best", Some(700.0)), ("runner-up", Some(700.0))]);
    // As if the runner-up were the default.
    found.default = Some(Contender::RunnerUp);
    let setup = plan(3_000.0, 60.0, 3).setup;
    let all = cautions::of(&found, &setup);
    assert!(
        all.iter()
            .any(|it| it.contains("not better than the default beyond the spread")),
        "{all:?}"
    );
}

#[test]
fn bounds_that_nothing_kept_to_the_end_are_named() {
    let mut plan = plan(3_000.0, 60.0, 0);
    plan.setup.constraints = vec!["throughput <= 1".parse().expect("a bound")];
    let mut found = with(&plan, &mut Virtual::default());
    let says = |found: &Findings, words: &str| {
        let all = cautions::of(found, &plan.setup);
        assert!(all.iter().any(|it| it.contains(words)), "{words}: {all:?}");
    };
    says(
        &found,
        "no trial that was measured for 60 s kept throughput <= 1, and the best comes nearest",
    );
    // However far the best ran on.
    found.best.as_mut().expect("measured").seconds = 84.0;
    says(&found, "no trial that was measured for 60 s kept");
    let mut placed = found.trials.iter_mut();
    let early = placed.find(|it| it.place.is_some_and(|place| place > 1));
    let reading = early.and_then(|it| it.readings.last_mut());
    let low = [("throughput".to_owned(), 0.5)];
    reading.expect("measured").metrics = Metrics::new(low.into()).expect("finite");
    says(&found, "; 1 that were stopped earlier kept it until then");
}

#[test]
fn what_the_end_of_the_time_cut_off_is_named() {
    let mut found = found(3_000.0, 0);
    let setup = plan(3_000.0, 60.0, 0).setup;
    for (cut_off, says) in [
        (None, false),
        (
            Some(CutOff {
                trials: 4,
                short: 3,
                until: 48.0,
            }),
            true,
        ),
    ] {
        found.cut_off = cut_off;
        let all = cautions::of(&found, &setup);
        let words = "before 3 of the 4 trials that were still in the running had run for 48 s";
        assert_eq!(all.iter().any(|it| it.contains(words)), says, "{all:?}");
    }
}

#[test]
fn settings_that_cost_more_than_the_spread_are_named() {
    let setup = plan(3_000.0, 60.0, 3).setup;
    let cautions = |change: &dyn Fn(&mut Findings)| {
        let mut found = found(3_000.0, 3);
        change(&mut found);
        let first = found.contributions.first().expect("measured");
        let words = format!("with {} the best is ", first.difference);
        let mut all = cautions::of(&found, &setup).into_iter();
        all.find(|it| it.starts_with(&words))
    };
    let with = |gain: f64| {
        move |found: &mut Findings| {
            let first = found.contributions.first_mut().expect("measured");
            (first.gains, first.spreads) = (Some(vec![gain]), vec![0.02]);
        }
    };
    let sentence = cautions(&with(-0.051)).expect("it costs more");
    assert!(
        sentence.contains(
            "the best is 5.1 % worse in throughput (spread 2.0 %) than with the default's"
        ),
        "{sentence}"
    );
    assert_eq!(cautions(&with(-0.02)), None, "inside the spread");
    assert_eq!(cautions(&with(0.3)), None, "it brings something");
    let alone = |found: &mut Findings| {
        with(-0.051)(found);
        found.repeats.truncate(1);
    };
    assert_eq!(cautions(&alone), None, "nobody knows the spread");
    let for_it = |found: &mut Findings| {
        let first = found.contributions.first_mut().expect("measured");
        (first.gains, first.spreads) = (Some(vec![-0.051, 0.2]), vec![0.02, 0.02]);
    };
    assert_eq!(cautions(&for_it), None, "another goal pays for it");
}

#[test]
fn sessions_that_were_not_measured_are_named() {
    let mut found = found(3_000.0, 0);
    let setup = plan(3_000.0, 60.0, 0).setup;
    for (visited, says) in [(4.0, true), (10.0, false)] {
        let metrics = [("sessions", 10.0), ("sessions_visited", visited)];
        let metrics = metrics.map(|(name, value)| (name.to_owned(), value));
        let best = found.best.as_mut().expect("measured");
        best.metrics = Metrics::new(metrics.into()).expect("finite");
        let all = cautions::of(&found, &setup);
        let sentence = all.iter().any(|it| it.contains("in 4 of the 10 sessions"));
        assert_eq!(sentence, says, "{all:?}");
    }
}

#[test]
fn a_search_that_found_nothing_says_why() {
    let mut trials = Virtual {
        silent: true,
        ..Virtual::default()
    };
    let found = with(&plan(200.0, 60.0, 3), &mut trials);
    assert_eq!(found.best, None);
    assert!(
        found
            .parameters
            .iter()
            .all(|it| it.best.is_none() && !it.differs)
    );
    let text = render(&found);
    assert!(
        text.contains("caution: nothing was found: the time is used up"),
        "{text}"
    );
    assert!(!text.contains("best:"), "{text}");
}

#[test]
fn findings_are_json() {
    let found = found(3_000.0, 3);
    let value = serde_json::to_value(&found).expect("plain data");
    assert_eq!(value["objective"], "throughput");
    assert_eq!(value["goals"][0]["direction"], "maximise");
    assert_eq!(value["repeats"][0]["contender"], "best");
    assert!(value["best"]["configuration"]["px"].as_i64().is_some());
    assert!(value["trials"][0]["origin"].as_str().is_some());
}
