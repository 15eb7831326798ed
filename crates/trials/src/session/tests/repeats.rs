//! What follows the search: repeats and ablations.

use std::collections::BTreeMap;

use lissom_search::record::Event;
use lissom_search::verdict::Contender;

use super::{FOR_EVER, unwritten, whole};
use crate::session::testing::{Pages, Virtual, Watch, plan};

#[test]
fn a_set_up_that_is_known_changes_what_is_kept_for_repeats() {
    let plan = plan(1_200.0, 60.0, 3);
    let reserved = |pages: &Pages| {
        let mut seconds = pages.events.iter().filter_map(|it| match it {
            Event::Reserved { seconds, .. } => Some(*seconds),
            _ => None,
        });
        seconds.next_back()
    };
    let mut trials = Virtual {
        more_setup: 60.0,
        ..Virtual::default()
    };
    let (found, pages) = whole(&plan, &mut trials);
    let found = found.expect("a result");
    assert_eq!(reserved(&pages), Some(0.0), "they would not fit");
    let cautions = &found.cautions;
    assert!(
        cautions.iter().any(|it| it.contains("61 s to set up")),
        "{cautions:?}"
    );
    assert!(found.verdict.is_none() && trials.clock <= 1_200.0);
    let mut at_once = plan.clone();
    at_once.setup.method.workers = 4;
    let mut trials = Virtual {
        more_setup: 60.0,
        ..Virtual::default()
    };
    let (_, pages) = whole(&at_once, &mut trials);
    assert_eq!(reserved(&pages), Some(0.0), "whoever reports first");
    let mut trials = Virtual {
        more_setup: 5.0,
        ..Virtual::default()
    };
    let (found, _) = whole(&plan, &mut trials);
    let verdict = found.expect("a result").verdict.expect("repeats");
    assert_eq!(verdict.complete_rounds, 3, "shorter, but whole");
    assert!(trials.clock <= 1_200.0, "{}", trials.clock);
}

#[test]
fn each_round_of_repeats_has_operations_of_its_own() {
    let mut trials = Virtual::default();
    let (found, _) = whole(&plan(3_000.0, 60.0, 3), &mut trials);
    assert!(!found.expect("a result").contributions.is_empty());
    for (label, seed) in &trials.seeds {
        let wanted = match label.split('-').nth(1) {
            Some(round) if label.starts_with("repeat-") => {
                1 + round.parse::<u64>().expect("a round")
            }
            _ if label.starts_with("without-") => 2,
            _ => 1,
        };
        assert_eq!(*seed, wanted, "{label}");
    }
    let third = trials.seeds.keys().filter(|it| it.starts_with("repeat-3-"));
    assert!(third.count() > 1, "{:?}", trials.started);
}

#[test]
fn ablations_are_of_what_the_repeats_chose() {
    let plan = plan(3_000.0, 60.0, 3);
    for (again, ablated) in [
        ([("best", None), ("runner-up", Some(900.0))], true),
        // The default is the best: nothing differs.
        ([("best", Some(100.0)), ("runner-up", Some(100.0))], false),
        ([("best", None), ("runner-up", None)], false),
    ] {
        let mut trials = Virtual {
            again: again.into(),
            ..Virtual::default()
        };
        let (found, _) = whole(&plan, &mut trials);
        let found = found.expect("a result");
        let started = trials.started.iter();
        let without = started.filter(|it| it.starts_with("without-")).count();
        assert_eq!(without > 0, ablated, "{again:?}: {:?}", found.chosen);
        assert_eq!(found.contributions.len(), without);
    }
}

#[test]
fn a_repeat_that_hangs_ends_with_the_budget_and_is_not_blamed() {
    let plan = plan(3_000.0, 60.0, 3);
    let mut trials = Virtual {
        hanging: vec!["repeat-3-default"],
        ..Virtual::default()
    };
    let (found, pages) = whole(&plan, &mut trials);
    let found = found.expect("a result");
    // Two set-ups of a second late, and what a look takes.
    assert!(trials.clock <= 3_004.0, "{}", trials.clock);
    assert!(trials.runs.is_empty());
    let log = pages.log();
    assert_eq!(log.searches[0].repeated().count(), 6);
    assert!(log.searches[0].has_ended(), "it is not tried again");
    let verdict = found.verdict.expect("repeats");
    assert_eq!(verdict.complete_rounds, 2);
    assert!(verdict.failures.is_empty(), "{:?}", verdict.failures);
    let cautions = &found.cautions;
    for words in [
        "in three complete rounds, so that it may be the best by chance: repeats came to nothing",
        "1 of the repeats of the default came to nothing, lost or without a report",
    ] {
        assert!(
            cautions.iter().any(|it| it.contains(words)),
            "{words}: {cautions:?}"
        );
    }
}

#[test]
fn a_repeat_that_hung_is_not_taken_again_where_the_search_goes_on() {
    let plan = plan(3_000.0, 60.0, 3);
    let hanging = || Virtual {
        hanging: vec!["repeat-3-default"],
        ..Virtual::default()
    };
    let (mut pages, mut watch) = (Pages::default(), Watch::for_looks(FOR_EVER));
    unwritten(&plan, &mut hanging(), &mut pages, &mut watch).expect("a result");
    let events = pages.events.len();
    let mut again = hanging();
    let found = unwritten(&plan, &mut again, &mut pages, &mut watch).expect("the same");
    assert!(again.started.is_empty(), "{:?}", again.started);
    assert_eq!(pages.events.len(), events);
    assert_eq!(found.in_vain, BTreeMap::from([(Contender::Default, 1)]));
}

#[test]
fn a_repeat_has_three_attempts_however_often_the_search_is_interrupted() {
    let plan = plan(3_000.0, 60.0, 3);
    let label = "repeat-2-best";
    let losing = || Virtual {
        losing: [(label.to_owned(), u32::MAX)].into(),
        ..Virtual::default()
    };
    let attempts = |trials: &Virtual| trials.started.iter().filter(|it| *it == label).count();
    let (mut pages, mut watch) = (Pages::default(), Watch::for_looks(FOR_EVER));
    let mut first = losing();
    let found = unwritten(&plan, &mut first, &mut pages, &mut watch).expect("a result");
    assert_eq!(attempts(&first), 3);
    assert_eq!(found.in_vain, BTreeMap::from([(Contender::Best, 1)]));
    // Interrupted behind the first attempt.
    let lost = |it: &Event| matches!(it, Event::InVain { .. });
    let place = pages.events.iter().position(lost).expect("three");
    pages.events.truncate(place + 1);
    let mut rest = losing();
    let again = unwritten(&plan, &mut rest, &mut pages, &mut watch).expect("it goes on");
    assert_eq!(attempts(&rest), 2);
    assert_eq!(again.in_vain, found.in_vain);
    assert_eq!(again.verdict, found.verdict);
}

#[test]
fn a_repeat_that_was_lost_and_then_measured_has_not_come_to_nothing() {
    let mut trials = Virtual {
        losing: [("repeat-2-best".to_owned(), 2)].into(),
        ..Virtual::default()
    };
    let (found, _) = whole(&plan(3_000.0, 60.0, 3), &mut trials);
    let found = found.expect("a result");
    assert!(found.in_vain.is_empty(), "{:?}", found.in_vain);
    assert!(found.verdict.is_some_and(|it| it.complete_rounds == 3));
}

#[test]
fn attempts_end_with_the_budget() {
    let plan = plan(1_200.0, 60.0, 3);
    let mut trials = Virtual {
        losing: [("repeat-3-runner-up".to_owned(), u32::MAX)].into(),
        ..Virtual::default()
    };
    let (found, _) = whole(&plan, &mut trials);
    found.expect("a result");
    assert!(trials.clock <= 1_200.0, "{}", trials.clock);
    let label = |it: &&String| it.as_str() == "repeat-3-runner-up";
    assert!(trials.started.iter().filter(label).count() >= 1);
}
